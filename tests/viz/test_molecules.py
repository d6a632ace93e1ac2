"""Molecules: from columns to what a chemist draws, and every atom where a mark can find it."""

import pytest
import torch
from rdkit import Chem

import protgnn
from protgnn.data.batch import offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.explain.describe import describe_part, describe_subgraph
from protgnn.explain.to_rdkit import to_rdkit
from protgnn.featurizers.molecule import from_smiles
from protgnn.viz.molecules import draw_molecule
from protgnn.viz.picture import Sheet
from protgnn.viz.theme import LIGHT

ELEMENTS, BONDS = ("C", "N", "O", "Cl"), ("aromatic", "single", "double", "triple")


def by_columns(elements: str, bonds: dict[tuple[int, int], str]) -> GraphSet:
    """A molecule as TU folders tell it: elements and bond types, no charges, no hydrogens."""
    pairs = [pair for a, b in bonds for pair in ((a, b), (b, a))]
    kinds = [BONDS.index(kind) for kind in bonds.values() for _ in range(2)]
    return GraphSet(
        torch.eye(len(ELEMENTS))[[ELEMENTS.index(element) for element in elements.split()]],
        torch.tensor(pairs).t().reshape(2, -1),
        offsets(torch.tensor([len(elements.split())])),
        offsets(torch.tensor([len(pairs)])),
        edge_attr=torch.eye(len(BONDS))[kinds],
        schema=Schema("molecule", ("a", "b"), ELEMENTS, BONDS),
    )


RING = {(number, (number + 1) % 6): "aromatic" for number in range(5)} | {(0, 5): "aromatic"}
NITROBENZENE = by_columns("C C C C C C N O O", RING | {(0, 6): "single", (6, 7): "double", (6, 8): "single"})
PYRROLE = by_columns(
    "C C C C N", {(0, 1): "aromatic", (1, 2): "aromatic", (2, 3): "aromatic", (3, 4): "aromatic", (0, 4): "aromatic"}
)


def test_a_nitro_group_has_its_charges():
    assert Chem.MolToSmiles(to_rdkit(NITROBENZENE)) == "O=[N+]([O-])c1ccccc1"


def test_a_nitro_group_written_with_two_double_bonds_has_them_too():
    graph = by_columns("C C C C C C N O O", RING | {(0, 6): "single", (6, 7): "double", (6, 8): "double"})
    assert Chem.MolToSmiles(to_rdkit(graph)) == "O=[N+]([O-])c1ccccc1"


def test_an_aromatic_nitrogen_gets_the_hydrogen_that_its_ring_needs():
    assert Chem.MolToSmiles(to_rdkit(PYRROLE)) == "c1cc[nH]c1"


def test_a_part_that_was_cut_out_has_no_hydrogens_made_up():
    half_a_ring = by_columns("C C C N O", {(0, 1): "aromatic", (1, 2): "aromatic", (2, 3): "single", (3, 4): "single"})
    mol = to_rdkit(half_a_ring, cut_out=True)
    assert [atom.GetTotalNumHs() for atom in mol.GetAtoms()] == [0] * 5
    assert describe_subgraph(half_a_ring, [0, 1, 2, 3, 4]) == "ONccc"
    assert len(draw_molecule(mol).spots) == 5


def test_parts_of_a_molecule_are_told_by_their_smiles():
    assert describe_part(NITROBENZENE, [0, 6, 7, 8]) == "c[N+](=O)[O-]"


def test_what_is_no_molecule_is_not_made_one():
    graph = by_columns("C C", {(0, 1): "single"})
    other = GraphSet(graph.x, graph.edge_index, graph.node_ptr, graph.edge_ptr, schema=graph.schema)
    assert to_rdkit(other) is None, "without bond types there is nothing to draw"


@pytest.mark.parametrize(
    "smiles", ["C", "[Na+].[Cl-]", "CC(=O)Nc1ccc(O)cc1", "C[C@H](N)C(=O)O", "F/C=C/F", "*CC", "[Xe]"]
)
def test_every_atom_has_a_place_within_the_picture_and_every_bond_a_path(smiles):
    mol = Chem.MolFromSmiles(smiles)
    picture = draw_molecule(mol)
    assert set(picture.spots) == set(range(mol.GetNumAtoms()))
    assert set(picture.links) == {
        tuple(sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))) for bond in mol.GetBonds()
    }
    for spot in picture.spots.values():
        assert spot.x - spot.width / 2 >= 0 and spot.x + spot.width / 2 <= picture.width
        assert spot.y - spot.height / 2 >= 0 and spot.y + spot.height / 2 <= picture.height


def test_a_drawing_is_the_same_every_time():
    mol = Chem.MolFromSmiles("CC(=O)Nc1ccc(O)cc1")
    assert draw_molecule(mol) == draw_molecule(Chem.MolFromSmiles("CC(=O)Nc1ccc(O)cc1"))


def test_what_does_not_matter_is_pale():
    mol = Chem.MolFromSmiles("CCO")
    assert "{faint}" not in draw_molecule(mol).body
    assert "{faint}" in draw_molecule(mol, [0, 1]).body and "{ink}" in draw_molecule(mol, [0, 1]).body


def test_a_large_molecule_is_shown_in_part_around_what_matters():
    picture = draw_molecule(Chem.MolFromSmiles("C" * 60))
    small = Sheet(LIGHT).place(picture, (0, 0, 200, 100), [3, 4], 0, smallest=0.5)
    assert "viewBox" in small and 'data-nodes="3 4"' in small
    assert "viewBox" not in Sheet(LIGHT).place(picture, (0, 0, 200, 100), [3, 4], 0)


@pytest.mark.usefixtures("real_data")
def test_all_of_mutag_can_be_drawn():
    sane = 0
    for graph in protgnn.load("mutag").graphs:
        mol = to_rdkit(graph)
        assert len(draw_molecule(mol).spots) == len(graph.x)
        sane += Chem.MolFromSmiles(Chem.MolToSmiles(mol)) is not None
    assert sane == 186, "two of the 188 have a carbon with five bonds in the file"


def test_a_molecule_that_is_changed_does_not_change_the_next():
    for graph in (from_smiles(["CCO"]), NITROBENZENE):
        first = to_rdkit(graph)
        expected = Chem.MolToSmiles(first)
        first.GetAtomWithIdx(0).SetAtomicNum(9)
        assert Chem.MolToSmiles(to_rdkit(graph)) == expected != Chem.MolToSmiles(first)


def test_a_part_and_a_whole_of_the_same_columns_differ():
    ring = by_columns("C C C N", {(0, 1): "single", (1, 2): "single", (2, 3): "single"})
    assert to_rdkit(ring).GetAtomWithIdx(0).GetTotalNumHs() == 3
    assert to_rdkit(ring, cut_out=True).GetAtomWithIdx(0).GetTotalNumHs() == 0
