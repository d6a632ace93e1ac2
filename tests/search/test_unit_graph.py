"""Searches that prune by units cut no ring, no group and no compound, and answer as the plain version does."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.data.units import Units, mask_of, members
from protgnn.featurizers.batch_units import BatchUnits
from protgnn.featurizers.molecule import from_smiles
from protgnn.featurizers.part_rule import ring_cycles
from protgnn.search.bitsets import BitGraph
from protgnn.search.projection import project
from protgnn.search.tree import SearchSettings, search
from protgnn.search.unit_graph import UnitGraph
from tests.search.oracle import plain_search
from tests.search.strategies import encode, graph_sets, pack, prototypes, settings

DRUGS = [
    "CC(=O)Nc1ccc(O)cc1",
    "CC(C)Cc1ccc(cc1)C(C)C(=O)O",
    "c1ccc2c(c1)Cc1ccccc12",
    "C1C2CC3CC1CC(C2)C3",
    "CN1CCC23c4c5ccc(O)c4OC2C(O)C=CC3C1C5",
    "O=C1CCCCO1",
    "OC(=O)CCCCCCC(=O)O",
]


def random_units(batch: Batch) -> list[Units]:
    """Every cycle whole, and some neighbours together."""
    found = []
    starts = (batch.node_counts.cumsum(0) - batch.node_counts).tolist()
    for number, (start, size) in enumerate(zip(starts, batch.node_counts.tolist(), strict=True)):
        own = batch.batch[batch.edge_index[0]] == number
        pairs = (batch.edge_index[:, own] - start).t().tolist()
        neighbours = [mask_of(a for a, b in pairs if b == node and a != node) for node in range(size)]
        edges = [(a, b) for a, b in pairs if a < b]
        tied = nx.Graph([(a, b) for a, b in edges if (3 * a + b) % 4 == 0])
        groups = tuple(mask_of(part) for part in nx.connected_components(tied))
        found.append(Units(tuple(neighbours), groups, ring_cycles(size, edges)))
    return found


def drugs() -> tuple[GraphSet, BatchUnits]:
    graphs = from_smiles(DRUGS)
    units = BatchUnits.of(graphs.schema)
    assert units is not None
    return graphs, units


def look(batch: Batch) -> torch.Tensor:
    """Two rounds of whole-number message passing over the kinds of atoms: exact, so that equal parts are equal."""
    small = Batch(batch.x[:, :3].double(), batch.edge_index, batch.batch, batch.num_graphs)
    return encode(small)


@hypothesis_settings(max_examples=60, deadline=None)
@given(st.integers(0, 2).flatmap(lambda count: graph_sets(count)), settings(), st.integers(0, 9))
def test_one_prototype_gets_the_answer_of_the_oracle(graphs: GraphSet, knobs: SearchSettings, seed: int) -> None:
    wanted = prototypes(1, seed)
    knobs = SearchSettings(**{**vars(knobs), "whole_nodes": 64})
    units = random_units(graphs.batch())
    for result in search(graphs, range(len(graphs)), wanted, encode, knobs, units=random_units):
        nodes, similarity = plain_search(graphs, result.graph, wanted[0], encode, knobs, units[result.graph])
        assert result.nodes(0) == sorted(nodes)
        assert float(result.similarity[result.best[0], 0]) == pytest.approx(similarity, abs=1e-6)


@pytest.mark.parametrize("whole_nodes", [8, 64])
def test_no_ring_and_no_group_of_a_molecule_is_ever_cut(whole_nodes: int) -> None:
    graphs, units = drugs()
    knobs = SearchSettings(iterations=8, whole_nodes=whole_nodes)
    known = units(graphs.batch())
    assert known is not None
    for result in search(graphs, range(len(graphs)), prototypes(2), look, knobs, units=units):
        skeleton = nx.Graph(graphs[result.graph].edge_index.t().tolist())
        for nodes in result.node_sets:
            assert known[result.graph].is_whole(nodes)
            assert nx.is_connected(skeleton.subgraph(members(nodes)))


def test_a_large_budget_finds_the_best_whole_part_there_is() -> None:
    graphs, units = drugs()
    knobs = SearchSettings(iterations=300, exploration=50.0, min_nodes=2, max_nodes=9)
    known = units(graphs.batch())
    assert known is not None
    wanted = prototypes(1, 4)
    for result in search(graphs, range(3), wanted, look, knobs, units=units):
        own, skeleton = known[result.graph], nx.Graph(graphs[result.graph].edge_index.t().tolist())
        pieces = own.all_units()
        unions = {0}
        for piece in pieces:
            unions |= {union | piece for union in unions}
        whole = [union for union in unions if 2 <= union.bit_count() <= 9 and own.is_whole(union)]
        possible = {union for union in whole if nx.is_connected(skeleton.subgraph(members(union)))}
        assert possible == set(result.node_sets)


def test_pruning_acts_on_single_nodes_where_nothing_belongs_together() -> None:
    graphs = pack([nx.connected_watts_strogatz_graph(12, 3, 0.4, seed=seed) for seed in range(4)])
    for number in range(4):
        edges = graphs[number].edge_index.t().tolist()
        neighbours = tuple(mask_of(a for a, b in edges if b == node) for node in range(12))
        order = list(range(12))
        plain, by_units = BitGraph(12, edges, [], order), UnitGraph(Units(neighbours), edges, [], order)
        for size in (12, 9):
            for nodes in list(combinations(range(12), size))[:30]:
                if nx.is_connected(nx.Graph(edges).subgraph(nodes)):
                    assert by_units.children(mask_of(nodes), 20) == plain.children(mask_of(nodes), 20)


def test_a_cage_is_taken_apart_ring_by_ring() -> None:
    graphs, units = drugs()
    adamantane = (units(graphs[3].batch()) or [])[0]
    edges = graphs[3].edge_index.t().tolist()
    left = {adamantane.num_nodes}
    waiting = [(1 << adamantane.num_nodes) - 1]
    while waiting:
        for rest in UnitGraph(adamantane, edges, [], range(10)).children(waiting.pop(), 20):
            left.add(rest.bit_count())
            waiting.append(rest)
    assert min(left) == 6, "a ring of six is the smallest whole part"


def test_projected_prototypes_are_whole() -> None:
    graphs, units = drugs()
    labelled = GraphSet(**{**vars(graphs), "y": torch.tensor([0, 1, 0, 1, 0, 1, 0])})
    found = project(
        labelled, prototypes(4), torch.tensor([0, 0, 1, 1]), look, SearchSettings(iterations=4), units=units
    )
    for source in found.sources:
        known = units(graphs[source.graph].batch())
        assert known is not None and known[0].is_whole(mask_of(source.nodes))


def test_words_of_a_compound_stay_together() -> None:
    graphs = pack([nx.path_graph(6)])
    bound = torch.tensor([sorted(pair) == [2, 3] for pair in graphs.edge_index.t().tolist()])
    tied = GraphSet(**{**vars(graphs), "bound": bound})
    sentence = BatchUnits.of(Schema("sentence"))
    assert sentence is not None
    for result in search(tied, [0], prototypes(1), encode, SearchSettings(min_nodes=1, max_nodes=5), units=sentence):
        for nodes in map(members, result.node_sets):
            assert (2 in nodes) == (3 in nodes)
