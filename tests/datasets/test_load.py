"""Datasets by name and path, their figures, and new input for a trained model."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from protgnn.data.schema import Schema
from protgnn.datasets.load import Dataset, catalogue, fingerprint, load, read_csv, read_for_prediction, statistics
from protgnn.datasets.new_input import conform
from protgnn.datasets.readers.jsonl import write_jsonl
from protgnn.errors import DataError
from tests.data.random_graphs import assert_same

CSV = "smiles,label\n" + "".join(
    f"{'C' * (number + 1)}{end},{label}\n" for number in range(10) for end, label in (("O", "alcohol"), ("N", "amine"))
)


@pytest.fixture(scope="module")
def solubility() -> Dataset:
    return load("solubility")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.csv"
    path.write_text(CSV)
    return path


def test_solubility_is_embedded(solubility: Dataset) -> None:
    figures = statistics(solubility.graphs)
    assert figures["graphs"] == 1282 and figures["classes"] == {"low": 519, "medium": 517, "high": 246}
    assert [len(part) for part in (solubility.train, solubility.valid, solubility.test)] == [1029, 127, 126]
    assert solubility.notes == []


def test_the_split_of_the_source_is_an_option(solubility: Dataset) -> None:
    given = solubility.with_split("given")
    assert len(given.test) == 257 and len(given.train) + len(given.valid) == 1025
    assert given.test.names == solubility.graphs.names[1025:]
    assert given.graphs is solubility.graphs


def test_a_split_can_be_replaced(solubility: Dataset) -> None:
    other = solubility.with_split("random", 7)
    assert other.test.names != solubility.test.names
    assert len(solubility.with_split("scaffold").train) == round(0.8 * 1282)
    with pytest.raises(DataError, match="without a split of its own"):
        replace(solubility, given_split=None).with_split("given")


@pytest.mark.parametrize(("name", "figures"), [("mutag", (188, 17.93, 19.79)), ("bbbp", (2039, 24.06, 25.95))])
def test_the_figures_are_those_of_the_papers_appendix(real_data: Path, name: str, figures: tuple) -> None:
    found = statistics(load(name).graphs)
    assert (found["graphs"], round(found["nodes"]["mean"], 2), round(found["edges"]["mean"], 2)) == figures


def test_bbbp_tells_which_rows_it_left_out(real_data: Path) -> None:
    data = load("bbbp")
    assert "Skipped 11 of 2050" in data.notes[0]
    assert data.graphs.schema.class_names == ("non-penetrating", "penetrating")


def test_benzene_knows_its_true_atoms(real_data: Path) -> None:
    graphs = load("benzene").graphs
    owner = torch.arange(len(graphs)).repeat_interleave(graphs.node_counts)
    marked = torch.bincount(owner[graphs.node_mask], minlength=len(graphs))
    assert len(graphs) == 12_000 and torch.equal(marked > 0, graphs.y == 1)
    assert graphs.schema.class_names == ("no benzene", "benzene")


def test_generated_names_load() -> None:
    assert load("motif-molecules:nitro").graphs.schema.class_names == ("no nitro", "nitro")
    assert load("BA-2Motifs").name == "ba-2motifs"
    assert load("Motif-Molecules:amide+ester").graphs.schema.class_names == (
        "not both amide and ester",
        "amide and ester",
    )
    assert load("motif-molecules:!nitro").graphs.schema.class_names == ("nitro", "no nitro")


def test_a_path_wins_over_a_name(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own.rename(own.parent / "solubility")
    monkeypatch.chdir(own.parent)
    with pytest.raises(DataError, match="expected a file that ends in"):
        load("solubility")


def test_a_csv_is_a_dataset(own: Path) -> None:
    data = load(own)
    assert data.name == "own" and data.graphs.schema.class_names == ("alcohol", "amine")
    assert_same(read_csv(own).graphs, data.graphs)


def test_the_data_folder_is_searched_by_name(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROTGNN_DATA", str(own.parent))
    assert len(load("OWN").graphs) == 20
    monkeypatch.setenv("PROTGNN_DATA", str(own))
    with pytest.raises(DataError, match="is no folder"):
        load("OWN")


def test_written_graphs_are_a_dataset(own: Path, tmp_path: Path) -> None:
    graphs = load(own).graphs
    write_jsonl(graphs, tmp_path / "own.jsonl")
    assert_same(load(tmp_path / "own.jsonl").graphs, graphs)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("solubilty", "Did you mean solubility"),
        ("motif-molecules:amid", "Did you mean motif-molecules:amide"),
        ("motif-molecules:amide+gold", "Unknown motif 'gold'"),
        ("nothing-like-it-42", "Known names: solubility"),
        ("some/where.csv", "no such file or folder"),
        ("missing.jsonl", "no such file or folder"),
        ("~nobody-here/x", "no such file"),
        ("a\0b", "No dataset"),
        ("x" * 5000, "No dataset"),
    ],
)
def test_a_name_that_is_not_known_says_what_is(name: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        load(name)


def test_without_the_file_benzene_says_where_to_put_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROTGNN_DATA", raising=False)
    with pytest.raises(DataError, match="set PROTGNN_DATA"):
        load("benzene")


def test_the_catalogue_tells_what_is_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PROTGNN_DATA", raising=False)
    here = {entry.name: entry.available for entry in catalogue()}
    assert here["solubility"] and here["ba-2motifs"] and here["motif-molecules"] and not here["mutag"]
    (tmp_path / "MUTAG").mkdir()
    monkeypatch.setenv("PROTGNN_DATA", str(tmp_path))
    assert {entry.name: entry.available for entry in catalogue()}["mutag"]


def test_the_fingerprint_changes_with_the_data_only(own: Path) -> None:
    graphs = load(own).graphs
    assert fingerprint(graphs) == fingerprint(load(own).graphs)
    assert fingerprint(graphs) != fingerprint(graphs[1:])
    assert fingerprint(graphs) != fingerprint(replace(graphs, y=1 - graphs.y))


def test_statistics_are_json(solubility: Dataset) -> None:
    assert json.loads(json.dumps(statistics(solubility.graphs)))["nodes"]["min"] >= 1


def test_importing_the_registry_takes_no_chemistry_along() -> None:
    code = "import sys, protgnn.datasets.load; sys.exit(bool({'rdkit', 'pandas'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_new_molecules_come_in_every_form(own: Path, tmp_path: Path) -> None:
    graphs = load(own).graphs
    assert_same(read_for_prediction(own, graphs.schema), graphs)
    assert read_for_prediction("CCO", graphs.schema).names == ("CCO",)
    (tmp_path / "new.smi").write_text("CCO ethanol\nCC\n")
    assert read_for_prediction(tmp_path / "new.smi", graphs.schema).names == ("CCO", "CC")
    (tmp_path / "new.csv").write_text("id,smiles\n1,CCO\n2,CC\n")
    assert read_for_prediction(tmp_path / "new.csv", graphs.schema).y is None
    write_jsonl(graphs, tmp_path / "new.jsonl")
    assert_same(read_for_prediction(tmp_path / "new.jsonl", graphs.schema), graphs)


def test_labels_of_new_molecules_must_be_classes_of_the_model(tmp_path: Path, own: Path) -> None:
    schema = load(own).graphs.schema
    new = tmp_path / "new.csv"
    new.write_text("smiles,label\nCCO,amine\nCC,alkane\n")
    with pytest.raises(DataError, match=r"new\.csv line 3: the label 'alkane' .*alcohol, amine"):
        read_for_prediction(new, schema)
    new.write_text("smiles,label\nCCO,1\nCC,0\n")
    assert read_for_prediction(new, schema).y.tolist() == [1, 0]
    new.write_text("smiles,label\nCCO,\nCC,amine\n")
    assert read_for_prediction(new, schema).y is None


def test_bad_rows_of_new_molecules_are_told_when_skipped(tmp_path: Path, own: Path) -> None:
    new, heard = tmp_path / "new.csv", []
    new.write_text("smiles\nCCO\nC(\n")
    graphs = read_for_prediction(new, load(own).graphs.schema, skip_bad=True, say=heard.append)
    assert len(graphs) == 1 and "Skipped 1 of 2" in heard[0]


@pytest.mark.parametrize(
    ("source", "words"),
    [("no such thing", "neither a file nor a SMILES"), ("none.csv", "no such file"), ("", "TU folder")],
)
def test_input_that_is_nothing_is_refused(source: str, words: str, own: Path) -> None:
    with pytest.raises(DataError, match=words):
        read_for_prediction(source, load(own).graphs.schema)


def test_input_of_another_shape_is_refused(own: Path, tmp_path: Path) -> None:
    graphs = load(own).graphs
    narrow = Schema(class_names=("alcohol", "amine"), node_features=("x0",), edge_features=())
    with pytest.raises(DataError, match="SMILES have none"):
        read_for_prediction("CCO", narrow)
    write_jsonl(graphs, tmp_path / "own.jsonl")
    with pytest.raises(DataError, match="1 node features and this input has"):
        read_for_prediction(tmp_path / "own.jsonl", narrow)
    renamed = replace(graphs.schema, node_features=("heft", *graphs.schema.node_features[1:]))
    with pytest.raises(DataError, match="such as heft against element=C"):
        conform(graphs, renamed)


def test_classes_are_renumbered_to_those_of_the_model(own: Path) -> None:
    graphs = load(own).graphs
    turned = replace(graphs.schema, class_names=("thiol", "amine", "alcohol"))
    assert conform(graphs, turned).y[:2].tolist() == [2, 1]
    with pytest.raises(DataError, match="'alcohol' is unknown"):
        conform(graphs, replace(graphs.schema, class_names=("amine",)))
