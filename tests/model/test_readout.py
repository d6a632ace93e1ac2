"""Readouts of target nodes: their own embedding, their product, or both side by side."""

import pytest
import torch

from protgnn.datasets.builtin.networks import ba_shapes
from protgnn.model.readout import READOUTS, Pooling, readout, readout_width, targets_read

NETWORK = ba_shapes()
NODES, PAIRS = torch.tensor([7, 300, 7]), torch.tensor([[1, 2], [2, 1]])


def test_the_readout_of_a_target_is_its_embedding():
    x = torch.randn(len(NETWORK), 4)
    assert torch.equal(readout("target", x, NETWORK.whole(NODES)), x[NODES])


def test_the_product_of_a_pair_knows_no_order_and_the_pair_side_by_side_does():
    x, batch = torch.randn(len(NETWORK), 4), NETWORK.whole(PAIRS)
    product, both = readout("pair_product", x, batch), readout("pair_concat", x, batch)
    assert torch.equal(product[0], x[1] * x[2] / 2) and torch.equal(product[0], product[1])
    assert torch.equal(both[0], torch.cat([x[1], x[2]])) and torch.equal(both[1], torch.cat([x[2], x[1]]))


@pytest.mark.parametrize("width", [4, 64, 1024])
def test_products_of_pairs_are_as_near_each_other_in_wide_embeddings_as_in_narrow_ones(width):
    x = torch.randn(len(NETWORK), width, generator=torch.Generator().manual_seed(0))
    pairs = torch.arange(len(NETWORK)).reshape(-1, 2)
    product = readout("pair_product", x, NETWORK.whole(pairs))
    distance = (product[:-1] - product[1:]).square().sum(1)
    assert float(distance.mean()) == pytest.approx(2, abs=0.3)


@pytest.mark.parametrize("name", sum(READOUTS.values(), ()))
def test_an_embedding_has_the_width_that_is_announced(name):
    targets = {0: torch.tensor([0]), 1: NODES, 2: PAIRS}[targets_read(name)]
    x, batch = torch.randn(len(NETWORK), 4), NETWORK.whole(targets)
    inputs = {"all": 0, "full": batch.x.shape[1]}
    out = Pooling(4, inputs[name])(x, batch) if name in inputs else readout(name, x, batch)
    assert out.shape == (len(targets), readout_width(name, 4))


def test_a_pair_is_not_read_from_one_target():
    with pytest.raises(ValueError, match="Expected 2 target nodes per graph for the readout pair_product"):
        readout("pair_product", torch.randn(len(NETWORK), 4), NETWORK.whole(NODES))


def test_pooling_is_mean_sum_and_maximum_side_by_side_through_two_layers():
    x = torch.randn(len(NETWORK), 4)
    batch = NETWORK.whole(torch.tensor([0]))
    pooling = Pooling(4)
    first, _, second = pooling.layers
    side_by_side = torch.cat([x.mean(0), x.sum(0) / 10, x.max(0).values])
    wanted = second.weight @ (first.weight @ side_by_side + first.bias).clamp(min=0) + second.bias
    torch.testing.assert_close(pooling(x, batch)[0], wanted)
    beside, both = Pooling(4, batch.x.shape[1]), torch.cat([batch.x, x], 1)
    wide = Pooling(both.shape[1])
    wide.layers = beside.layers
    torch.testing.assert_close(beside(x, batch), wide(both, batch))
    with pytest.raises(ValueError, match="use Pooling"):
        readout("all", x, batch)
