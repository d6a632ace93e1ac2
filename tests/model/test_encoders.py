"""Our layers against PyG's with the same weights, and against the equations written out plainly."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv, GINConv

from protgnn.data.batch import Batch
from protgnn.model.encoders import Encoder, GATLayer, GCNLayer, GINLayer
from protgnn.model.message_passing import Propagation
from tests.data.random_graphs import graph_sets, law

simple_graphs = graph_sets(undirected=True)  # as they leave the door: undirected, no loops, no duplicates
SIZES = [(3, 7), (3, 2)]  # GCN sums before or after its weights, whichever is narrower


def close(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)


@pytest.mark.parametrize("sizes", SIZES)
@law
@given(graphs=simple_graphs)
def test_our_gcn_layer_is_pygs(sizes, graphs):
    batch = graphs.batch()
    ours, theirs = GCNLayer(*sizes), GCNConv(*sizes)
    theirs.lin.weight.data, theirs.bias.data = ours.linear.weight.data, ours.linear.bias.data
    close(ours(batch.x, Propagation(batch)), theirs(batch.x, batch.edge_index))


@law
@given(graphs=simple_graphs)
def test_our_gin_layer_is_pygs(graphs):
    batch = graphs.batch()
    ours = GINLayer(3, 7, "none")
    theirs = GINConv(nn.Sequential(ours.first, nn.ReLU(), ours.second), eps=0.0)
    close(ours(batch.x, Propagation(batch)), theirs(batch.x, batch.edge_index))


@pytest.mark.parametrize("heads", [1, 4])
@law
@given(graphs=simple_graphs)
def test_our_gat_layer_is_pygs(heads, graphs):
    batch = graphs.batch()
    ours, theirs = GATLayer(3, 8, heads), GATConv(3, 8 // heads, heads)
    nn.init.normal_(ours.bias)
    theirs.lin.weight.data, theirs.bias.data = ours.linear.weight.data, ours.bias.data
    theirs.att_src.data, theirs.att_dst.data = ours.attend.data[:1], ours.attend.data[1:]
    close(ours(batch.x, Propagation(batch)), theirs(batch.x, batch.edge_index))


@pytest.mark.parametrize("sizes", SIZES)
@law
@given(graphs=simple_graphs)
def test_gcn_is_equation_1_with_dense_matrices(sizes, graphs):
    batch = graphs.batch()
    layer = GCNLayer(*sizes)
    adjacency = torch.eye(len(batch.x))
    adjacency[batch.edge_index[1], batch.edge_index[0]] = 1
    root = adjacency.sum(1).rsqrt().diag()
    close(
        layer(batch.x, Propagation(batch)),
        root @ adjacency @ root @ batch.x @ layer.linear.weight.T + layer.linear.bias,
    )


@law
@given(graphs=simple_graphs)
def test_edge_attributes_enter_as_a_loop_over_edges_would_add_them(graphs):
    batch = graphs.batch()
    batch = replace(batch, edge_attr=torch.randn(batch.edge_index.shape[1], 2))
    gcn, gin, gat = GCNLayer(3, 4, 2), GINLayer(3, 4, "none", 2), GATLayer(3, 4, 2, 2)
    around = Propagation(batch)
    degree = torch.bincount(batch.edge_index[1], minlength=len(batch.x)) + 1
    normalised, plain = torch.zeros(len(batch.x), 2), torch.zeros(len(batch.x), 2)
    for attr, (source, target) in zip(batch.edge_attr, batch.edge_index.T.tolist(), strict=True):
        normalised[target] += attr / (degree[source] * degree[target]).sqrt()
        plain[target] += attr
    neighbours = torch.zeros_like(batch.x).index_add(0, batch.edge_index[1], batch.x[batch.edge_index[0]])
    without = _without_edges(gcn, GCNLayer(3, 4))
    close(gcn(batch.x, around), without(batch.x, around) + gcn.edge(normalised))
    close(gin(batch.x, around), gin.second(gin.first(batch.x + neighbours + gin.edge(plain)).relu()))
    gat.edge_logit.weight.data.zero_()
    close(gat(batch.x, around), _without_edges(gat, GATLayer(3, 4, 2))(batch.x, around) + gat.edge(plain))


def _without_edges(layer: nn.Module, twin: nn.Module) -> nn.Module:
    twin.load_state_dict({key: value for key, value in layer.state_dict().items() if not key.startswith("edge")})
    return twin


@law
@given(graphs=simple_graphs)
def test_attention_with_edge_attributes_is_pygs(graphs):
    batch = graphs.batch()
    attr = torch.randn(batch.edge_index.shape[1], 2)
    ours, theirs = GATLayer(3, 8, 2, 2), GATConv(3, 4, 2, edge_dim=2, fill_value=0.0)
    ours.edge.weight.data.zero_()  # PyG lets attributes into the attention only
    theirs.lin.weight.data, theirs.bias.data = ours.linear.weight.data, ours.bias.data
    theirs.att_src.data, theirs.att_dst.data = ours.attend.data[:1], ours.attend.data[1:]
    # PyG's logit of an edge is <a, W e> per head; ours is one row per head
    theirs.lin_edge.weight.data.zero_()
    theirs.att_edge.data.zero_()
    for head in range(2):
        theirs.lin_edge.weight.data[4 * head] = ours.edge_logit.weight.data[head]
        theirs.att_edge.data[0, head, 0] = 1
    close(ours(batch.x, Propagation(replace(batch, edge_attr=attr))), theirs(batch.x, batch.edge_index, attr))


@pytest.mark.parametrize("name", ["gcn", "gin", "gat"])
@law
@given(graphs=graph_sets())
def test_the_order_of_edges_does_not_matter(name, graphs):
    batch = graphs.batch()
    order = torch.randperm(batch.edge_index.shape[1])
    attr = None if batch.edge_attr is None else batch.edge_attr[order]
    shuffled = replace(batch, edge_index=batch.edge_index[:, order], edge_attr=attr)
    model = Encoder(name, 3, hidden=8, heads=2, edge_features=graphs.num_edge_features).eval()
    close(model(shuffled), model(batch))


@pytest.mark.parametrize("name", ["gcn", "gin", "gat"])
def test_the_order_of_nodes_does_not_matter(name):
    size = 9
    x = torch.randn(size, 3)
    edges = torch.tensor([[a, b] for a, b in pairwise(range(size))] + [[b, a] for a, b in pairwise(range(size))]).T
    order = torch.randperm(size)
    renamed = order.argsort()[edges]
    model = Encoder(name, 3, hidden=8, heads=2).eval()
    straight = model(Batch(x, edges, torch.zeros(size, dtype=torch.int64), 1))
    mixed = model(Batch(x[order], renamed, torch.zeros(size, dtype=torch.int64), 1))
    close(mixed, straight[order])


@pytest.mark.parametrize("name", ["gcn", "gin", "gat"])
def test_k_layers_reach_k_steps_and_no_further(name):
    size = 8
    edges = torch.tensor([[a, b] for a, b in pairwise(range(size))] + [[b, a] for a, b in pairwise(range(size))]).T
    model = Encoder(name, 3, hidden=8, layers=3, norm="none", heads=2)
    x = torch.randn(size, 3, requires_grad=True)
    torch.manual_seed(0)
    model(Batch(x, edges, torch.zeros(size, dtype=torch.int64), 1))[0].sum().backward()
    assert (x.grad[4:] == 0).all() and (x.grad[:2] != 0).any()


def test_dropout_acts_in_training_only():
    graphs = Batch(torch.randn(6, 3), torch.zeros(2, 0, dtype=torch.int64), torch.zeros(6, dtype=torch.int64), 1)
    model = Encoder("gcn", 3, hidden=32, norm="none", dropout=0.5)
    assert not torch.equal(model.train()(graphs), model(graphs))
    assert torch.equal(model.eval()(graphs), model(graphs))


def test_heads_that_do_not_divide_the_width_are_refused():
    with pytest.raises(ValueError, match=r"3 heads divide \(got 8\)"):
        GATLayer(3, 8, heads=3)
