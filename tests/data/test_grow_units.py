"""Candidates that grow by whole units, against a plain version that grows one part at a time."""

from __future__ import annotations

import networkx as nx
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from protgnn.data.graph_set import GraphSet
from protgnn.data.grow import cut_parts, grow
from protgnn.data.subgraph import cut
from protgnn.data.units import Units, mask_of, members
from protgnn.featurizers.batch_units import BatchUnits, bound_units, graph_keys
from protgnn.featurizers.molecule import from_smiles
from protgnn.featurizers.part_rule import ring_cycles
from tests.data.test_grow import symmetric_scores, undirected


def some_units(graphs: GraphSet) -> list[Units]:
    """Every cycle whole, and some neighbours together."""
    found = []
    for graph in graphs:
        pairs, size = graph.edge_index.t().tolist(), len(graph.x)
        neighbours = tuple(mask_of(a for a, b in pairs if b == node) for node in range(size))
        edges = [(a, b) for a, b in pairs if a < b]
        tied = nx.Graph([(a, b) for a, b in edges if (a + b) % 5 == 0])
        groups = tuple(mask_of(part) for part in nx.connected_components(tied))
        found.append(Units(neighbours, groups, ring_cycles(size, edges)))
    return found


def plain_part(graph: GraphSet, units: Units, score: list[float], alone: list[float], budget: int) -> int:
    """What ``grow`` does by units, for one graph and one candidate, told as plainly as possible."""
    edges = list(zip(*graph.edge_index.tolist(), score, strict=True))
    pieces = units.all_units()

    def first(piece: int) -> float:
        if not edges:
            return max(alone[node] for node in members(piece))
        around = [value for _, target, value in edges if piece >> target & 1]
        mean = sum(around) / len(around) if around else 0.0
        return max(around) + 1e-4 * mean / (1 + abs(mean)) if around else float("-inf")

    fitting = [piece for piece in pieces if units.edge_count(piece) <= budget]
    fewest = min(units.edge_count(piece) for piece in pieces)
    part = max(fitting or [piece for piece in pieces if units.edge_count(piece) == fewest], key=first)
    while True:
        worth: dict[int, float] = {}
        for piece in pieces:
            joined = [
                value
                for source, target, value in edges
                if part >> source & 1 and piece >> target & 1 and not part >> target & 1
            ]
            if joined and units.edge_count(part | piece) <= budget and units.is_whole(part | piece):
                worth[piece] = max(joined) + len(joined) - 1
        if not worth:
            return part
        part |= max(worth, key=lambda piece: worth[piece])


@settings(max_examples=60, deadline=None)
@given(undirected, st.integers(1, 8), st.integers(0, 1000))
def test_grown_parts_are_those_of_the_plain_version(graphs, budget, seed):
    score, alone, units = symmetric_scores(graphs, 3, seed), torch.randn(3, len(graphs.x)), some_units(graphs)
    member = grow(graphs.batch(), score, alone, budget, units)
    for number, own in enumerate(units):
        nodes = slice(int(graphs.node_ptr[number]), int(graphs.node_ptr[number + 1]))
        edges = slice(int(graphs.edge_ptr[number]), int(graphs.edge_ptr[number + 1]))
        for k in range(3):
            told = plain_part(graphs[number], own, score[k, edges].tolist(), alone[k, nodes].tolist(), budget)
            assert member[k, nodes].nonzero().squeeze(1).tolist() == list(members(told))


@settings(max_examples=60, deadline=None)
@given(undirected, st.integers(1, 10), st.integers(0, 1000))
def test_parts_are_whole_connected_and_within_the_budget_where_a_unit_is(graphs, budget, seed):
    units = some_units(graphs)
    member = grow(graphs.batch(), symmetric_scores(graphs, 2, seed), torch.zeros(2, len(graphs.x)), budget, units)
    for inside in member:
        for number, part in enumerate(cut(graphs, torch.arange(len(graphs)), inside)):
            nodes = slice(int(graphs.node_ptr[number]), int(graphs.node_ptr[number + 1]))
            assert units[number].is_whole(mask_of(inside[nodes].nonzero().squeeze(1).tolist()))
            smallest = min(units[number].edge_count(piece) for piece in units[number].all_units())
            assert part.edge_index.shape[1] // 2 <= max(budget, smallest)
            drawn = nx.Graph(part.edge_index.t().tolist())
            drawn.add_nodes_from(range(len(part.x)))
            assert nx.is_connected(drawn)


def test_two_rings_that_a_third_one_joins_are_not_taken_without_it():
    fluorene = from_smiles(["c1ccc2c(c1)Cc1ccccc12"])
    units = BatchUnits.of(fluorene.schema)
    assert units is not None
    batch = fluorene.batch()
    for budget in (13, 14):
        member = grow(batch, symmetric_scores(fluorene, 40, 0), torch.zeros(40, 13), budget, units(batch))
        sizes = {int(inside.sum()) for inside in member}
        assert 12 not in sizes and sizes <= {5, 6, 9, 13}
        assert cut_parts(batch, member).batch.num_graphs == len({tuple(inside.tolist()) for inside in member})


def test_a_graph_without_edges_begins_with_its_best_node():
    salt = from_smiles(["[Na+].[Cl-].[K+]"])
    units = BatchUnits.of(salt.schema)
    assert units is not None
    alone = torch.tensor([[0.0, 2.0, 1.0]])
    assert grow(salt.batch(), torch.zeros(1, 0), alone, 5, units(salt.batch())).tolist() == [[False, True, False]]


def test_units_are_remembered_by_what_a_graph_is_and_not_by_where_it_stands():
    graphs = from_smiles(["CCO", "c1ccccc1O", "CCO", "CCN"])
    first, second, third, fourth = graph_keys(graphs.batch())
    assert first == third and len({first, second, fourth}) == 3
    assert graph_keys(graphs[[1, 0]].batch()) == [second, first]
    units = BatchUnits.of(graphs.schema)
    assert units is not None
    apart = [units(graph.batch())[0] for graph in graphs]
    assert units(graphs.batch()) == apart == BatchUnits.of(graphs.schema)(graphs.batch())


def test_bound_nodes_are_one_group_however_they_are_joined():
    edge_index = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    bound = torch.tensor([True, True, True, True, False, False])
    graph = GraphSet(torch.ones(4, 1), edge_index, torch.tensor([0, 4]), torch.tensor([0, 6]), bound=bound)
    both = GraphSet.concatenate([graph, graph])
    assert [list(members(group)) for own in bound_units(both.batch()) for group in own.groups] == [[0, 1, 2], [0, 1, 2]]
