"""Molecules become graphs with named columns; files of SMILES that cannot be read say where and what to do."""

import csv
from pathlib import Path

import pytest
import torch
from rdkit import Chem

from protgnn.data.validate import check
from protgnn.datasets.readers.smiles import read_csv, read_smi
from protgnn.errors import DataError
from protgnn.featurizers import atom_environments, molecule
from protgnn.featurizers.atom_properties import ATOM_PROPERTIES
from protgnn.featurizers.molecule import ATOM_FEATURES, BOND_FEATURES, from_smiles, pattern, shorten
from protgnn.io.limits import LIMITS_VARIABLE
from tests.data.random_graphs import assert_same

DRUGS = [
    "CC(=O)Oc1ccccc1C(=O)O",
    "C[C@H](N)C(=O)O",
    "F/C=C/F",
    "[Na+].[Cl-]",
    "C",
    "[*]C#N",
    "c1cc[nH]c1",
    "O=S(=O)(N)c1ccccc1",
]


def features(row: torch.Tensor, names: tuple[str, ...]) -> set[str]:
    return {name for name, value in zip(names, row.tolist(), strict=True) if value}


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_an_atom_is_described_as_chemists_do() -> None:
    alanine = from_smiles(["C[C@H](N)C(=O)O"])
    assert features(alanine.x[1], ATOM_FEATURES) - set(ATOM_PROPERTIES) == {
        *("element=C", "degree=3", "hydrogens=1", "charge=0", "hybrid=SP3", "chirality=S"),
    }
    assert "chirality=R" in features(from_smiles(["C[C@@H](N)C(=O)O"]).x[1], ATOM_FEATURES)
    assert {"charge=+1", "element=Na"} <= features(from_smiles(["[Na+].[Cl-]"]).x[0], ATOM_FEATURES)
    assert {"aromatic", "ring"} <= features(from_smiles(["c1ccccc1"]).x[0], ATOM_FEATURES)
    assert "element=other" in features(from_smiles(["[*]C"]).x[0], ATOM_FEATURES)


def test_a_bond_is_described_as_chemists_do() -> None:
    graph = from_smiles(["F/C=C/F"])
    bonds = {
        tuple(edge): features(row, BOND_FEATURES)
        for edge, row in zip(graph.edge_index.T.tolist(), graph.edge_attr, strict=True)
    }
    assert bonds[1, 2] == bonds[2, 1] == {"bond=double", "stereo=E"}
    assert bonds[0, 1] == {"bond=single", "stereo=none"}
    assert "bond=triple" in features(from_smiles(["C#N"]).edge_attr[0], BOND_FEATURES)
    ring = features(from_smiles(["c1ccccc1"]).edge_attr[0], BOND_FEATURES)
    assert ring == {"bond=aromatic", "conjugated", "ring", "stereo=none"}


def test_nodes_are_numbered_as_rdkit_numbers_the_atoms_of_the_name() -> None:
    for graph in from_smiles(DRUGS):
        mol = Chem.MolFromSmiles(graph.names[0])
        assert len(graph.x) == mol.GetNumAtoms()
        bonds = {(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in mol.GetBonds()}
        assert {tuple(edge) for edge in graph.edge_index.T.tolist()} == bonds | {(b, a) for a, b in bonds}


def test_molecules_are_canonical_already() -> None:
    graphs = from_smiles(DRUGS)
    found, notes = check(graphs, training=False)
    assert_same(found, graphs)
    assert notes == [] and graphs.x.dtype == graphs.edge_attr.dtype == torch.float32


def test_the_true_atoms_are_those_of_all_matches() -> None:
    graphs = from_smiles(["c1ccccc1-c1ccccc1", "CCO"], truth=pattern("c1ccccc1"))
    assert graphs.node_mask.tolist() == [True] * 12 + [False] * 3


@pytest.mark.parametrize("bad", ["", "C(", "not a molecule", "CCO ethanol", "C1CC", "c1cccc1", "\udc80"])
def test_a_smiles_that_cannot_be_read_is_refused_by_number(bad: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DataError, match="Molecule 1"):
        from_smiles(["C", bad])
    assert capfd.readouterr().err == ""


def test_an_unreadable_smiles_is_named_as_it_was_written_but_for_control_characters() -> None:
    for written, shown in (("F/C=C\\Q", "'F/C=C\\Q'"), ("C\x1b[2JQ", "'C\\x1b[2JQ'")):
        with pytest.raises(DataError) as refused:
            from_smiles([written])
        assert shown in str(refused.value)
    assert shorten("C" * 100) == f"'{'C' * 59}…'"
    with pytest.raises(DataError, match="SMARTS pattern 'C\\\\Q'"):
        pattern("C\\Q")


def test_a_csv_with_usual_columns_needs_no_options(tmp_path: Path) -> None:
    graphs, notes = read_csv(write(tmp_path / "m.csv", "id,SMILES,active\n1,CCO,yes\n2,CC,no\n3,CCC,no\n4,C,yes\n"))
    assert graphs.schema.class_names == ("no", "yes") and graphs.y.tolist() == [1, 0, 0, 1]
    assert graphs.names == ("CCO", "CC", "CCC", "C")
    assert notes == ["The labels of m.csv are those of its column 'active'"]


def test_what_excel_leaves_in_a_csv_is_no_row(tmp_path: Path) -> None:
    plain = read_csv(write(tmp_path / "m.csv", "smiles;label\nCCO;a\nCC;b\nCCC;a\nCCN;b\n"))[0]
    odd = "\ufeffsep=;\r\nsmiles;label\r\nCCO;a\r\n;\r\nCC;b\r\n\r\nCCC;a\r\nCCN;b\r\n;\r\n;\r\n"
    graphs, notes = read_csv(write(tmp_path / "odd.csv", odd))
    assert graphs.names == plain.names and graphs.y.tolist() == plain.y.tolist() and notes == []
    assert graphs.lines.tolist() == [3, 5, 7, 8]
    with pytest.raises(DataError, match="no rows"):
        read_csv(write(tmp_path / "empty.csv", "smiles;label\n;\n;\n"))


def test_molecules_that_occur_more_than_once_are_told_however_they_are_written(tmp_path: Path) -> None:
    text = "smiles,label\nCCO,a\nOCC,a\nCC,b\nC-C,a\nCCC,b\n"
    _, notes = read_csv(write(tmp_path / "m.csv", text))
    (note,) = notes
    assert note.startswith("2 molecules occur more than once (4 rows), 1 of them with different labels")
    assert read_csv(write(tmp_path / "m.csv", text), classes=("a", "b"))[1] == []


def test_numbers_taken_for_the_classes_of_a_model_are_told(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", "smiles,label\nCCO,1\nCC,0\n")
    graphs, notes = read_csv(path, classes=("low", "medium", "high"))
    assert graphs.y.tolist() == [1, 0] and "0 as low, 1 as medium" in notes[0]
    assert read_csv(path, classes=("0", "1"))[1] == []
    named = write(tmp_path / "n.csv", "smiles,label\nCCO,low\nCC,high\n")
    assert read_csv(named, classes=("low", "medium", "high"))[1] == []


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["10", "9", "10", "9"], ("9", "10")),
        (["1.0", "0", "1", "0.0"], ("0", "1")),
        (["True", "False", "True", "False"], ("False", "True")),
        (["b", "a", "10", "b"], ("10", "a", "b")),
        (["-1", "1", "1", "-1"], ("-1", "1")),
    ],
)
def test_classes_are_sorted_by_value_or_by_name(tmp_path: Path, labels: list[str], names: tuple[str, ...]) -> None:
    rows = "".join(f"CCO,{label}\n" for label in labels)
    assert read_csv(write(tmp_path / "m.csv", "smiles,what\n" + rows))[0].schema.class_names == names


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffsmiles,y\nCCO,1\nCC,0\n",
        "smiles;y\r\nCCO;1\r\nCC;0\r\n",
        "smiles\ty\nCCO\t1\nCC\t0\n\n\n",
        'y,"smiles"\r1,"CCO"\r0,CC\r',
        'name,y,smiles\n"eth\nanol",1,CCO\n,0,CC',
    ],
)
def test_the_dialects_of_csv_are_understood(tmp_path: Path, text: str) -> None:
    graphs, _ = read_csv(write(tmp_path / "m.csv", text))
    assert graphs.names == ("CCO", "CC") and graphs.y.tolist() == [1, 0]


GOOD = "smiles,y\nCCO,1\nCC,0\n"
BAD_ROWS = {
    "broken smiles": "C(,1",
    "no atoms": ",1",
    "short row": "CCC",
    "long row": "CCC,1,2",
}


@pytest.mark.parametrize("row", BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_a_bad_row_is_named_by_line_or_skipped_and_counted_on_demand(tmp_path: Path, row: str) -> None:
    path = write(tmp_path / "m.csv", GOOD + row + "\nCCCC,1\n")
    with pytest.raises(DataError, match=r"m\.csv line 4: .*--skip-bad"):
        read_csv(path)
    graphs, notes = read_csv(path, skip_bad=True)
    assert graphs.names == ("CCO", "CC", "CCCC")
    assert notes == ["Skipped 1 of 4 rows of m.csv that cannot be used (line 4)"]


BAD_FILES = {
    "0 bytes": ("", "is empty"),
    "only a mark": ("\ufeff", "empty|header"),
    "header only": ("smiles,y\n", "no rows"),
    "no header": ("CCO,1\nCC,0\n", "'CCO', '1'"),
    "no smiles column": ("a,b\n1,2\n", "which column holds the SMILES"),
    "which label": ("smiles,a,b\nCC,1,2\n", "which column holds the label"),
    "no label column": ("smiles\nCC\n", "which column holds the label"),
    "twice the same column": ("smiles,y,y\nCC,1,1\n", "2 columns are named 'y'"),
    "nul": (b"smiles,y\nCC\0,1\n", "line 2: holds a NUL"),
    "open quote": ('smiles,y\n"CC,1\nC,0\n', "not a proper CSV row"),
    "huge field": ("smiles,y\n" + "C" * 200_000 + ",1\n", "line 2: not a proper CSV row"),
    "measurements": ("smiles,y\nCC,0.37\nC,1\n", "line 2: .*looks like a measurement"),
    "infinite labels": ("smiles,y\nCC,1\nC,inf\n", "line 3: .*looks like a measurement"),
    "names as labels": ("smiles,y\nCC,a\nC,b\nCO,c\nCN,d\n", "too many to be classes"),
    "all rows bad": ("smiles,y\nxx,1\n", "line 2: RDKit cannot read"),
}


@pytest.mark.parametrize(("text", "words"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_file_that_is_no_csv_of_labelled_smiles_says_why(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read_csv(write(tmp_path / "m.csv", text))


def test_a_missing_file_or_folder_in_its_place_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_csv(tmp_path / "none.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_csv(tmp_path)


def test_columns_asked_for_by_name_must_exist(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", "a,b,c\nCC,1,x\nC,0,y\n")
    assert read_csv(path, smiles="a", label="b")[0].y.tolist() == [1, 0]
    with pytest.raises(DataError, match="no column 'z': its columns are 'a', 'b', 'c'"):
        read_csv(path, smiles="z")
    with pytest.raises(DataError, match="no column 'z'"):
        read_csv(path, smiles="a", label="z")


def test_labels_are_not_needed_to_predict(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", "smiles,weight\nCC,0.5\nC,0.7\n")
    assert read_csv(path, classes=("a", "b"))[0].y is None


def test_molecules_to_predict_are_read_one_by_one_as_those_to_learn_from(tmp_path: Path, monkeypatch) -> None:
    texts = ["CCO", "[2H]OC=O", "C[C@H](N)C(=O)O", "c1ccccc1", "[H][H]", "F/C=C/F", "[Na+].[Cl-]", "C1CO1"]
    path = tmp_path / "a.csv"
    path.write_text("smiles,label\n" + "".join(f"{text},{'ab'[place % 2]}\n" for place, text in enumerate(texts)))
    monkeypatch.setattr(molecule, "_READ_AT_ONCE", 3)
    monkeypatch.setattr(atom_environments, "_known", {})
    new, _ = read_csv(path, classes=("a", "b"), truth=pattern("CO"))
    monkeypatch.undo()
    assert_same(new, read_csv(path, truth=pattern("CO"))[0])
    monkeypatch.setenv(LIMITS_VARIABLE, "nodes=10")
    with pytest.raises(DataError, match="8 molecules: 30 nodes, and at most 10"):
        read_csv(path, classes=("a", "b"))


def test_a_text_of_smiles_may_have_titles(tmp_path: Path) -> None:
    graphs, _ = read_smi(write(tmp_path / "m.smi", "CCO ethanol\n\nCC\tethane\n"))
    assert graphs.names == ("CCO", "CC")
    with pytest.raises(DataError, match="line 2: RDKit"):
        read_smi(write(tmp_path / "bad.smi", "CCO\nC(\n"))


def test_bbbp_has_eleven_rows_that_no_one_can_read(real_data: Path) -> None:
    with pytest.raises(DataError, match=r"11 rows of .*bbbp\.csv cannot be used:\n  line 61: "):
        read_csv(real_data / "bbbp.csv")
    graphs, notes = read_csv(real_data / "bbbp.csv", skip_bad=True)
    assert len(graphs) == 2039 and "Skipped 11 of 2050" in notes[0]
    with (real_data / "bbbp.csv").open() as file:
        assert sum(1 for _ in csv.reader(file)) == 2051


def test_a_rule_of_chemistry_that_is_broken_is_named():
    from protgnn.featurizers.molecule import chemical_problem, why_unreadable

    assert "valence" in why_unreadable("c1ccccc1C(C)(C)(C)(C)C")
    assert chemical_problem("CCO") is None and chemical_problem("no SMILES") is None
    assert why_unreadable("C1CC") == "RDKit cannot read the SMILES 'C1CC'"
