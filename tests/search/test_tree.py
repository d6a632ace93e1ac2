"""The batched tree search does what the plain one does."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet
from protgnn.data.subgraph import cut
from protgnn.data.units import mask_of, members
from protgnn.errors import DataError
from protgnn.model.prototype_layer import squared_distances
from protgnn.search.bitsets import BitGraph, to_matrix
from protgnn.search.pool import Cutter
from protgnn.search.tree import SearchSettings, search
from tests.search.oracle import PlainSearch, plain_search
from tests.search.strategies import encode, graph_sets, pack, prototypes, settings


def network(graphs: GraphSet, number: int) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(int(graphs.node_counts[number])))
    graph.add_edges_from(graphs[number].edge_index.t().tolist())
    return graph


@hypothesis_settings(max_examples=60, deadline=None)
@given(st.integers(0, 2).flatmap(lambda count: graph_sets(count)), settings(), st.integers(0, 9))
def test_one_prototype_gets_the_answer_of_the_oracle(graphs: GraphSet, knobs: SearchSettings, seed: int) -> None:
    wanted = prototypes(1, seed)
    for result in search(graphs, range(len(graphs)), wanted, encode, knobs):
        nodes, similarity = plain_search(graphs, result.graph, wanted[0], encode, knobs)
        assert result.nodes(0) == sorted(nodes)
        assert float(result.similarity[result.best[0], 0]) == pytest.approx(similarity, abs=1e-6)


@hypothesis_settings(max_examples=15, deadline=None)
@given(graph_sets(), settings(), st.integers(0, 9))
def test_prototypes_that_share_a_graph_do_at_least_as_well_as_alone(
    graphs: GraphSet, knobs: SearchSettings, seed: int
) -> None:
    wanted = prototypes(4, seed)
    for result in search(graphs, range(len(graphs)), wanted, encode, knobs):
        for number, prototype in enumerate(wanted):
            _, similarity = plain_search(graphs, result.graph, prototype, encode, knobs)
            assert float(result.similarity[result.best[number], number]) >= similarity - 1e-6


@hypothesis_settings(max_examples=30, deadline=None)
@given(graph_sets(), settings())
def test_answers_are_connected_and_within_the_size_limit(graphs: GraphSet, knobs: SearchSettings) -> None:
    for result in search(graphs, range(len(graphs)), prototypes(2), encode, knobs):
        for nodes in map(members, result.node_sets):
            assert 0 < len(nodes) <= knobs.max_nodes
            assert nx.is_connected(network(graphs, result.graph).subgraph(nodes))


@hypothesis_settings(max_examples=25, deadline=None)
@given(graph_sets(num_targets=2), settings())
def test_targets_are_kept_and_nothing_is_cut_off_from_them(graphs: GraphSet, knobs: SearchSettings) -> None:
    assert graphs.targets is not None
    for result in search(graphs, range(len(graphs)), prototypes(2), encode, knobs):
        targets = set(graphs.targets[result.graph].tolist())
        for nodes in map(members, result.node_sets):
            parts = list(nx.connected_components(network(graphs, result.graph).subgraph(nodes)))
            assert targets <= set(nodes)
            assert all(part & targets for part in parts)


@hypothesis_settings(max_examples=15, deadline=None)
@given(graph_sets(), settings())
def test_embeddings_and_similarities_belong_to_the_node_sets(graphs: GraphSet, knobs: SearchSettings) -> None:
    wanted = prototypes(3)
    for result in search(graphs, range(len(graphs)), wanted, encode, knobs):
        mask = torch.from_numpy(to_matrix(result.node_sets, int(graphs.node_counts[result.graph]))).flatten()
        alone = encode(cut(graphs, torch.full((len(result.node_sets),), result.graph), mask).batch())
        assert torch.equal(result.embeddings, alone)
        distance = (alone[:, None] - wanted).square().sum(-1)
        expected = torch.log((distance + 1) / (distance + knobs.epsilon))
        assert torch.allclose(result.similarity, expected, atol=1e-5)


@hypothesis_settings(max_examples=25, deadline=None)
@given(graph_sets(most=7), st.integers(0, 9))
def test_a_large_budget_finds_what_trying_everything_finds(graphs: GraphSet, seed: int) -> None:
    knobs = SearchSettings(iterations=200, exploration=50.0, min_nodes=2, max_nodes=6)
    wanted = prototypes(1, seed)
    for result in search(graphs, range(len(graphs)), wanted, encode, knobs):
        plain = PlainSearch(graphs[result.graph], result.graph, wanted[0], encode, knobs)
        root = sorted(plain.root())
        possible = [
            frozenset(nodes)
            for size in range(min(2, len(root)), 7)
            for nodes in combinations(root, size)
            if nx.is_connected(plain.network.subgraph(nodes))
        ]
        best = max(plain.evaluate(nodes) for nodes in possible)
        assert float(result.similarity[result.best[0], 0]) == pytest.approx(best, abs=1e-6)


def test_the_same_seed_gives_the_same_answer_and_company_does_not_matter() -> None:
    graphs = pack([nx.gnp_random_graph(size, 0.2, seed=size) for size in (12, 18, 25, 9)])
    first = search(graphs, range(4), prototypes(3), encode, SearchSettings(seed=5))
    again = search(graphs, range(4), prototypes(3), encode, SearchSettings(seed=5))
    alone = [search(graphs, [number], prototypes(3), encode, SearchSettings(seed=5))[0] for number in (3, 2, 1, 0)]
    for one, two, three in zip(first, again, reversed(alone), strict=True):
        assert one.node_sets == two.node_sets == three.node_sets
        assert torch.equal(one.embeddings, two.embeddings) and one.best == two.best == three.best


def test_a_graph_of_min_nodes_or_fewer_is_its_own_answer() -> None:
    graphs = pack([nx.path_graph(size) for size in (1, 2, 5)])
    results = search(graphs, [0, 1, 2], prototypes(1), encode)
    assert [result.nodes(0) for result in results] == [[0], [0, 1], [0, 1, 2, 3, 4]]


def test_of_components_of_equal_size_the_one_with_the_lowest_node_is_searched() -> None:
    graphs = pack([nx.Graph([(0, 3), (1, 2), (4, 5)])])
    assert search(graphs, [0], prototypes(1), encode)[0].nodes(0) == [0, 3]


def test_two_targets_too_far_apart_keep_the_path_between_them() -> None:
    graphs = pack([nx.path_graph(16)], targets=[[1, 14]])
    assert search(graphs, [0], prototypes(1), encode)[0].nodes(0) == list(range(1, 15))


def test_graphs_of_more_than_64_nodes_are_searched_too() -> None:
    graphs = pack([nx.random_labeled_tree(70, seed=1)])
    knobs = SearchSettings(iterations=2, children=4)
    result = search(graphs, [0], prototypes(1), encode, knobs)[0]
    nodes, _ = plain_search(graphs, 0, prototypes(1)[0], encode, knobs)
    assert result.nodes(0) == sorted(nodes)


def test_direction_and_self_loops_do_not_matter_for_what_is_connected() -> None:
    bits = BitGraph(4, [(0, 1), (1, 2), (2, 2), (3, 2)], [], [0, 1, 2, 3])
    assert bits.root() == 0b1111
    assert bits.children(0b1111, 10) == [0b1110, 0b0111]


def test_no_graphs_give_no_results() -> None:
    assert search(pack([nx.path_graph(3)]), [], prototypes(1), encode) == []


def test_a_graph_without_nodes_is_refused_by_number() -> None:
    with pytest.raises(DataError, match="graph 1"):
        search(pack([nx.path_graph(3), nx.Graph()]), [0, 1], prototypes(1), encode)


@pytest.mark.parametrize("wrong", [{"iterations": 0}, {"children": 0}, {"min_nodes": 0}, {"max_nodes": 4}])
def test_settings_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="Expected"):
        SearchSettings(**wrong)


@given(st.sets(st.integers(0, 200)))
def test_bitsets_come_back_as_the_nodes_they_were_made_of(nodes: set[int]) -> None:
    assert members(mask_of(nodes)) == sorted(nodes)
    assert set(to_matrix([mask_of(nodes)], 201)[0].nonzero()[0]) == nodes


@hypothesis_settings(max_examples=25, deadline=None)
@given(st.integers(0, 2).flatmap(lambda count: graph_sets(count)), st.data())
def test_cutting_by_bitsets_equals_cutting_by_masks(graphs: GraphSet, data: st.DataObject) -> None:
    owners = data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1, max_size=5))
    sizes = graphs.node_counts[owners].tolist()
    targets = [[]] * len(owners) if graphs.targets is None else graphs.targets[owners].tolist()
    node_sets = [
        mask_of(kept) | data.draw(st.integers(1, 2**size - 1)) for size, kept in zip(sizes, targets, strict=True)
    ]
    (fast,) = Cutter(graphs).batches(owners, node_sets)
    masks = [torch.from_numpy(to_matrix([nodes], size)[0]) for size, nodes in zip(sizes, node_sets, strict=True)]
    plain = cut(graphs, torch.tensor(owners), torch.cat(masks)).batch()
    assert torch.equal(fast.x, plain.x) and torch.equal(fast.batch, plain.batch)
    assert sorted(fast.edge_index.t().tolist()) == sorted(plain.edge_index.t().tolist())
    if plain.targets is None:
        assert fast.targets is None
    else:
        assert fast.targets is not None and torch.equal(fast.targets, plain.targets)


def test_distances_are_not_negative_where_the_shortcut_would_be() -> None:
    h = 1e4 + torch.rand(50, 8)
    assert float(squared_distances(h, h).diagonal().abs().max()) == 0
    assert float(squared_distances(h, h + 1e-3).diagonal().min()) >= 0


def test_only_wanted_pairs_have_a_tree_but_all_are_scored() -> None:
    graphs = pack([nx.cycle_graph(9), nx.path_graph(12)])
    both = prototypes(2)
    some = search(graphs, [0, 1], both, encode, wanted=torch.tensor([[True, False], [True, True]]))
    alone = search(graphs, [0, 1], both[:1], encode)[0]
    full = search(graphs, [0, 1], both, encode)[1]
    assert sorted(some[0].node_sets) == sorted(alone.node_sets)
    assert some[0].similarity.shape[1] == 2
    assert sorted(some[1].node_sets) == sorted(full.node_sets)


def test_the_work_does_not_grow_with_the_size_of_a_large_graph() -> None:
    def work(size: int) -> int:
        graphs = pack([nx.random_labeled_tree(size, seed=1)])
        encoded = []

        def counted(batch: Batch) -> Tensor:
            encoded.append(batch.num_graphs)
            return encode(batch)

        (result,) = search(graphs, [0], prototypes(1), counted, SearchSettings(iterations=5, whole_nodes=20))
        assert nx.is_connected(network(graphs, 0).subgraph(result.nodes(0)))
        return sum(encoded)

    assert work(800) < 1.2 * work(100)
