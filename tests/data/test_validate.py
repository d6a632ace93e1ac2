"""Checked graphs are canonical; what cannot be repaired is refused by the number of its graph."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from torch_geometric.utils import to_undirected

from protgnn.data.batch import offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.data.validate import check, check_class_sizes
from protgnn.errors import DataError
from tests.data.random_graphs import assert_same, graph_sets, law, one_graph


def labelled(y: list[float], **changes: object) -> GraphSet:
    graphs = GraphSet.concatenate([one_graph([(0, 1), (1, 0)])] * len(y))
    return replace(graphs, y=torch.tensor(y), **changes)


@law
@given(graph_sets())
def test_edges_come_out_as_pyg_makes_them_undirected(graphs: GraphSet) -> None:
    found, _ = check(replace(graphs, edge_attr=None), training=False)
    for one, other in zip(found, graphs, strict=True):
        plain = other.edge_index[:, other.edge_index[0] != other.edge_index[1]]
        wanted = to_undirected(plain, num_nodes=len(other.x))
        order = (wanted[1] * len(other.x) + wanted[0]).argsort()
        assert torch.equal(one.edge_index, wanted[:, order])
        assert torch.equal(one.x, other.x)


@law
@given(graph_sets(undirected=True))
def test_canonical_graphs_pass_unchanged_and_without_a_word(graphs: GraphSet) -> None:
    found, notes = check(graphs, training=False)
    assert_same(found, graphs)
    assert notes == []


@law
@given(graph_sets())
def test_checking_twice_changes_nothing_more(graphs: GraphSet) -> None:
    once, _ = check(replace(graphs, edge_attr=None), training=False)
    twice, notes = check(once, training=False)
    assert_same(twice, once)
    assert notes == []


def test_repaired_edges_are_reported() -> None:
    _, notes = check(one_graph([(0, 0), (0, 1), (0, 1), (1, 0), (1, 2)]), training=False)
    assert [note.split(" in ")[0] for note in notes] == [
        "Dropped 1 self-loops",
        "Dropped 1 duplicate edges",
        "Mirrored 1 edges given",
    ]
    assert all("graph 0" in note for note in notes)


def test_a_mirrored_edge_keeps_its_attributes() -> None:
    found, _ = check(one_graph([(2, 1), (0, 1)], attr=[[2.0], [7.0]]), training=False)
    assert found.edge_index.tolist() == [[1, 0, 2, 1], [0, 1, 1, 2]]
    assert found.edge_attr.tolist() == [[7.0], [7.0], [2.0], [2.0]]


@pytest.mark.parametrize(("edges", "words"), [([(0, 1), (0, 1)], "twice"), ([(0, 1), (1, 0)], "two directions")])
def test_one_edge_cannot_have_two_attributes(edges: list[tuple[int, int]], words: str) -> None:
    with pytest.raises(DataError, match=f"graph 0: the .*{words}"):
        check(one_graph(edges, attr=[[1.0], [2.0]]), training=False)


def test_isolated_nodes_and_graphs_without_edges_are_welcome() -> None:
    found, notes = check(one_graph([]), training=False)
    assert found.edge_index.shape == (2, 0) and notes == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_feature_that_is_no_number_is_refused_with_its_place(value: float) -> None:
    graphs = GraphSet.concatenate([one_graph(), one_graph()])
    graphs.x[4, 0] = value
    with pytest.raises(DataError, match=r"graph 1 .*node 1, column x0"):
        check(graphs, training=False)


def test_an_edge_attribute_that_is_no_number_is_refused() -> None:
    with pytest.raises(DataError, match=r"graph 0 .*edge \(0, 1\)"):
        check(one_graph([(0, 1)], attr=[[float("nan")]]), training=False)


@pytest.mark.parametrize("edge", [(0, 3), (-1, 0)])
def test_an_edge_out_of_range_is_refused(edge: tuple[int, int]) -> None:
    graphs = replace(GraphSet.concatenate([one_graph(), one_graph([edge])]), names=("first", "second"))
    with pytest.raises(DataError, match=r"graph 1 \(second\) has the edge"):
        check(graphs, training=False)


def test_an_empty_graph_is_refused() -> None:
    graphs = GraphSet(
        torch.ones(2, 1), torch.zeros(2, 0, dtype=torch.int64), offsets(torch.tensor([2, 0])), torch.zeros(3).long()
    )
    with pytest.raises(DataError, match="graph 1 has no nodes"):
        check(graphs, training=False)


def test_no_graphs_and_no_features_are_refused() -> None:
    with pytest.raises(DataError, match="at least one graph"):
        check(one_graph()[[]], training=False)
    with pytest.raises(DataError, match="node features"):
        check(replace(one_graph(), x=torch.ones(3, 0)), training=False)


@pytest.mark.parametrize("y", [[0, 0.5], [0, float("nan")], [0, -1], [0, float("inf")], [0, 100000]])
def test_labels_that_are_no_classes_are_refused(y: list[float]) -> None:
    with pytest.raises(DataError, match="graph 1 has the label"):
        check(labelled(y), training=False)


def test_whole_floats_are_classes() -> None:
    found, _ = check(labelled([0.0, 1.0] * 3), training=True)
    assert found.y.dtype == torch.int64 and found.schema.class_names == ("0", "1")


def test_training_asks_for_labels_two_classes_and_enough_of_each() -> None:
    with pytest.raises(DataError, match="a label for every graph"):
        check(one_graph(), training=True)
    with pytest.raises(DataError, match="one class"):
        check(labelled([1, 1, 1]), training=True)
    with pytest.raises(DataError, match=r"Class 1 has 2 graphs: graph 3, graph 4\. At least 3 are needed"):
        check(labelled([0, 0, 0, 1, 1]), training=True)
    assert check(labelled([0, 0, 0, 1, 1]), training=False)[0].y.tolist() == [0, 0, 0, 1, 1]


def test_a_class_that_is_too_small_is_told_with_its_rows_and_what_to_do() -> None:
    lines, names = torch.tensor([2, 3, 4, 14]), ("CC", "CO", "CN", "CCO")
    few = labelled([0, 0, 0, 1], lines=lines, names=names, schema=Schema("molecule", ("rot", "unklar")))
    with pytest.raises(DataError) as refused:
        check(few, training=True)
    assert str(refused.value) == (
        "Class unklar has 1 molecule: line 14 (CCO). At least 3 are needed to train, validate and test: "
        "add more, give them the label of another class, or leave them out"
    )
    with pytest.raises(DataError, match=r"Class 1 has 0 graphs\. At least 3.*number the classes 0, 1, 2"):
        check(labelled([0, 0, 0, 2, 2, 2]), training=True)
    with pytest.raises(DataError, match=r"7 pairs: 0, 1, 2, 3, 4, …\. At least 8 are"):
        check_class_sizes(torch.tensor([0] * 7 + [1] * 8), ("a", "b"), "pair", 8, str)


def test_targets_truth_and_names_must_fit() -> None:
    for changes, words in (
        ({"targets": torch.tensor([[3]])}, "targets"),
        ({"node_mask": torch.ones(2)}, "each of 3 nodes"),
        ({"names": ("a", "b")}, "1 names"),
    ):
        with pytest.raises(DataError, match=words):
            check(replace(one_graph(), **changes), training=False)


def test_seventy_thousand_graphs_come_out_as_they_went_in() -> None:
    graphs = labelled([0, 1])[torch.arange(70_000) % 2]
    checked, _ = check(graphs, training=True)
    assert len(checked) == 70_000 and torch.equal(checked.y, graphs.y)
