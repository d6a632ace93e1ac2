"""Degrees as columns: counted as in the slow, plain version, and completed for a model that wants them."""

from dataclasses import replace

import networkx
import pytest
import torch
from hypothesis import given

from protgnn.data.degree import with_degrees
from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import DEGREES, Schema
from protgnn.datasets.new_input import conform
from protgnn.errors import DataError
from protgnn.explain.describe import describe_subgraph
from protgnn.viz.graphs import draw_graph, node_hints
from tests.data.random_graphs import graph_sets, law


@law
@given(graph_sets())
def test_degrees_are_those_that_networkx_counts(graphs):
    found = with_degrees(graphs)
    wanted = []
    for graph in graphs:
        plain = networkx.Graph(graph.edge_index.t().tolist())
        plain.remove_edges_from(list(networkx.selfloop_edges(plain)))
        wanted += [min(plain.degree(node), 10) if node in plain else 0 for node in range(len(graph.x))]
    assert torch.equal(found.x[:, : graphs.x.shape[1]], graphs.x)
    assert found.x[:, -11:].argmax(1).tolist() == wanted and bool((found.x[:, -11:].sum(1) == 1).all())


@law
@given(graph_sets())
def test_new_graphs_need_not_bring_the_degrees_that_a_model_wants(graphs):
    model = with_degrees(graphs).schema
    assert torch.equal(conform(graphs, model).x, with_degrees(graphs).x)
    unnamed = replace(graphs, schema=replace(graphs.schema, node_features=()))
    assert torch.equal(conform(unnamed, model).x, with_degrees(graphs).x)
    assert torch.equal(conform(with_degrees(graphs), graphs.schema).x, graphs.x)  # a model that was trained without
    with pytest.raises(DataError, match="node features"):
        conform(graphs, replace(model, node_features=("other", *model.node_features[1:])))


def test_degrees_do_not_say_what_a_node_is():
    assert Schema(node_features=("C", "N", *DEGREES)).kinds == [0, 1]
    assert Schema(node_features=DEGREES).kinds == list(range(11))
    assert Schema(node_features=("degree=PhD", "degree=MSc", *DEGREES)).kinds == [0, 1]


def test_pictures_and_words_name_what_a_node_is():
    square = GraphSet(
        x=torch.eye(2)[[0, 1, 1, 0]],
        edge_index=torch.tensor([[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]]),
        node_ptr=torch.tensor([0, 4]),
        edge_ptr=torch.tensor([0, 8]),
        schema=Schema("graph", ("a", "b"), ("label=7", "label=12")),
    )
    assert node_hints(with_degrees(square)) == node_hints(square) == ["7", "12", "12", "7"]
    assert "in the nodes: label" in draw_graph(with_degrees(square)).note
    atoms = replace(square, schema=Schema("molecule", ("a", "b"), ("C", "N")))
    assert describe_subgraph(with_degrees(atoms), [0, 1, 2, 3]) == describe_subgraph(atoms, [0, 1, 2, 3]) == "C2 N2"
