"""Candidate subgraphs grown from edge scores, against a plain version that grows one part at a time."""

from __future__ import annotations

from dataclasses import replace

import networkx
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from protgnn.data.graph_set import GraphSet
from protgnn.data.grow import cut_parts, grow
from protgnn.data.subgraph import cut
from tests.data.random_graphs import graph_sets


def without_targets(graphs: GraphSet) -> GraphSet:
    number = torch.arange(graphs.edge_index.shape[1], dtype=torch.float32)[:, None]
    return replace(graphs, targets=None, edge_attr=number)


undirected = graph_sets(max_nodes=9, undirected=True).map(without_targets)


def symmetric_scores(graphs: GraphSet, candidates: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    batch = graphs.batch()
    score = torch.randn(candidates, batch.edge_index.shape[1], generator=generator)
    return (score + score[:, batch.reverse]).round(decimals=3)


def plain_part(graph: GraphSet, score: list[float], alone: list[float], budget: int) -> set[int]:
    """What ``grow`` does, for one graph and one candidate, told as plainly as possible."""
    edges = list(zip(*graph.edge_index.tolist(), score, strict=True))
    if not edges:
        return {max(range(len(alone)), key=lambda node: (alone[node], -node))}
    # Of equally good edges the first as listed by target: edges are stored in that order.
    order = sorted(range(len(edges)), key=lambda number: edges[number][1])
    best = max(order, key=lambda number: edges[number][2])
    part = {edges[best][0], edges[best][1]}

    def links(node: int) -> list[float]:
        return [value for source, target, value in edges if target == node and source in part]

    while True:
        inside = sum(source in part and target in part for source, target, _ in edges) // 2
        fitting = []
        for node in range(len(graph.x)):
            joined = links(node)
            if node not in part and joined and inside + len(joined) <= budget:
                fitting.append((max(joined) + len(joined) - 1, -node))
        if not fitting:
            return part
        part.add(-max(fitting)[1])


@settings(max_examples=60, deadline=None)
@given(undirected, st.integers(1, 8), st.integers(0, 1000))
def test_grown_parts_are_those_of_the_plain_version(graphs, budget, seed):
    score, alone = symmetric_scores(graphs, 3, seed), torch.randn(3, len(graphs.x))
    member = grow(graphs.batch(), score, alone, budget)
    for number in range(len(graphs)):
        nodes = slice(int(graphs.node_ptr[number]), int(graphs.node_ptr[number + 1]))
        edges = slice(int(graphs.edge_ptr[number]), int(graphs.edge_ptr[number + 1]))
        for candidate in range(3):
            expected = plain_part(
                graphs[number],
                score[candidate, edges].tolist(),
                alone[candidate, nodes].tolist(),
                budget,
            )
            assert set(member[candidate, nodes].nonzero().squeeze(1).tolist()) == expected


@settings(max_examples=60, deadline=None)
@given(undirected, st.integers(1, 10), st.integers(0, 1000))
def test_parts_are_connected_and_within_the_budget(graphs, budget, seed):
    member = grow(graphs.batch(), symmetric_scores(graphs, 2, seed), torch.zeros(2, len(graphs.x)), budget)
    for inside in member:
        for part in cut(graphs, torch.arange(len(graphs)), inside):
            assert len(part.x) >= 1
            assert part.edge_index.shape[1] // 2 <= budget
            drawn = networkx.Graph(part.edge_index.t().tolist())
            drawn.add_nodes_from(range(len(part.x)))
            assert networkx.is_connected(drawn)


@settings(max_examples=40, deadline=None)
@given(undirected, st.integers(0, 1000))
def test_cut_parts_are_the_induced_subgraphs_each_stored_once(graphs, seed):
    batch = graphs.batch()
    member = grow(batch, symmetric_scores(graphs, 4, seed), torch.zeros(4, len(graphs.x)), 5)
    parts = cut_parts(batch, member)
    node_graph = parts.batch.batch
    for candidate in range(4):
        expected = cut(graphs, torch.arange(len(graphs)), member[candidate])
        for number in range(len(graphs)):
            row = int(parts.row[number, candidate])
            mine = (node_graph == row).nonzero().squeeze(1)
            alone = expected[number]
            assert torch.equal(parts.batch.x[mine], alone.x)
            inside = node_graph[parts.batch.edge_index[0]] == row
            drawn = parts.batch.edge_index[:, inside] - mine[0]
            listed = sorted(alone.edge_index.t().tolist())
            assert sorted(drawn.t().tolist()) == listed
            attr = dict(zip(listed_ends(drawn), parts.batch.edge_attr[inside].tolist(), strict=True))
            assert attr == dict(zip(listed_ends(alone.edge_index), alone.edge_attr.tolist(), strict=True))
    assert parts.batch.num_graphs == len(set(parts.row.flatten().tolist()))


def listed_ends(edge_index: torch.Tensor) -> list[tuple[int, ...]]:
    return [tuple(pair) for pair in edge_index.t().tolist()]


def test_parts_of_target_nodes_keep_them():
    x = torch.ones(6, 1)
    path = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 4, 4, 5], [1, 0, 2, 1, 3, 2, 4, 3, 5, 4]])
    graphs = GraphSet(x, path, torch.tensor([0, 6]), torch.tensor([0, 10]), targets=torch.tensor([[0]]))
    score = torch.tensor([[-1.0, -1, -1, -1, -1, -1, 9, 9, 9, 9]])  # the best edges are far from the target
    member = grow(graphs.batch(), score, torch.zeros(1, 6), 2)
    assert member.tolist() == [[True, True, True, False, False, False]]
    assert cut_parts(graphs.batch(), member).batch.targets.tolist() == [[0]]


def test_reverse_finds_the_other_direction_in_any_order_and_in_every_slice():
    edge_index = torch.tensor([[2, 0, 1, 1], [1, 1, 0, 2]])
    one = GraphSet(torch.ones(3, 1), edge_index, torch.tensor([0, 3]), torch.tensor([0, 4]))
    many = GraphSet.concatenate([one, one, one])
    for batch in (one.batch(), many.slice_batch(1, 3), many.batch(torch.tensor([2, 0]))):
        assert torch.equal(batch.edge_index[:, batch.reverse], batch.edge_index.flip(0))


def test_a_ring_is_closed_rather_than_left_for_a_slightly_better_edge():
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 5)]  # five in a ring, and one beside it
    edges = torch.tensor(sorted([*ring, *((b, a) for a, b in ring)], key=lambda ends: ends[::-1])).t()
    graphs = GraphSet(torch.ones(6, 1), edges, torch.tensor([0, 6]), torch.tensor([0, 12]))
    beside = (edges == 5).any(0)
    score = torch.where(beside, 0.3, torch.where((edges == 2).any(0), 0.5, 0.2))[None]
    member = grow(graphs.batch(), score, torch.zeros(1, 6), 5)
    assert member.tolist() == [[True, True, True, True, True, False]]
