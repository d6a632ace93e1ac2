"""What RDKit's tables say of atoms: sums are the molecule's, odd atoms have numbers, a part keeps them."""

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import Crippen, Lipinski, rdMolDescriptors

from protgnn.datasets.new_input import conform
from protgnn.featurizers.atom_properties import ATOM_PROPERTIES, atom_properties
from protgnn.featurizers.molecule import ATOM_FEATURES, from_smiles, parse

DRUGS = ["CC(=O)Nc1ccc(O)cc1", "CN1CCC[C@H]1c1cccnc1", "O=C(O)c1ccccc1OC(C)=O", "C[N+](C)(C)CCO"]


def column(smiles: str, name: str) -> np.ndarray:
    return atom_properties(parse(smiles))[:, ATOM_PROPERTIES.index(name)]


@pytest.mark.parametrize("smiles", DRUGS)
def test_shares_add_up_to_what_rdkit_says_of_the_molecule(smiles):
    mol = Chem.MolFromSmiles(smiles)
    assert column(smiles, "logP share").sum() == pytest.approx(Crippen.MolLogP(mol, includeHs=False), abs=1e-4)
    assert 20 * column(smiles, "polar area share").sum() == pytest.approx(rdMolDescriptors.CalcTPSA(mol), abs=1e-3)
    assert column(smiles, "donor").sum() == Lipinski.NumHDonors(mol)
    assert column(smiles, "acceptor").sum() == Lipinski.NumHAcceptors(mol)


def test_rings_are_counted_and_have_their_sizes():
    indane = "C1CC2=CC=CC=C2C1"
    assert column(indane, "rings").max() == 1.0  # two rings, counted in halves
    assert column(indane, "ring size=5").sum() == 5 and column(indane, "ring size=6").sum() == 6


@pytest.mark.parametrize("smiles", ["[Na+].[Cl-]", "[Hg]", "[*]C", "C[Pt](Cl)(Cl)N", "[H][H]", "[U]"])
def test_atoms_that_rdkit_knows_little_of_have_finite_columns(smiles):
    found = atom_properties(parse(smiles))
    assert np.isfinite(found).all() and np.abs(found).max() <= 5
    assert column("[Na+].[Cl-]", "partial charge").tolist() == [2.0, -2.0]


def test_a_molecule_that_is_shared_is_left_as_it_was():
    mol = parse("CCO")
    atom_properties(mol)
    assert not mol.GetAtomWithIdx(0).HasProp("_GasteigerCharge")


def test_a_model_from_before_these_columns_gets_its_own():
    graphs = from_smiles(["CCO", "c1ccccc1"])
    before = graphs.schema.__class__(
        "molecule", (), ATOM_FEATURES[: -len(ATOM_PROPERTIES)], graphs.schema.edge_features
    )
    known = conform(graphs, before)
    assert known.x.shape[1] == len(before.node_features)
    assert known.x.equal(graphs.x[:, : known.x.shape[1]])
