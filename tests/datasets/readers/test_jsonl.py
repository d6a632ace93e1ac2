"""JSONL graphs go out and come back the same, and a bad line is named."""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch
from hypothesis import given

from protgnn.data.graph_set import GraphSet
from protgnn.data.validate import check
from protgnn.datasets.readers.jsonl import read_jsonl, write_jsonl
from protgnn.errors import DataError
from protgnn.featurizers.molecule import from_smiles
from tests.data.random_graphs import assert_same, graph_sets, law, one_graph

GOOD = {"x": [[1.0, 2], [3, 4]], "edges": [[0, 1]], "y": "a"}


@law
@given(graph_sets())
def test_what_is_written_is_read(graphs: GraphSet) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "graphs.jsonl"
        write_jsonl(graphs, path)
        found = read_jsonl(path)
        assert [file.name for file in Path(folder).iterdir()] == ["graphs.jsonl"]
    assert_same(found, graphs)
    assert found.schema == graphs.schema


def test_molecules_keep_their_columns(tmp_path: Path) -> None:
    graphs = from_smiles(["CCO", "c1ccccc1"], torch.tensor([0, 1]), ("no", "yes"))
    write_jsonl(graphs, tmp_path / "m.jsonl")
    found = read_jsonl(tmp_path / "m.jsonl")
    assert_same(found, graphs)
    assert found.schema == graphs.schema


def test_a_failing_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text("old")
    with pytest.raises(ValueError, match="JSON"):
        write_jsonl(replace(one_graph(), x=torch.full((3, 1), float("nan"))), path)
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def read(tmp_path: Path, *items: object) -> GraphSet:
    path = tmp_path / "g.jsonl"
    path.write_text("\n".join(item if isinstance(item, str) else json.dumps(item) for item in items))
    return read_jsonl(path)


def test_the_shortest_form_is_enough(tmp_path: Path) -> None:
    graphs = read(tmp_path, {"num_nodes": 2, "edges": [[0, 1]]}, "", {"num_nodes": 1, "edges": []})
    assert graphs.x.tolist() == [[1], [1], [1]] and graphs.y is None
    assert check(graphs, training=False)[0].edge_counts.tolist() == [2, 0]


def test_labels_may_be_numbers_or_truths(tmp_path: Path) -> None:
    assert read(tmp_path, *({**GOOD, "y": y} for y in (10, 9, 10))).schema.class_names == ("9", "10")
    assert read(tmp_path, *({**GOOD, "y": y} for y in (True, False, True))).y.tolist() == [1, 0, 1]


BAD = {
    "no json": "{",
    "truncated": '{"x": [[1.0, 2], [3, 4]], "edges": [[0,',
    "deep": "[" * 100_000,
    "no object": "[1, 2]",
    "a number": "7",
    "nan": '{"x": [[NaN, 2], [3, 4]], "edges": [], "y": "a"}',
    "infinity": '{"x": [[Infinity, 2], [3, 4]], "edges": [], "y": "a"}',
    "overflow": '{"x": [[1e999, 2], [3, 4]], "edges": [], "y": "a"}',
    "huge": {**GOOD, "x": [[10**400, 2], [3, 4]]},
    "digits": '{"x": [[' + "1" * 5000 + ', 2]], "edges": [], "y": "a"}',
    "unknown key": {**GOOD, "edge_index": []},
    "no x": {"edges": [], "y": "a"},
    "text in x": {**GOOD, "x": [["1", 2], [3, 4]]},
    "flat x": {**GOOD, "x": [1, 2]},
    "ragged x": {**GOOD, "x": [[1, 2], [3]]},
    "other width": {**GOOD, "x": [[1], [3]]},
    "no nodes": {**GOOD, "x": []},
    "no edges": {"x": [[1, 2]], "y": "a"},
    "half an edge": {**GOOD, "edges": [[0]]},
    "edge out of range": {**GOOD, "edges": [[0, 2]]},
    "negative edge": {**GOOD, "edges": [[-1, 0]]},
    "float edge": {**GOOD, "edges": [[0.0, 1]]},
    "truth edge": {**GOOD, "edges": [[False, True]]},
    "edges as text": {**GOOD, "edges": "0-1"},
    "num_nodes": {**GOOD, "num_nodes": 3},
    "num_nodes huge": {"num_nodes": 10**9, "edges": [], "y": "a"},
    "half a character": '{"x": [[1, 2]], "edges": [], "y": "\\ud800"}',
    "num_nodes text": {**GOOD, "num_nodes": "2"},
    "attributes short": {**GOOD, "edge_attr": []},
    "attributes of one": {**GOOD, "edge_attr": [[1]]},
    "label list": {**GOOD, "y": [1]},
    "label null": {**GOOD, "y": None},
    "label empty": {**GOOD, "y": ""},
    "name": {**GOOD, "name": 3},
    "targets": {**GOOD, "targets": [5]},
    "three targets": {**GOOD, "targets": [0, 1, 0]},
    "truth short": {**GOOD, "node_mask": [True]},
    "late schema": {"schema": {}},
    "text in truth": {**GOOD, "node_mask": ["yes", "no"]},
    "truth in x": {**GOOD, "x": [[True, 2], [3, 4]]},
    "two masks": {**GOOD, "node_mask": [True, False], "node_truth": [True, False]},
}


@pytest.mark.parametrize("item", BAD.values(), ids=BAD.keys())
def test_a_bad_line_is_named(tmp_path: Path, item: object) -> None:
    with pytest.raises(DataError, match=r"g\.jsonl line 2\b"):
        read(tmp_path, GOOD, item, GOOD)


@pytest.mark.parametrize("values", [7, {"kind": "fish"}, {"other": 1}, {"class_names": "ab"}, {"class_names": [1]}])
def test_a_bad_schema_is_refused(tmp_path: Path, values: object) -> None:
    with pytest.raises(DataError, match=r"g\.jsonl line 1: "):
        read(tmp_path, {"schema": values}, GOOD)


def test_files_without_graphs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="empty"):
        read(tmp_path, "")
    with pytest.raises(DataError, match="no graphs"):
        read(tmp_path, {"schema": {}})
    with pytest.raises(DataError, match="looks like a measurement"):
        read(tmp_path, {**GOOD, "y": 0.37}, GOOD | {"y": 1.0})


def test_files_of_older_versions_call_the_mask_node_truth(tmp_path: Path) -> None:
    old = read(tmp_path, {**GOOD, "node_truth": [True, False]}, {**GOOD, "node_truth": [0, 1]})
    assert old.node_mask.tolist() == [True, False, False, True]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ({**GOOD, "colour": 1}, "unknown key 'colour': the keys are x, num_nodes, edges, y"),
        ({**GOOD, "x": [["1", 2], [3, 4]]}, "expected `x` to be a list with a list of finite numbers for every node"),
        ({**GOOD, "edges": [[0]]}, "expected `edges` to be a list of pairs of node numbers"),
        ({"x": [[1, 2]], "y": "a"}, "expected `edges` to be a list of pairs of node numbers"),
        ({**GOOD, "edges": [[0, 2]]}, r"edge \[0, 2\] but the nodes are 0 to 1: number the nodes from 0"),
        ({**GOOD, "num_nodes": "2"}, r"expected `num_nodes` to be a whole number up to 10000000 \(got 2\)"),
        ({**GOOD, "edge_attr": []}, "`edge_attr` to be a list of finite numbers for each of the 1 edges"),
        ({**GOOD, "targets": [0, 1, 0]}, "expected `targets` to be a list of one or two node numbers"),
        ({**GOOD, "y": [1]}, r"expected `y` to be a class, a text or whole number \(got \[1\]\)"),
        ({**GOOD, "node_truth": ["x", "y"]}, "expected `node_mask` to be true or false for each of the nodes"),
        ("{", r"not a JSON object \(.*\): write one graph per line"),
        ("[1]", r"expected a JSON object \{…\} \(got list\)"),
        ('{"y": "\\ud800"}', "half a character"),
        ('{"x": [[NaN, 2]], "edges": []}', "expected `x` to be a list with a list of finite numbers"),
    ],
)
def test_a_message_says_what_to_write(tmp_path: Path, item: object, words: str) -> None:
    with pytest.raises(DataError, match=rf"g\.jsonl line 2: .*{words}"):
        read(tmp_path, GOOD, item)
