"""TU folders are read as they are, and damaged ones say which file and line."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from protgnn.data.schema import DEGREES
from protgnn.data.validate import check
from protgnn.datasets.load import statistics
from protgnn.datasets.readers.tu import read_tu
from protgnn.errors import DataError

TINY = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "-1\n1\n",
    "node_labels": "0\n3\n0\n3\n3\n",
    "node_attributes": "0.5, 1\n0.5, 2\n0.5, 3\n0.5, 4\n0.5, 5\n",
    "edge_labels": "7\n7\n8\n8\n7\n7\n",
}


def folder(place: Path, **files: str | bytes | None) -> Path:
    """A TU folder called TINY with some files changed or, for None, left out."""
    for part, text in {**TINY, **files}.items():
        if text is not None:
            (place / f"TINY_{part}.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


def test_labels_become_columns_and_attributes_follow(tmp_path: Path) -> None:
    graphs, notes = read_tu(folder(tmp_path))
    assert graphs.schema.node_features == ("label=0", "label=3", "attribute0", "attribute1", *DEGREES)
    assert graphs.x[1].tolist() == [0, 1, 0.5, 2, *(float(degree == 2) for degree in range(11))]
    assert graphs.schema.edge_features == ("label=7", "label=8")
    assert graphs.edge_attr.argmax(1).tolist() == [0, 0, 1, 1, 0, 0]
    assert graphs.schema.class_names == ("-1", "1") and graphs.y.tolist() == [0, 1]
    assert graphs[1].edge_index.tolist() == [[0, 1], [1, 0]] and notes == []


def test_without_labels_and_attributes_nodes_are_described_by_degree(tmp_path: Path) -> None:
    graphs, notes = read_tu(folder(tmp_path, node_labels=None, node_attributes=None))
    assert graphs.x.argmax(1).tolist() == [1, 2, 1, 1, 1]
    assert graphs.schema.node_features == DEGREES and "degree" in notes[0]


def test_degrees_count_neighbours_once(tmp_path: Path) -> None:
    star = "".join(f"1,{leaf}\n" for leaf in range(2, 14))  # listed in one direction, one edge twice, and a loop
    nodes = "1\n" * 13
    files = {"A": star + "2,1\n1,1\n", "graph_indicator": nodes, "graph_labels": "1\n", "node_labels": nodes}
    graphs, _ = read_tu(folder(tmp_path, **files, node_attributes=None, edge_labels=None))
    assert graphs.x[:, -11:].argmax(1).tolist() == [10] + [1] * 12 and graphs.schema.node_features[-1] == "degree=10+"


def test_a_model_that_was_trained_without_degrees_gets_none(tmp_path: Path) -> None:
    known = read_tu(folder(tmp_path))[0].schema
    before = replace(known, node_features=known.node_features[:4])
    assert read_tu(tmp_path, before)[0].x.shape == (5, 4)


def test_a_model_that_wants_labels_is_not_given_zeros(tmp_path: Path) -> None:
    known = read_tu(folder(tmp_path))[0].schema
    bare = tmp_path / "bare"
    bare.mkdir()
    folder(bare, node_labels=None)
    with pytest.raises(DataError, match="missing label=0, label=3"):
        read_tu(bare, known)
    (bare / "TINY_node_attributes.txt").unlink()
    with pytest.raises(DataError, match="missing label=0, label=3, attribute0"):
        read_tu(bare, known)
    with pytest.raises(DataError, match="neither node labels nor attributes"):
        read_tu(bare, replace(known, node_features=known.node_features[:4]))


def test_nodes_of_a_graph_need_not_stand_together(tmp_path: Path) -> None:
    graphs, _ = read_tu(folder(tmp_path, graph_indicator="1\n1\n2\n1\n2\n", A="1,2\n2,1\n2,4\n4,2\n3,5\n5,3\n"))
    assert graphs.node_counts.tolist() == [3, 2]
    assert graphs.x[:, 3].tolist() == [1, 2, 4, 3, 5]
    assert graphs[0].edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert graphs[1].edge_index.tolist() == [[0, 1], [1, 0]]


def test_the_raw_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    folder(tmp_path / "raw")
    assert len(read_tu(tmp_path)[0]) == 2


def test_a_trained_model_gets_the_columns_it_knows(tmp_path: Path) -> None:
    schema = read_tu(folder(tmp_path))[0].schema
    graphs, _ = read_tu(folder(tmp_path, node_labels="3\n3\n3\n3\n3\n"), schema)
    assert graphs.x[:, :2].tolist() == [[0, 1]] * 5
    with pytest.raises(DataError, match="unknown label=9"):
        read_tu(folder(tmp_path, node_labels="3\n9\n3\n3\n3\n"), schema)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"A": None}, "no TU folder"),
        ({"graph_indicator": None}, "TINY_graph_indicator.txt: there is no such file"),
        ({"graph_labels": None}, "TINY_graph_labels.txt: there is no such file"),
        ({"A": "1, 2\n2, x\n"}, "TINY_A.txt line 2: expected 2 numbers"),
        ({"A": "1, 2\n2\n"}, "TINY_A.txt line 2: expected 2 numbers"),
        ({"A": "1, 2\n\n2, 1\n"}, "TINY_A.txt line 2: expected 2 numbers"),
        ({"A": "1, 2\n2, 99\n"}, r"TINY_A.txt line 2: edge \(2, 99\)"),
        ({"A": "1, 2\n0, 1\n"}, r"TINY_A.txt line 2: edge \(0, 1\)"),
        ({"A": "1, 2\n3, 4\n"}, "TINY_A.txt line 2: .*joins two graphs"),
        ({"A": "1, 2\n1.5, 2\n"}, "TINY_A.txt line 2: expected whole numbers"),
        ({"A": b"1, 2\n\xff\xfe\n"}, "TINY_A.txt line 2: not UTF-8"),
        ({"graph_indicator": ""}, "TINY_graph_indicator.txt is empty"),
        ({"graph_indicator": "1\n1\n1\n"}, "TINY_A.txt line 5: edge"),
        ({"graph_indicator": "1\n1\n1\n2\n3\n"}, "TINY_graph_indicator.txt line 5: graph 3"),
        ({"graph_labels": "0.37\n1\n"}, "TINY_graph_labels.txt line 1: expected whole"),
        ({"graph_labels": "nan\n1\n"}, "TINY_graph_labels.txt line 1: expected whole"),
        ({"graph_labels": "1\n"}, "TINY_graph_indicator.txt line 4: graph 2"),
        ({"graph_labels": "1\n0\n1\n"}, "graph 2 has no nodes"),
        ({"node_labels": "0\n3\n"}, "TINY_node_labels.txt: expected 5 lines"),
        ({"node_attributes": "0.5\n"}, "TINY_node_attributes.txt: expected 5 lines"),
        ({"node_attributes": "0.5, 1\n0.5\n"}, "TINY_node_attributes.txt line 2"),
        ({"node_attributes": "1\n2\n3\n4\nnan\n"}, "graph 1 has the feature nan"),
        ({"edge_labels": "7\n7\n"}, "TINY_edge_labels.txt: expected 6 lines"),
        ({"edge_labels": "7\n7\n8\n9\n7\n7\n"}, "two directions"),
    ],
)
def test_damaged_files_are_named_with_their_line(tmp_path: Path, files: dict[str, str], words: str) -> None:
    if "A" in files:
        files = {"edge_labels": None, **files}
    place = folder(tmp_path, **files)
    with pytest.raises(DataError, match=words):
        check(read_tu(place)[0], training=False)


def test_graphs_may_have_no_edges_and_then_no_edge_labels_either(tmp_path: Path) -> None:
    place = folder(tmp_path, A="", edge_labels=None)
    assert check(read_tu(place)[0], training=False)[0].edge_index.shape == (2, 0)


def test_to_predict_no_labels_are_needed_and_a_wild_graph_number_is_refused(tmp_path: Path) -> None:
    schema = read_tu(folder(tmp_path))[0].schema
    (tmp_path / "TINY_graph_labels.txt").unlink()
    assert read_tu(tmp_path, schema)[0].y is None
    (tmp_path / "TINY_graph_indicator.txt").write_text("1\n1\n1\n2\n999999999999\n")
    with pytest.raises(DataError, match=r"graph_indicator\.txt line 5"):
        read_tu(tmp_path, schema)


def test_two_datasets_in_one_folder_are_too_many(tmp_path: Path) -> None:
    folder(tmp_path)
    shutil.copy(tmp_path / "TINY_A.txt", tmp_path / "OTHER_A.txt")
    with pytest.raises(DataError, match="several TU datasets"):
        read_tu(tmp_path)


def test_mutag_keeps_its_atoms_and_bonds_and_the_figures_of_the_paper(real_data: Path) -> None:
    graphs, notes = read_tu(real_data / "MUTAG")
    assert graphs.schema.node_features == ("C", "N", "O", "F", "I", "Cl", "Br", *DEGREES)
    assert graphs.schema.edge_features == ("aromatic", "single", "double", "triple")
    assert graphs.schema.class_names == ("non-mutagen", "mutagen") and graphs.schema.kind == "molecule"
    assert torch.bincount(graphs.y).tolist() == [63, 125] and notes == []
    figures = statistics(graphs)
    assert (figures["graphs"], round(figures["nodes"]["mean"], 2), round(figures["edges"]["mean"], 2)) == (
        188,
        17.93,
        19.79,
    )
    assert check(graphs, training=True)[1] == []
