"""Salts and charges are taken off where something organic is left, and a salt by itself stays a salt."""

import pytest
from rdkit import Chem

import protgnn
from protgnn.featurizers.standardise import standardised_smiles


@pytest.mark.parametrize(
    ("written", "standard"),
    [
        ("CC(=O)[O-].[Na+]", "CC(=O)O"),
        ("[Na+].[Cl-].CCO", "CCO"),
        ("C[NH3+].[Cl-]", "CN"),
        ("[Na+].[Cl-]", None),
        ("[NH4+].[Cl-]", None),
        ("O", None),
    ],
)
def test_only_what_has_carbon_has_a_standard_form(written, standard):
    assert standardised_smiles(Chem.MolFromSmiles(written)) == standard


def test_a_salt_without_carbon_stays_as_it_was_written_and_is_told_by_its_line(tmp_path):
    path = tmp_path / "salts.csv"
    rows = ["CC(=O)[O-].[Na+],a", "[Na+].[Cl-],a", "CCO,a", "CCN,b", "CCC,b", "CCCC,b"]
    path.write_text("\n".join(["smiles,label", *rows]))
    data = protgnn.read_csv(path, standardise=True)
    assert data.graphs.names == ("CC(=O)O", "[Na+].[Cl-]", "CCO", "CCN", "CCC", "CCCC")
    assert "Standardised 6 molecules: 1 lost salts or solvents, charges are neutralised" in data.notes
    assert "Of these, 1 without carbon stayed as written (line 3)" in data.notes
