"""Files of raw sentences: which column is read, and a message with file and line for what cannot be."""

import pytest

import protgnn
from protgnn.datasets.readers.sentences import MOST_LETTERS, read_lines
from protgnn.errors import DataError
from tests.sentences import BAD, GOOD, needs_spacy, needs_vectors

pytestmark = [needs_spacy, needs_vectors]


def csv(header: str = "text,label") -> str:
    rows = [f'"a {word}, fine film",{label}' for label, words in (("good", GOOD), ("bad", BAD)) for word in words]
    return "\n".join([header, *rows]) + "\n"


@pytest.mark.parametrize("column", ["text", "sentence", "Review", "tweet"])
def test_a_column_of_sentences_is_recognised_by_its_name(tmp_path, parser, column):
    path = tmp_path / "a.csv"
    path.write_text(csv(f"{column},label"))
    data = protgnn.load(path)
    assert data.schema.kind == "sentence" and data.schema.class_names == ("bad", "good")
    assert data.graphs.names[0] == "a gripping , fine film"


def test_columns_may_be_named(tmp_path, parser):
    path = tmp_path / "a.csv"
    path.write_text(csv("said,mood"))
    with pytest.raises(DataError, match=r"line 1: which column holds the SMILES or sentences\?.*--smiles .*or --text"):
        protgnn.load(path)
    data = protgnn.load(path, text="said", label="mood")
    assert data.fingerprint() == protgnn.read_csv(path, text="said", label="mood").fingerprint()
    with pytest.raises(DataError, match=r"with one of --smiles .* or --text"):
        protgnn.load(path, smiles="said", text="said")


def test_a_column_of_smiles_comes_first(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("smiles,text,label\n" + "".join(f"{'C' * n},word,{n % 2}\n" for n in range(1, 9)))
    assert protgnn.load(path).schema.kind == "molecule"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (",good", "the sentence is missing"),
        ("  ,good", "the sentence is missing"),
        ("a film,good,really", "expected 2 cells"),
        (f"{'film ' * MOST_LETTERS},good", "at most 20000 can be read"),
    ],
)
def test_rows_that_cannot_be_read_are_named_or_skipped(tmp_path, parser, row, message):
    path = tmp_path / "a.csv"
    path.write_text(csv() + row + "\na fine film,good\n")
    with pytest.raises(DataError, match=rf"a\.csv line 10: .*{message}.*--skip-bad"):
        protgnn.load(path)
    data = protgnn.load(path, skip_bad=True)
    assert len(data.graphs) == 9 and "Skipped 1 of 10 rows" in data.notes[0]


def test_a_text_has_a_sentence_in_each_line(tmp_path, parser):
    path = tmp_path / "a.txt"
    path.write_text("a fine film\n\n  Not so fine, this one.  \n")
    graphs, notes = read_lines(path)
    assert graphs.names == ("a fine film", "Not so fine , this one .") and notes == [] and graphs.y is None
