"""A network from nodes.csv and edges.csv, and a message with file and line for each way it may be wrong."""

import csv
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given

from protgnn.data.network.network import Network
from protgnn.data.schema import Schema
from protgnn.datasets.readers.network_csv import NetworkColumns, NetworkData, is_network_folder, read_network_folder
from protgnn.errors import DataError
from tests.data.network.random_networks import edge_pairs, networks
from tests.data.random_graphs import law

NODES = """id,age,colour,label,split
a7,1.5,red,good,train
b-2,2,blue,bad,train
Ωmega,3,red,good,valid
"d, d",4e-1,,bad,test
5,5,red,,
"""
EDGES = """source,target,weight
a7,b-2,0.5
Ωmega,a7,2
"d, d",5,1
"""


def read(folder: Path, nodes: str | bytes = NODES, edges: str | bytes = EDGES, **more: object) -> NetworkData:
    for name, text in (("nodes.csv", nodes), ("edges.csv", edges)):
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_network_folder(folder, **more)


def as_written(network: Network) -> torch.Tensor:
    """Features before they were centred and scaled."""
    centre, spread = torch.tensor(network.schema.node_scale).unbind(1)
    return network.x * spread + centre


def test_numbers_are_centred_and_scaled_and_kinds_are_not(tmp_path):
    network = read(tmp_path).network
    age, colours = network.x[:, 0], network.x[:, 1:]
    assert float(age.mean()) == pytest.approx(0, abs=1e-6) and float(age.std(correction=0)) == pytest.approx(1)
    assert set(colours.flatten().tolist()) == {0.0, 1.0}


def test_ids_of_any_kind_features_labels_and_split(tmp_path):
    data = read(tmp_path)
    network = data.network
    assert network.names == ("a7", "b-2", "Ωmega", "d, d", "5")
    assert network.schema.node_features == ("age", "colour=blue", "colour=red")
    age, *colours = as_written(network).t().tolist()
    assert age == pytest.approx([1.5, 2, 3, 0.4, 5]) and colours == [[0, 1, 0, 0, 0], [1, 0, 1, 0, 1]]
    assert network.schema.class_names == ("bad", "good") and network.y.tolist() == [1, 0, 1, 0, -1]
    split = data.given_split
    assert [split.train.tolist(), split.valid.tolist(), split.test.tolist()] == [[0, 1], [2], [3]]
    assert set(edge_pairs(network)) == {(0, 1), (1, 0), (2, 0), (0, 2), (3, 4), (4, 3)}
    assert network.schema.edge_features == ("weight",)
    ((centre, spread),) = network.schema.edge_scale
    assert (network.edge_attr.flatten() * spread + centre).tolist() == pytest.approx([0.5, 2, 0.5, 2, 1, 1])
    assert any("empty: of no kind" in note for note in data.notes)


def test_edges_may_have_a_direction(tmp_path):
    network = read(tmp_path, directed=True).network
    assert network.directed and set(edge_pairs(network)) == {(0, 1), (2, 0), (3, 4)}


def test_an_edge_that_is_listed_several_times_has_the_mean_of_its_features(tmp_path):
    twice = EDGES + "a7,b-2,7\nb-2,a7,1.5\n"
    data = read(tmp_path, edges=twice)
    ((centre, spread),) = data.network.schema.edge_scale
    weight = dict(zip(edge_pairs(data.network), (data.network.edge_attr[:, 0] * spread + centre).tolist(), strict=True))
    assert weight[0, 1] == pytest.approx(3) and weight[1, 0] == weight[0, 1] and weight[2, 0] == pytest.approx(2)
    assert any(note.startswith("1 edges of edges.csv are listed several times") for note in data.notes)
    directed = read(tmp_path, edges=twice, directed=True).network
    weight = dict(zip(edge_pairs(directed), (directed.edge_attr[:, 0] * spread + centre).tolist(), strict=True))
    assert weight[0, 1] == pytest.approx(3.75) and weight[1, 0] == pytest.approx(1.5)


def test_empty_numbers_and_spellings_of_a_class_are_repaired_and_told(tmp_path):
    data = read(tmp_path, NODES.replace("b-2,2,", "b-2,n.d.,").replace("good", "Good", 1))
    assert data.network.schema.node_features[:2] == ("age", "missing=age")
    assert data.network.x[:, 1].tolist() == [0, 1, 0, 0, 0]
    assert data.network.x[1, 0] == pytest.approx(0, abs=1e-6)  # the mean, centred
    assert len(data.network.schema.class_names) == 2
    assert any("one class: " in note for note in data.notes)


def test_columns_may_be_called_otherwise(tmp_path):
    nodes = "key;mark;code;use\nx;p;1;train\ny;q;2;val\nz;p;1;test\nw;q;1;training\n"
    edges = "one\ttwo\nx\ty\ny\tz\n"
    columns = NetworkColumns("key", "mark", "use", "one", "two", kinds=("code",))
    data = read(tmp_path, nodes, edges, columns=columns)
    assert data.network.schema.node_features == ("code=1", "code=2")
    assert data.given_split.train.tolist() == [0, 3]
    assert data.network.edge_attr is None


def test_tables_with_tabs_are_found_by_their_ending(tmp_path):
    assert not is_network_folder(tmp_path)
    (tmp_path / "nodes.tsv").write_text("id\tage\na\t1\nb\t2\n")
    (tmp_path / "edges.tsv").write_text("from\tto\na\tb\n")
    assert is_network_folder(tmp_path)
    data = read_network_folder(tmp_path)
    assert data.network.num_edges == 2 and data.network.y is None and data.given_split is None


def test_nodes_without_features_get_a_constant(tmp_path):
    network = read(tmp_path, "id,label\na,1\nb,0\nc,1\n", "u,v\na,b\n").network
    assert network.x.tolist() == [[1], [1], [1]] and network.schema.class_names == ("0", "1")


def test_another_file_is_read_as_the_model_knows_it(tmp_path):
    schema = read(tmp_path).network.schema
    nodes = "id,colour,age,extra\nn,blue,7,?\nm,,8,?\n"
    data = read(tmp_path, nodes, "source,target,weight\nn,m,3\n", schema=schema)
    torch.testing.assert_close(as_written(data.network), torch.tensor([[7.0, 1, 0], [8, 0, 0]]))
    assert data.network.schema == schema == Schema.from_json(json.loads(json.dumps(schema.to_json())))
    assert data.network.y is None and any("extra" in note for note in data.notes)
    labelled = "id,colour,age,label\nn,blue,7,good\nm,,8,\n"
    assert read(tmp_path, labelled, "source,target,weight\nn,m,3\n", schema=schema).network.y.tolist() == [1, -1]
    with pytest.raises(DataError, match=r"nodes\.csv line 2: the label 'ugly' is not a class of this model"):
        read(tmp_path, labelled.replace("good", "ugly"), "source,target,weight\nn,m,3\n", schema=schema)
    with pytest.raises(DataError, match=r"edges\.csv has no column 'weight'"):
        read(tmp_path, nodes, "source,target\nn,m\n", schema=schema)


def write(network: Network, folder: Path) -> None:
    """The network as two tables."""
    with (folder / "nodes.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "a", "b", "c", "label"])
        for node, (x, y) in enumerate(zip(network.x.tolist(), network.y.tolist(), strict=True)):
            rows.writerow([f"n{node}", *map(repr, x), f"class {y}"])
    attr = None if network.edge_attr is None else network.edge_attr.tolist()
    with (folder / "edges.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["source", "target", *([] if attr is None else ["e", "f"])])
        for number, (source, target) in enumerate(edge_pairs(network)):
            rows.writerow([f"n{source}", f"n{target}", *([] if attr is None else map(repr, attr[number]))])


@law
@given(networks().filter(lambda network: network.num_edges > 0))
def test_what_is_written_is_read(network):
    network = replace(network, y=network.y % 2)
    with tempfile.TemporaryDirectory() as folder:
        write(network, Path(folder))
        found = read_network_folder(folder, directed=network.directed).network
    assert torch.equal(network.ptr, found.ptr) and torch.equal(network.source, found.source)
    torch.testing.assert_close(as_written(found), network.x, rtol=1e-4, atol=1e-5)
    assert (network.edge_attr is None) == (found.edge_attr is None)
    if network.edge_attr is not None:
        centre, spread = torch.tensor(found.schema.edge_scale).unbind(1)
        torch.testing.assert_close(found.edge_attr * spread + centre, network.edge_attr, rtol=1e-4, atol=1e-5)
    classes = [f"class {number}" for number in network.y.tolist()]
    assert [found.schema.class_names[number] for number in found.y.tolist()] == classes


BAD_NODES = {
    "empty": ("", r"nodes\.csv is empty"),
    "header only": ("id,age,label\n", r"nodes\.csv has a header \(id, age, label\) but no rows"),
    "binary": (b"id,age\na,\0\n", r"nodes\.csv line 2: holds a NUL byte"),
    "quotes": (NODES.replace('"d, d"', '"d, d"x'), r"nodes\.csv line 5: not a proper CSV row"),
    "no id column": (NODES.replace("id,", "key,"), r"nodes\.csv line 1: which column holds the ids\?"),
    "duplicate id": (NODES.replace("b-2", "a7"), r"nodes\.csv line 3: the id 'a7' is that of line 2 already"),
    "no id": (NODES.replace("b-2", " "), r"nodes\.csv line 3: the id is missing"),
    "short row": (NODES.replace("b-2,2,", "b-2,"), r"nodes\.csv line 3: .*\(got 4 of 5 cells\)"),
    "blank row": (NODES.replace("b-2", "\nb-2"), r"nodes\.csv line 3: .*\(got an empty row\)"),
    "no column name": (NODES.replace("age", ""), r"nodes\.csv line 1: column 2 has no name"),
    "same column name": (NODES.replace("age", "colour"), r"nodes\.csv line 1: 2 columns are named 'colour'"),
    "equals sign": (NODES.replace("age", "age=x"), r"nodes\.csv line 1: the column name 'age=x'"),
    "text among numbers": (NODES.replace("b-2,2,", "b-2,two,"), r"nodes\.csv line 3: expected a number in .*'age'"),
    "no label": (NODES.replace("good", "").replace("bad", ""), r"nodes\.csv: the label column 'label' is empty"),
    "measurement": (NODES.replace("good", "0.5").replace("bad", "0.7"), "looks like a measurement"),
    "unknown part": (NODES.replace("valid", "maybe"), r"nodes\.csv line 4: expected train, valid, test or nothing"),
    "empty part": (NODES.replace("valid", "train"), r"nodes\.csv: the column 'split' leaves no node to the part valid"),
    "class only in test": (
        NODES.replace("bad,test", "odd,test"),
        r"nodes\.csv: the column 'split' leaves no node of class odd to train on, though the part test has some, "
        "such as d, d",
    ),
    "part without label": (NODES.replace("red,,", "red,,test"), "puts 5 into the part test, but it has no label"),
}


@pytest.mark.parametrize(("text", "message"), BAD_NODES.values(), ids=BAD_NODES.keys())
def test_bad_nodes_are_named(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, text)


def test_both_files_must_be_there(tmp_path):
    with pytest.raises(DataError, match=r"nodes\.csv: there is no such file"):
        read_network_folder(tmp_path)
    (tmp_path / "nodes.csv").write_text(NODES)
    with pytest.raises(DataError, match=r"edges\.csv: there is no such file"):
        read_network_folder(tmp_path)


BAD_EDGES = {
    "empty": ("", r"edges\.csv is empty"),
    "header only": ("source,target\n", r"edges\.csv has a header \(source, target\) but no rows"),
    "unknown source": (EDGES.replace("Ωmega", "omega"), r"edges\.csv line 3: the source 'omega' is no node of nodes"),
    "unknown target": (EDGES.replace(",5,", ",6,"), r"edges\.csv line 4: the target '6' is no node of nodes\.csv"),
    "no source": (EDGES.replace("source", "start"), r"edges\.csv line 1: which column holds the source of an edge\?"),
    "no target": (EDGES.replace("target", "end"), r"edges\.csv line 1: which column holds the target of an edge\?"),
    "short row": (EDGES.replace(",0.5", ""), r"edges\.csv line 2: .*\(got 2 of 3 cells\)"),
}


@pytest.mark.parametrize(("text", "message"), BAD_EDGES.values(), ids=BAD_EDGES.keys())
def test_bad_edges_are_named(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, edges=text)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (NetworkColumns(id="key"), "nodes.csv has no column 'key'.*Choose one with `id`"),
        (NetworkColumns(label="klass"), "nodes.csv has no column 'klass'"),
        (NetworkColumns(split="fold"), "nodes.csv has no column 'fold'"),
        (NetworkColumns(source="start"), "edges.csv has no column 'start'"),
        (NetworkColumns(kinds=("shape",)), "has a feature column 'shape'"),
    ],
)
def test_columns_asked_for_by_name_must_exist(tmp_path, columns, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, columns=columns)
