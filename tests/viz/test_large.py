"""At any size what matters and its surroundings are drawn, with a word on the rest; the clock is in the benchmarks."""

import numpy as np
import pytest
import torch

from protgnn.data.batch import offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.featurizers.molecule import parse
from protgnn.viz.graphs import draw_graph
from protgnn.viz.molecules import _cut_out, draw_molecule
from protgnn.viz.nearest import nearest_nodes
from protgnn.viz.sentences import draw_sentence

LARGE = {
    "chain": "C" * 9_900,
    "rings": "C1CC1c1ccccc1" * 400,
    "branches": "C(C)(C)C(=O)N" * 800,
    "salts": "[Na+].[Cl-]." * 1500 + "C",
}


@pytest.fixture(params=LARGE)
def molecule(request):
    return parse(LARGE[request.param])  # reading is not drawing


def test_a_large_molecule_is_drawn_around_what_matters(molecule):
    middle = molecule.GetNumAtoms() // 2
    picture = draw_molecule(molecule, [middle, middle + 1], [5])
    assert {middle, middle + 1, 5} <= set(picture.spots) and len(picture.spots) <= 250
    assert picture.note == f"{len(picture.spots)} of {molecule.GetNumAtoms()} atoms are shown"
    for start, end in picture.links:
        assert molecule.GetBondBetweenAtoms(start, end) is not None


def test_evidence_of_thousands_of_atoms_is_drawn_in_part(molecule):
    picture = draw_molecule(molecule, range(molecule.GetNumAtoms()))
    assert len(picture.spots) <= 250 and picture.note


def test_an_atom_at_the_cut_has_the_hydrogens_it_has_in_the_molecule():
    oxygen = _cut_out(parse("C" * 249 + "O" + "C" * 300), list(range(250))).GetAtomWithIdx(249)
    assert oxygen.GetSymbol() == "O" and oxygen.GetTotalNumHs() == 0


@pytest.mark.parametrize(("nodes", "edges"), [(300, 40_000), (5_000, 20_000), (1_000_000, 2_000_000)])
def test_a_large_graph_is_drawn_around_what_matters(nodes, edges):
    chance = torch.Generator().manual_seed(0)
    ends = torch.randint(nodes, (2, edges), generator=chance)
    graph = GraphSet(
        torch.ones(nodes, 1), ends, offsets(torch.tensor([nodes])), offsets(torch.tensor([edges])), schema=Schema()
    )
    for only in ([nodes - 1, 3], range(nodes)) if nodes < 10_000 else ([nodes - 1, 3],):
        picture = draw_graph(graph, only)
        assert 3 in picture.spots and len(picture.spots) <= 250 and "nodes are shown" in picture.note


def test_a_long_sentence_is_drawn_around_what_matters():
    count = 100_000
    words = ["a" * 100_000 if number == 70_000 else "word" for number in range(count)]
    picture = draw_sentence(words, [(number, number // 2) for number in range(1, count)], [70_000])
    assert 70_000 in picture.spots and len(picture.spots) <= 400
    assert picture.note == f"{len(picture.spots)} of {count} words are shown" and picture.width < 10_000


def test_the_nearest_nodes_are_those_of_fewest_steps():
    line = np.array([(node, node + 1) for node in range(99)])
    assert nearest_nodes(100, line, [50], 5).tolist() == [48, 49, 50, 51, 52]
    assert nearest_nodes(100, line, [0, 99], 4).tolist() == [0, 1, 98, 99]
    assert nearest_nodes(100, line, [7, 7, 9], 1).tolist() == [7]
    assert nearest_nodes(3, line[:2], [], 5).tolist() == [0, 1, 2]
    assert nearest_nodes(100, line[:0], [], 5).tolist() == [0]
