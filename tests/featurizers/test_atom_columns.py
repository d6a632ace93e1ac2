"""Reading molecules as arrays gives, bit for bit, what one atom after another gave: stored runs rest on it."""

import csv
import gzip
from importlib.resources import files

import numpy as np
import pytest
from rdkit import Chem

from protgnn.featurizers import atom_environments, molecule
from protgnn.featurizers.atom_columns import MoleculeReader
from protgnn.featurizers.atom_environments import computed_properties, environment_properties
from protgnn.featurizers.molecule import from_molecules, parse
from tests.featurizers.plain_molecules import plain_atoms, plain_bonds

ODD = [
    *("[H][H]", "[2H]OC=O", "[H+]", "[*]C#N", "[Na+].[Cl-]", "[U]", "[Hg]", "C[Pt](Cl)(Cl)N", "C", "[OH2+]C"),
    *(
        "[NH3]->[B](F)(F)F",
        "[Cu+2]<-[NH3]",
        "C$C",
        "[Fe]~C",
        "O=C=O",
        "O=CC",
        "O=CO",
        "O=C(c1ccccc1)C",
        "C1CO1",
        "C1CN1",
    ),
    *("C12C3C4C1C5C2C3C45", "c1ccc2ccccc2c1", "C1CCCCCCCCC1", "F/C=C/F", "F/C=C\\F", "C[C@H](N)C(=O)O", "C[S+]([O-])C"),
    *("[N-]=[N+]=NC", "C[N+](=O)[O-]", "O=[N+]([O-])c1ccccc1", "c1cc[nH]c1", "c1ccncc1", "n1ccn2cccc12", "CS(=O)(=O)N"),
    *(
        "O1C=C1",
        "C1=CC1",
        "N1C=C1",
        "OC=C",
        "OC(=O)C",
        "OC(=N)C",
        "NC(=S)N",
        "CC(=O)N1CC1",
        "[O-]C(=O)C",
        "[S-]C",
        "[SeH]C",
    ),
]


def table(name: str) -> list[str]:
    packed = files("protgnn.datasets.builtin.tables").joinpath(name).read_bytes()
    rows = list(csv.DictReader(gzip.decompress(packed).decode().splitlines()))
    return [row["smiles"] for row in rows]


def assert_as_plain(texts: list[str]) -> None:
    mols = [mol for mol in map(parse, texts) if mol is not None]
    assert len(mols) > 0.9 * len(texts)
    graphs = from_molecules(mols, texts[: len(mols)])
    for number, mol in enumerate(mols):
        nodes, edges = (slice(*ptr[number : number + 2].tolist()) for ptr in (graphs.node_ptr, graphs.edge_ptr))
        smiles = Chem.MolToSmiles(mol)
        assert np.array_equal(graphs.x[nodes].numpy(), plain_atoms(mol)), smiles
        bonds = plain_bonds(mol)
        ends = graphs.edge_index[:, edges].t().tolist()
        assert ends == sorted(map(list, bonds), key=lambda end: (end[1], end[0])), smiles
        for end, row in zip(ends, graphs.edge_attr[edges].numpy(), strict=True):
            assert np.array_equal(row, bonds[tuple(end)]), smiles


@pytest.mark.parametrize("texts", [ODD, table("solubility.csv.gz")[:600], table("chembl.csv.gz")[:600]])
def test_features_are_bit_for_bit_those_of_one_atom_after_another(texts):
    assert_as_plain(texts)


def test_molecules_read_in_several_blocks_are_those_read_in_one(monkeypatch):
    mols = [parse(text) for text in table("solubility.csv.gz")[:50]]
    whole = from_molecules(mols, [""] * 50)
    monkeypatch.setattr(molecule, "_READ_AT_ONCE", 7)
    blocks = from_molecules(mols, [""] * 50)
    for name in ("x", "edge_index", "edge_attr", "node_ptr", "edge_ptr"):
        assert getattr(blocks, name).equal(getattr(whole, name)), name


def test_surroundings_that_are_known_give_what_rdkit_gives():
    texts = table("chembl.csv.gz")
    first, others = ([parse(text) for text in texts[start::2]] for start in (0, 1))
    for mols in (first, others):  # most surroundings of the others are known from the first
        reader = MoleculeReader()
        for mol in mols:
            reader.add(Chem.Mol(mol))
        found = environment_properties(reader.atoms(), reader.bonds(), mols.__getitem__)
        expected = np.concatenate([computed_properties(mol) for mol in mols])
        assert np.array_equal(found, expected)


def test_what_is_known_is_forgotten_when_it_is_much(monkeypatch):
    monkeypatch.setattr(atom_environments, "_MOST_KEPT", 10)
    assert_as_plain(table("solubility.csv.gz")[:40])
    assert_as_plain(table("solubility.csv.gz")[40:80])


def test_no_molecule_is_a_set_of_none():
    none = from_molecules([], [])
    assert len(none) == 0 and none.x.shape[0] == 0
