"""The presence contract: zero weight means not there, for every encoder, norm and readout, in both modes."""

import copy
from dataclasses import replace
from itertools import product
from typing import get_args

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet
from protgnn.data.subgraph import cut
from protgnn.model.encoders import Encoder, EncoderName
from protgnn.model.message_passing import Propagation, SoftMask
from protgnn.model.norms import BatchNorm, NormName, make_norm
from protgnn.model.readout import READOUTS as READOUTS_BY_TARGETS
from protgnn.model.readout import Pooling
from protgnn.model.readout import readout as fixed_readout
from tests.data.random_graphs import graph_sets, law

ENCODERS, NORMS, READOUTS = get_args(EncoderName), get_args(NormName), READOUTS_BY_TARGETS[0]
LEARNING = ("all", "full")
every_encoder = pytest.mark.parametrize(("name", "norm"), list(product(ENCODERS, NORMS)))
modes = pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])


def readout(kind: str, x: Tensor, batch: Batch, presence: SoftMask | None = None) -> Tensor:
    """Any readout; the one that learns has the same weights every time."""
    if kind not in LEARNING:
        return fixed_readout(kind, x, batch, presence)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        inputs = batch.x.shape[1] if kind == "full" else 0
        return Pooling(x.shape[1], inputs).to(x.dtype)(x, batch, presence)


@st.composite
def masked_graphs(draw: st.DrawFn) -> tuple[GraphSet, Tensor, Tensor]:
    """Random graphs (isolated and single nodes, loops, any order of edges), a mask over nodes and one over edges."""
    graphs = replace(draw(graph_sets()), targets=None)
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    chances = st.sampled_from([0.0, 0.3, 0.7, 1.0])
    node = torch.rand(len(graphs.x), generator=generator) < draw(chances)
    edge = torch.rand(graphs.edge_index.shape[1], generator=generator) < draw(chances)
    return graphs, node, edge


def in_double(batch: Batch) -> Batch:
    """The law is about arithmetic, so it is tried where rounding does not hide a breach."""
    attr = None if batch.edge_attr is None else batch.edge_attr.double()
    return replace(batch, x=batch.x.double(), edge_attr=attr)


def encoder(name: EncoderName, norm: NormName, graphs: GraphSet, seed: int = 0) -> Encoder:
    """A small encoder whose norms are not at their bland starting values."""
    torch.manual_seed(seed)
    made = Encoder(name, 3, hidden=8, layers=3, norm=norm, heads=2, edge_features=graphs.num_edge_features)
    for module in made.modules():
        if isinstance(module, BatchNorm):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2.0)
            torch.nn.init.normal_(module.bias)
    return made


def everything(graphs: GraphSet, node: Tensor, edge: Tensor) -> tuple[Batch, SoftMask, GraphSet]:
    """The whole graphs with presence weights, and the same subgraphs cut out."""
    batch = in_double(graphs.batch())
    subgraphs = cut(graphs, torch.arange(len(graphs)), node, edge)
    return batch, SoftMask(node.double(), edge.double()), subgraphs


@every_encoder
@modes
@law
@given(case=masked_graphs())
def test_zero_weight_means_not_there(name, norm, training, case):
    graphs, node, edge = case
    batch, presence, subgraphs = everything(graphs, node, edge)
    masked = encoder(name, norm, graphs).double().train(training)
    alone = copy.deepcopy(masked)
    x, z = masked(batch, presence), alone(in_double(subgraphs.batch()))
    torch.testing.assert_close(x[node], z, rtol=0, atol=1e-7)
    for kind in READOUTS:
        theirs = readout(kind, z, subgraphs.batch())
        torch.testing.assert_close(readout(kind, x, batch, presence), theirs, rtol=0, atol=1e-7)
    for (key, one), other in zip(masked.state_dict().items(), alone.state_dict().values(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-7, msg=f"{key} was taught by absent nodes")


@every_encoder
@law
@given(case=masked_graphs())
def test_a_subgraph_encoded_alone_is_the_same_as_masked_among_others(name, norm, case):
    graphs, node, edge = case
    batch, presence, subgraphs = everything(graphs, node, edge)
    model = encoder(name, norm, graphs).double().eval()
    x = model(batch, presence)
    for kind in READOUTS:
        together = readout(kind, x, batch, presence)
        for number in range(len(graphs)):
            single = in_double(subgraphs[number].batch())
            torch.testing.assert_close(together[number], readout(kind, model(single), single)[0], rtol=0, atol=1e-7)


@every_encoder
@modes
def test_single_precision_keeps_the_contract_to_1e_5(name, norm, training):
    graphs = ring_of_rings(12)
    generator = torch.Generator().manual_seed(5)
    node = torch.rand(len(graphs.x), generator=generator) < 0.7
    edge = torch.rand(graphs.edge_index.shape[1], generator=generator) < 0.7
    subgraphs = cut(graphs, torch.arange(len(graphs)), node, edge)
    masked = encoder(name, norm, graphs).train(training)
    alone = copy.deepcopy(masked)
    batch, presence = graphs.batch(), SoftMask(node.float(), edge.float())
    x, z = masked(batch, presence), alone(subgraphs.batch())
    assert (x[node] - z).abs().max() <= 1e-5
    for kind in ("mean", "max"):
        ours, theirs = readout(kind, x, batch, presence), readout(kind, z, subgraphs.batch())
        assert (ours - theirs).abs().max() <= 1e-5


def ring_of_rings(count: int) -> GraphSet:
    """Rings of 5, 6, … nodes with random features and edge attributes."""
    generator = torch.Generator().manual_seed(1)
    sizes = torch.arange(count) + 5
    edges = []
    for size in sizes.tolist():
        around = torch.arange(size)
        edges.append(torch.stack([torch.cat([around, (around + 1) % size]), torch.cat([(around + 1) % size, around])]))
    edge_index = torch.cat(edges, dim=1)
    return GraphSet(
        x=torch.randn(int(sizes.sum()), 3, generator=generator),
        edge_index=edge_index,
        node_ptr=torch.cat([torch.zeros(1, dtype=torch.int64), sizes.cumsum(0)]),
        edge_ptr=torch.cat([torch.zeros(1, dtype=torch.int64), (2 * sizes).cumsum(0)]),
        edge_attr=torch.randn(edge_index.shape[1], 2, generator=generator),
    )


@every_encoder
@modes
def test_weights_of_one_are_the_same_as_no_weights(name, norm, training):
    graphs = ring_of_rings(4)
    model = encoder(name, norm, graphs).double().train(training)
    batch, twin = in_double(graphs.batch()), copy.deepcopy(model)
    presence = SoftMask(torch.ones(len(batch.x)).double(), torch.ones(batch.edge_index.shape[1]).double())
    torch.testing.assert_close(model(batch, presence), twin(batch), rtol=0, atol=1e-9)


@every_encoder
@modes
@pytest.mark.parametrize("kind", [kind for kind in READOUTS if kind not in LEARNING])  # which have biases
def test_a_graph_with_nothing_left_reads_as_zeros_and_changes_no_one(name, norm, training, kind):
    graphs = ring_of_rings(3)
    model = encoder(name, norm, graphs).train(training)
    batch, before = graphs.batch(), copy.deepcopy(model.state_dict())
    nothing = SoftMask(torch.zeros(len(batch.x)), torch.zeros(batch.edge_index.shape[1]))
    out = readout(kind, model(batch, nothing), batch, nothing)
    assert torch.equal(out, torch.zeros_like(out))
    for key, value in model.state_dict().items():
        assert torch.equal(value, before[key]), key


@every_encoder
def test_gradients_of_fractional_presence_agree_with_finite_differences(name, norm):
    graphs = ring_of_rings(2)
    model = encoder(name, norm, graphs).double().train()
    batch = in_double(graphs.batch())
    generator = torch.Generator().manual_seed(3)
    node = torch.rand(len(batch.x), generator=generator).double().mul(0.8).add(0.1).requires_grad_()
    edge = torch.rand(batch.edge_index.shape[1], generator=generator).double().mul(0.8).add(0.1).requires_grad_()

    def embedding(node: Tensor, edge: Tensor) -> Tensor:
        presence = SoftMask(node, edge)
        return readout("mean", copy.deepcopy(model)(batch, presence), batch, presence)

    assert torch.autograd.gradcheck(embedding, (node, edge), atol=1e-5)


@law
@given(case=masked_graphs())
def test_the_weighted_sum_has_the_gradient_that_finite_differences_see(case):
    graphs, _, _ = case
    around = Propagation(in_double(graphs.batch()))
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(len(graphs.x), 2, generator=generator, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(len(around.source), generator=generator, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(around.sum, (x, weight))


@law
@given(case=masked_graphs())
def test_the_weighted_sum_is_what_a_loop_over_edges_gives(case):
    graphs, _, _ = case
    batch = in_double(graphs.batch())
    around = Propagation(batch)
    weight = torch.rand(len(around.source), dtype=torch.float64)
    expected = torch.zeros_like(batch.x)
    for number, (source, target) in enumerate(zip(around.source.tolist(), around.target.tolist(), strict=True)):
        expected[target] += weight[number] * batch.x[source]
    torch.testing.assert_close(around.sum(batch.x, weight), expected)


@pytest.mark.parametrize("kind", READOUTS)
def test_fading_a_node_out_ends_where_cutting_it_out_begins(kind):
    graphs = ring_of_rings(1)
    batch = in_double(graphs.batch())
    faint = torch.ones(len(batch.x), dtype=torch.float64)
    faint[2] = 1e-9
    gone = faint.clone()
    gone[2] = 0
    ours = readout(kind, batch.x, batch, SoftMask(faint))
    torch.testing.assert_close(ours, readout(kind, batch.x, batch, SoftMask(gone)), rtol=0, atol=1e-6)


def test_a_norm_that_is_not_known_is_refused_by_name():
    with pytest.raises(ValueError, match="batch, layer, none"):
        make_norm("group", 4)
    with pytest.raises(ValueError, match="sum, mean, max"):
        readout("median", torch.zeros(5, 1), ring_of_rings(1).batch())
    with pytest.raises(ValueError, match="gcn, gin, gat"):
        Encoder("sage", 3)
