"""Formats say of themselves what they read; a new one is one module and nothing else."""

from pathlib import Path

import pytest
import torch

from protgnn.data.schema import Schema
from protgnn.datasets import load as loading
from protgnn.datasets.load import load
from protgnn.datasets.new_input import read_for_prediction
from protgnn.datasets.readers import reader as registry
from protgnn.datasets.readers.reader import Loaded, Reader, ReadOptions, Source, endings, refuse_options, to_predict
from protgnn.errors import DataError
from protgnn.featurizers.molecule import from_smiles, molecule_schema, parse
from protgnn.featurizers.sentence import sentence_schema
from protgnn.io import tables

CSV = "smiles,label\n" + "".join(f"{'C' * n}O,a\n{'C' * n}N,b\n" for n in range(1, 6))


def test_every_format_is_found() -> None:
    assert {reader.what for reader in registry.readers()} == {
        "a CSV of molecules",
        "a text of SMILES",
        "a text of SMILES with names",
        "an SDF",
        "an Excel sheet of molecules",
        "an Excel sheet of sentences",
        "a CSV of sentences",
        "a Parquet file of molecules",
        "a Parquet file of sentences",
        "a text of sentences",
        "a CoNLL-U file",
        "a JSONL file",
        "a TU folder",
    }
    tables = {".csv", ".tsv", ".csv.gz", ".tsv.gz", ".xlsx", ".sdf", ".sdf.gz", ".smi", ".smi.gz", ".parquet"}
    assert set(endings(training=True)) == {*tables, ".jsonl", ".conllu", ".conllu.gz"}
    assert set(endings(training=False)) - set(endings(training=True)) == {".txt"}


def test_a_new_format_needs_a_reader_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(source: Source) -> Loaded:
        names, labels = zip(*(line.split() for line in source.path.read_text().splitlines()), strict=True)
        return Loaded(from_smiles(names, torch.tensor([int(label) for label in labels]), ("a", "b")))

    new = Reader(
        what="a file of pairs",
        suffixes=(".pairs",),
        options=frozenset({"skip-bad"}),
        read=read,
        read_new=lambda source, schema, labels: (read(source).graphs, []),
    )
    known = registry._all()
    monkeypatch.setattr(registry, "_all", lambda: (*known, new))
    path = tmp_path / "mine.pairs"
    path.write_text("".join(f"{'C' * n}O 0\n{'C' * n}N 1\n" for n in range(1, 6)))
    data = load(path, skip_bad=True)
    assert len(data.graphs) == 10
    assert len(read_for_prediction(path, data.schema)) == 10
    with pytest.raises(DataError, match=r"leave --label out, which is for .*a CoNLL-U file"):
        load(path, label="x")
    (tmp_path / "mine.xyz").write_text("x")
    with pytest.raises(DataError, match=r"ends in .*\.pairs"):
        load(tmp_path / "mine.xyz")


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("a.jsonl", ReadOptions(smiles="s"), "leave --smiles out, which is for .*a CSV of molecules"),
        ("a.jsonl", ReadOptions(text="t"), "leave --text out, which is for .*a CSV of sentences"),
        ("a.txt", ReadOptions(label="y"), "leave --label out, which is for .*a CSV of molecules"),
        ("a.pt", ReadOptions(skip_bad=True), "leave --skip-bad out, which is for .*a CSV of molecules"),
        ("a.conllu", ReadOptions(standardise=True), "leave --standardise out, which is for .*an SDF"),
    ],
)
def test_options_are_refused_where_a_format_does_not_take_them(name: str, options: ReadOptions, words: str) -> None:
    with pytest.raises(DataError, match=words):
        refuse_options(Path(name), options)


def test_options_are_taken_where_a_format_takes_them() -> None:
    refuse_options(Path("a.csv"), ReadOptions(smiles="s", label="y", skip_bad=True))
    refuse_options(Path("a.csv"), ReadOptions(text="t"))
    refuse_options(Path("a.conllu.gz"), ReadOptions(label="y", skip_bad=True))
    refuse_options(Path("a.txt"), ReadOptions(skip_bad=True))


def test_the_model_decides_between_formats_of_one_ending() -> None:
    assert to_predict(Path("new.csv"), molecule_schema()).what == "a CSV of molecules"
    assert to_predict(Path("new.csv"), sentence_schema()).what == "a CSV of sentences"
    assert to_predict(Path("new.txt"), sentence_schema()).what == "a text of sentences"
    assert to_predict(Path("new.csv"), Schema()).what == "a CSV of molecules"


def test_a_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, opened = tmp_path / "own.csv", []
    path.write_text(CSV)
    real = tables.read_text
    monkeypatch.setattr(tables, "read_text", lambda *given: opened.append(given[0]) or real(*given))
    loading.load(path)
    assert opened == [path]


def test_a_molecule_is_parsed_once_and_its_object_is_shared() -> None:
    assert parse("CCOC(=O)c1ccccc1") is parse("CCOC(=O)c1ccccc1")
    assert parse.cache_info().maxsize is not None


def test_drawing_and_naming_leave_a_shared_molecule_as_it_was() -> None:
    from rdkit.Chem import MolToMolBlock

    from protgnn.datasets.splits import scaffold
    from protgnn.explain.to_rdkit import to_rdkit
    from protgnn.viz.molecules import draw_molecule

    smiles = "C[C@H](N)Cc1ccc(O)cc1"
    before = MolToMolBlock(parse(smiles))
    mol = to_rdkit(from_smiles([smiles]))
    assert mol is not parse(smiles)
    draw_molecule(mol, [0, 1])
    draw_molecule(parse(smiles), [0, 1])
    scaffold(smiles)
    assert MolToMolBlock(parse(smiles)) == before and not parse(smiles).GetNumConformers()
