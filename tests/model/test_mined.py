"""ProtGNN+ with mined prototypes: distances, places and exactness, against plain versions."""

import math

import numpy as np
import pytest
import torch

from protgnn.data.parts import all_parts, grown_parts
from protgnn.data.resemblance import look_of, resemblance
from protgnn.data.subgraph import cut
from protgnn.data.units import Units, mask_of, members
from protgnn.errors import DataError
from protgnn.featurizers.graph_units import units_of
from protgnn.featurizers.kinds import kinds_of
from protgnn.featurizers.molecule import from_smiles, parse
from protgnn.featurizers.part_rule import PartRule
from protgnn.model.mined import ALIKE, EPSILON, STRUCTURE, ProtGNNMined
from protgnn.model.places import NODE_COST
from protgnn.training.build import build
from protgnn.training.mined_algorithm import place_prototypes
from protgnn.training.recipe import make_recipe

MOLECULES = [
    "CC(=O)Nc1ccc(O)cc1",
    "c1ccc2ccccc2c1",
    "O=C1CCCCO1",
    "C1CO1",
    "CC(C)(C)OC(=O)N",
    "COCOC",
    "Clc1ccccc1Cl",
    "CCCCO",
]


@pytest.fixture(scope="module")
def graphs():
    return from_smiles(MOLECULES, torch.tensor([0, 1] * 4), ("no", "yes"))


@pytest.fixture(scope="module", params=["gcn", "gin", "gat"])
def model(request, graphs) -> ProtGNNMined:
    torch.manual_seed(0)
    made = build(make_recipe(plus=True, evidence="mined", encoder=request.param, hidden=8), graphs.schema)
    assert isinstance(made, ProtGNNMined)
    sources = [
        {"graph": 1, "nodes": [0, 1, 2, 3, 8, 9], "label": 1, "counts": False},  # a ring of naphthalene
        {"graph": 6, "nodes": [0], "label": 0, "counts": True},  # a chlorine
        {"graph": 0, "nodes": [1, 2, 3], "label": 1, "counts": False},  # an amide
    ]
    place_prototypes(made, graphs, sources)
    with torch.no_grad():
        made.head.base.copy_(torch.tensor([0.3, -0.3]))
    return made.eval()


def test_units_of_a_batch_are_those_of_its_molecules(graphs):
    rule = PartRule.of(graphs.schema)
    for number, found in enumerate(rule.units(graphs.batch())):
        wanted = units_of(graphs[number], parse(MOLECULES[number]))
        assert set(found.groups) == set(wanted.groups) and found.neighbours == wanted.neighbours
        assert {edge: set(cycles) for edge, cycles in found.cycles.items()} == {
            edge: set(cycles) for edge, cycles in wanted.cycles.items()
        }


def connected(units: Units, mask: int) -> bool:
    reached = mask & -mask
    while True:
        more = reached | (units.around(reached) & mask)
        if more == reached:
            return reached == mask
        reached = more


@pytest.mark.parametrize("budget", [3, 6, 10])
def test_all_parts_are_all_connected_whole_unions_of_units(budget):
    for smiles in MOLECULES:
        units = units_of(from_smiles([smiles]), parse(smiles))
        own = units.all_units()
        wanted = set()
        for chosen in range(1, 2 ** len(own)):
            mask = 0
            for number in members(chosen):
                mask |= own[number]
            if units.is_whole(mask) and connected(units, mask) and units.edge_count(mask) <= budget:
                wanted.add(mask)
        found = all_parts(units, budget, 10_000)
        assert len(set(found)) == len(found)
        assert set(found) <= wanted or len(found) == 1  # where no unit fits, the smallest is all there is
        # every step of a union is whole and within the budget, or it would not have been reached
        lone = {part for part in wanted if part.bit_count() == 1 and not any(part & group for group in units.groups)}
        assert set(own) & wanted - lone <= set(found)


def test_grown_parts_are_connected_nested_and_within_the_budget():
    units = Units((0b10, 0b101, 0b1010, 0b10100, 0b01000))
    found = grown_parts(units, np.array([0.0, 0.1, 5.0, 0.2, 0.0]), 3, 100)
    assert found[0] == 0b00100 and found[1] == 0b01100
    assert all(connected(units, mask) and units.edge_count(mask) <= 3 for mask in found)


def test_resemblance_of_many_parts_is_that_of_two(graphs, model):
    parts = model.candidates(graphs.batch())
    looks = [
        look_of(kinds_of(graphs[number]), [*members(mask)])
        for number, mask in zip(parts.graph, parts.masks, strict=True)
    ]
    chosen = np.arange(0, len(parts.first), 3)
    found = parts.looks.resemblance(parts.looks.of_parts(chosen))
    for part in range(0, len(parts), 5):
        for column, other in enumerate(chosen):
            wanted = resemblance(looks[part], looks[parts.first[other]])
            assert found[parts.distinct[part], column] == pytest.approx(wanted, abs=1e-6)


def test_parts_that_are_stored_once_have_one_embedding(graphs, model):
    parts = model.candidates(graphs.batch())
    with torch.no_grad():
        stored = model.embed_all(parts.graphs)
        for row in range(0, len(parts), 3):
            mask = torch.zeros(int(graphs.node_counts[parts.graph[row]]), dtype=torch.bool)
            mask[list(members(parts.masks[row]))] = True
            alone = model.embed_parts(cut(graphs[int(parts.graph[row])], torch.tensor([0]), mask).batch())
            torch.testing.assert_close(alone[0], stored[parts.distinct[row]], rtol=0, atol=1e-5)


def slow_similarity(model: ProtGNNMined, h: torch.Tensor, unlike: float, prototype: int) -> float:
    learned = 1 - math.exp(-float((h - model.head.vectors[prototype]).square().sum()) / len(h))
    eq_2 = lambda distance: math.log((distance + 1) / (distance + EPSILON))  # noqa: E731
    return max(0.0, eq_2(learned + STRUCTURE * unlike) - eq_2(STRUCTURE))


@torch.no_grad()
def test_evidence_is_the_most_similar_part_less_its_cost_and_values_count_places(graphs, model):
    found = model.evidence(graphs.batch())
    parts, h = found.parts, model.embed_all(found.parts.graphs)
    unlike = model.unlike(parts)
    for graph in range(len(graphs)):
        rows = range(int(parts.ptr[graph]), int(parts.ptr[graph + 1]))
        for prototype in range(3):
            own = {
                row: slow_similarity(
                    model, h[parts.distinct[row]], float(unlike[parts.distinct[row], prototype]), prototype
                )
                for row in rows
            }
            for row, value in own.items():
                assert float(found.similar[row, prototype]) == pytest.approx(value, abs=1e-5)
            best = int(found.places.best[graph, prototype])
            merit = {row: value - NODE_COST * parts.nodes[row] for row, value in own.items()}
            assert merit[best] >= max(merit.values()) - 2e-4
            mine = (found.places.graph == graph) & (found.places.column == prototype)
            places = found.places.row[mine].tolist()
            assert places[0] == best and len(set(places)) == len(places)
            assert all(float(unlike[parts.distinct[row], prototype]) <= ALIKE + 1e-6 for row in places[1:])
            wanted = sum(own[row] for row in places) if prototype == 1 else own[best]
            assert float(found.value[graph, prototype]) == pytest.approx(wanted, abs=1e-4)


def test_a_motif_is_found_in_all_its_places(graphs, model):
    found = model.evidence(graphs.batch()).nodes()
    assert sorted(found[6, 1]) == [(0,), (7,)]  # both chlorines
    assert {mask_of(nodes) for nodes in found[1, 0]} == {mask_of([0, 1, 2, 3, 8, 9]), mask_of([3, 4, 5, 6, 7, 8])}
    assert found[0, 2][0] == (1, 2, 3)  # the amide of paracetamol


@torch.no_grad()
def test_what_is_shown_is_what_was_computed(graphs, model):
    batch = graphs.batch()
    found = model.evidence(batch)
    for graph in range(len(graphs)):
        for prototype in range(3):
            row = int(found.places.best[graph, prototype])
            mask = torch.zeros(int(graphs.node_counts[graph]), dtype=torch.bool)
            mask[list(members(found.parts.masks[row]))] = True
            alone = model.similarities_of_parts(cut(graphs[graph], torch.tensor([0]), mask))[0]
            assert float(alone[prototype]) == pytest.approx(float(found.similar[row, prototype]), abs=1e-5)
    summed = found.value @ model.head.last.weight.t() + model.head.base
    torch.testing.assert_close(model(batch), summed)


@torch.no_grad()
def test_a_prediction_does_not_depend_on_what_else_is_in_the_batch(graphs, model):
    together = model(graphs.batch())
    alone = torch.cat([model(graphs[number].batch()) for number in range(len(graphs))])
    torch.testing.assert_close(alone, together, rtol=0, atol=1e-5)


@torch.no_grad()
def test_the_prototype_itself_is_as_similar_as_can_be_and_nothing_alike_has_none(graphs, model):
    from protgnn.model.mined import HIGHEST

    found = model.evidence(graphs.batch())
    assert float(found.similar[:, 0].max()) == pytest.approx(HIGHEST, abs=1e-4)
    assert float(found.similar.min()) >= -1e-6


def test_a_graph_too_large_for_masks_of_its_parts_is_refused(model, graphs, monkeypatch):
    """Each mask is as long as the graph, so memory grows with its square."""
    monkeypatch.setenv("PROTGNN_LIMITS", "mined_nodes=10")
    with pytest.raises(DataError, match=r"11 nodes in one graph whose parts are looked at.*mined_nodes=11"):
        model.candidates(graphs.batch())


def test_cycles_of_graphs_without_units_are_candidates():
    from protgnn.datasets.builtin.ba_2motifs import ba_2motifs

    motifs = ba_2motifs(6)
    rule = PartRule.of(motifs.schema)
    for number, units in enumerate(rule.units(motifs.batch())):
        truth = mask_of(motifs[number].node_mask.nonzero().squeeze(1).tolist())
        found = rule.cycles(units, 10)
        assert truth in found and all(units.edge_count(mask) <= 10 for mask in found)
        assert truth not in rule.cycles(units, 4)
    complete = Units(tuple(((1 << 20) - 1) ^ (1 << node) for node in range(20)))
    assert rule.cycles(complete, 10) == []


def test_cycles_are_found_in_graphs_of_several_pieces():
    from protgnn.datasets.builtin.ba_2motifs import ba_2motifs

    triangle_and_a_node = Units((0b110, 0b101, 0b011, 0))
    assert PartRule.of(ba_2motifs(2).schema).cycles(triangle_and_a_node, 10) == [0b111]
