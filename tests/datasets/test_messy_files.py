"""Files as people have them are read right, or refused with one message that names all that is wrong."""

from pathlib import Path

import pytest

from protgnn.datasets.load import load, read_csv
from protgnn.errors import DataError
from tests.fixtures.messy.make import MOLECULES, files

FOLDER = Path(__file__).parent.parent / "fixtures" / "messy"
ALTERNATING = (1, 0) * 4
NO_YES, GERMAN, RANGES = ("no", "yes"), ("löslich", "unlöslich"), ("< 6.5", ">= 6.5")
ACIDS = ("CC(=O)O", "CCC(=O)O", "CCCC(=O)O", "CCN")
CUT = {"threshold": 6.5}


def read(y=ALTERNATING, classes=NO_YES, names=MOLECULES, note=None, **options):
    return {"y": y, "classes": classes, "names": names, "note": note, "options": options}


READ = {
    "01-semicolons.csv": read(),
    "02-tabs.tsv": read(),
    "03-byte-order-mark.csv": read(),
    "04-utf-16.csv": read((0, 1) * 4, GERMAN),
    "05-latin-1.csv": read((0, 1) * 4, GERMAN, note="read as Windows-1252: check the letters in line 2"),
    "06-excel-sep.csv": read(),
    "07-old-mac-line-ends.csv": read(),
    "08-mixed-line-ends.csv": read(),
    "09-title-line.csv": read(note="The header of 09-title-line.csv is in line 2, below 'Assay 12"),
    "10-title-and-blank-lines.csv": read(note="is in line 3, below 'Solubility screen'"),
    "11-comment-lines.csv": read(note="is in line 3, below '# exported"),
    "12-trailing-empty-columns.csv": read(),
    "13-empty-rows.csv": read(),
    "14-quoted-newlines.csv": read(),
    "15-spaces-around.csv": read(),
    "16-three-spellings.csv": read(note="one class: 'yes' and 'Yes' and 'YES'; 'no' and 'No' and 'NO'"),
    "17-not-determined.csv": read(
        (1, 0, 0, 1, 1, 0),
        names=(*MOLECULES[:2], *MOLECULES[3:5], *MOLECULES[6:]),
        note="Left out 2 of 8 rows of 17-not-determined.csv that have no label or '?', 'n.d.' for one (lines 4, 7)",
    ),
    "18-dashes-for-missing.csv": read((1, 0, 0, 1, 0, 1), names=(*MOLECULES[:2], *MOLECULES[3:7]), note="'-', 'NA'"),
    "19-plus-and-minus.csv": read((0, 1) * 4, ("+", "-")),
    "20-labels-as-decimals.csv": read(classes=("0", "1")),
    "21-labels-with-decimal-comma.csv": read(classes=("0", "1")),
    "22-measured-values.csv": read((0, 1, 1, 1, 0, 1, 0, 1), RANGES, note="3 of < 6.5, 5 of >= 6.5", **CUT),
    "23-measured-decimal-commas.csv": read((0, 1, 1, 1, 0, 1, 0, 1), RANGES, **CUT),
    "24-measured-with-bounds.csv": read(
        (1, 0, 0, 1, 1, 0, 1),
        RANGES,
        (*MOLECULES[:6], MOLECULES[7]),
        "in several ranges, such as '>5' (line 8)",
        **CUT,
    ),
    "25-other-column-names.csv": read(
        note="The SMILES of 25-other-column-names.csv are those of its column 'Struktur'"
    ),
    "26-no-header.csv": read(note="has no header"),
    "27-index-column.csv": read(),
    "28-salts.csv": read(
        (1, 0) * 5, names=(*ACIDS, *MOLECULES[:4], "Oc1ccccc1", "Nc1ccccc1"), note="4 lost salts", standardise=True
    ),
    "29-copies.csv": read(
        (1, 0, 0, 1, 0, 1, 0),
        names=(*MOLECULES[:2], *MOLECULES[3:]),
        note="dropped 3 copies, left out 1 molecule whose rows disagree on the label",
        dedupe=True,
    ),
    "30-names-and-smiles.smi": read(note="its column 'column 3'"),
    "31-smi-with-header.smi": read(),
    "32-properties.sdf": read((1, 0) * 3, names=(*MOLECULES[:4], "Oc1ccccc1", "Nc1ccccc1")),
    "33-packed.sdf.gz": read((1, 0) * 3, names=(*MOLECULES[:4], "Oc1ccccc1", "Nc1ccccc1")),
    "34-packed.csv.gz": read(),
    "35-mac-roman.csv": read((0, 1) * 4, GERMAN, note="read as Mac Roman"),
    "36-workbook.xlsx": read(),
    "37-workbook-with-title.xlsx": read(classes=("0", "1"), note="its sheet 'Screen', not from 'Notes'"),
}

REFUSED = {
    "38-all-problems.csv": (
        "4 rows of",
        "line 5: RDKit cannot read the SMILES 'C1CC'",
        "line 6: expected 2 cells as in the header (got 1)",
        "line 7: the SMILES is missing",
        "line 13: RDKit cannot read the SMILES 'CC('",
        "--skip-bad",
    ),
    "39-wrong-column-and-smiles.csv": (
        "line 2: the label '5.1' is not a class: it looks like a measurement",
        "--threshold",
        "And 2 rows of",
        "line 8:",
        "line 9:",
    ),
    "40-doubled-header.csv": ("2 columns are named 'label'",),
    "41-thousands.csv": ("line 2: '1,250' may have a decimal comma or one between thousands",),
    "42-no-workbook.xlsx": ("is no Excel workbook or a damaged one",),
    "43-damaged-structure.sdf": ("line 29: RDKit cannot read the structure 'compound 3'", "--skip-bad"),
    "44-unclosed-quote.csv": ("line 10: not a proper CSV row",),
    "45-workbook-called-csv.csv": ("let its name end in .xlsx",),
}


def test_the_folder_holds_what_its_script_writes() -> None:
    written = files()
    stored = {path.name: path.read_bytes() for path in FOLDER.iterdir() if path.name[:2].isdigit()}
    assert sorted(stored) == sorted(written) == sorted([*READ, *REFUSED]) and len(stored) >= 40
    assert all(len(content) < 5000 for content in stored.values())
    for name, content in stored.items():
        if not name.endswith((".gz", ".xlsx", ".sdf", "called-csv.csv")):  # whose bytes depend on zlib and RDKit
            assert content == written[name], name


@pytest.mark.parametrize("name", READ)
def test_a_messy_file_is_read_right(name: str) -> None:
    wanted = READ[name]
    data = load(FOLDER / name, **wanted["options"])
    assert data.graphs.names == wanted["names"]
    assert data.graphs.y.tolist() == list(wanted["y"]) and data.schema.class_names == wanted["classes"]
    if wanted["note"]:
        assert wanted["note"] in "\n".join(data.notes)
    same = read_csv(FOLDER / name, **wanted["options"])
    assert same.notes == data.notes and same.fingerprint() == data.fingerprint()


@pytest.mark.parametrize("name", REFUSED)
def test_a_messy_file_is_refused_with_all_that_is_wrong(name: str) -> None:
    with pytest.raises(DataError) as refused:
        load(FOLDER / name)
    for words in REFUSED[name]:
        assert words in str(refused.value)


@pytest.mark.parametrize(
    ("labels", "options", "words"),
    [
        (["D", "ND"] * 4, {}, "all its labels are 'D', but for 4 rows that have none or say 'ND'"),
        ([""] * 8, {}, "none of its 8 rows has a label"),
        (["1.5", "2.5"] * 4, {"threshold": "x"}, "Expected a number as --threshold"),
        (["1.5", "2.5"] * 4, {"threshold": 9}, "no value is >= 9"),
        (["1.5", "2.5"] * 4, {"bins": "2,1"}, "where to cut, ascending"),
        (["1.5", "2.5"] * 4, {"bins": 3}, "too many are equal"),
        (["1.5", "2.5"] * 4, {"bins": 2, "threshold": 2}, "got both"),
        (["1.5", "high"] * 4, {"threshold": 2}, "line 3: the label 'high' is no number"),
    ],
)
def test_labels_that_make_no_classes_are_refused(tmp_path: Path, labels: list[str], options: dict, words: str) -> None:
    path = tmp_path / "mols.csv"
    path.write_text("smiles,y\n" + "".join(f"{s},{y}\n" for s, y in zip(MOLECULES, labels, strict=True)))
    with pytest.raises(DataError, match=words):
        load(path, **options)


def test_values_are_cut_into_ranges_with_about_as_many_in_each_or_where_one_says(tmp_path: Path) -> None:
    path = tmp_path / "mols.csv"
    path.write_text("smiles,y\n" + "".join(f"{'C' * n},{n / 4}\n" for n in range(1, 13)))
    thirds = load(path, bins=3)
    assert thirds.schema.class_names == ("< 1.25", "1.25 to 2.25", ">= 2.25")
    assert thirds.graphs.y.bincount().tolist() == [4, 4, 4] and thirds.settled["bins"] == "1.25,2.25"
    assert (
        load(path, bins=[1, 2.5]).graphs.y.tolist()
        == load(path, bins="1,2.5").graphs.y.tolist()
        == ([0] * 3 + [1] * 6 + [2] * 3)
    )


def test_a_file_that_leaves_too_little_says_what_was_left_out(tmp_path: Path) -> None:
    path = tmp_path / "mols.csv"
    path.write_text("smiles,y\nCCO,a\nCCN,b\nCCC,n.d.\nCCF,a\nCCBr,b\nCCI,a\n")
    with pytest.raises(
        DataError, match=r"Class b has 2 molecules: line 3 \(CCN\), line 6(.|\n)*note: Left out 1 of 6 rows"
    ):
        load(path)
