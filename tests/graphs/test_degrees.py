"""Degrees as columns: counted as in the slow, plain version, and completed for a model that wants them."""

from dataclasses import replace

import networkx
import pytest
import torch
from hypothesis import given

from protgnn.errors import DataError
from protgnn.graphs.degrees import DEGREES, with_degrees
from protgnn.graphs.new_input import conform
from protgnn.graphs.schema import Schema
from tests.graphs.random_graphs import graph_sets, law


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
    with pytest.raises(DataError, match="node features"):
        conform(graphs, replace(model, node_features=("other", *model.node_features[1:])))


def test_degrees_do_not_say_what_a_node_is():
    assert Schema(node_features=("C", "N", *DEGREES)).kinds == [0, 1]
    assert Schema(node_features=DEGREES).kinds == list(range(11))
