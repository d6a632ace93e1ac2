"""Nodes are split by seed and class, and a split that cannot be trained on is refused by name."""

from dataclasses import replace

import pytest
import torch

from protgnn.data.network.node_split import check_node_split, split_nodes
from protgnn.data.split import Split
from protgnn.datasets.builtin.networks import ba_shapes
from protgnn.errors import DataError
from tests.data.network.random_networks import random_network


def test_parts_are_disjoint_keep_the_proportions_and_leave_out_unknown_nodes():
    network = ba_shapes()
    network.y[:100] = -1
    split = split_nodes(network, seed=1)
    parts = [split.train, split.valid, split.test]
    assert sorted(torch.cat(parts).tolist()) == list(range(100, 700))
    assert [len(part) for part in parts] == [480, 60, 60]
    assert network.y[split.test].bincount().tolist() == [20, 16, 16, 8]
    assert all(torch.equal(part, part.sort().values) for part in parts)


def test_equal_seeds_give_equal_splits_and_other_seeds_others():
    network = ba_shapes()
    for kind in ("random", "stratified"):
        one, other, third = (split_nodes(network, kind, seed) for seed in (1, 1, 2))
        assert torch.equal(one.test, other.test) and not torch.equal(one.test, third.test)


def parts(*numbers: list[int]) -> Split:
    return Split(*(torch.tensor(part, dtype=torch.int64) for part in numbers))


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (parts([0, 1, 2], [], [3]), "leaves no node to the part valid"),
        (parts([0, 1], [2, 4], [3]), "puts node 4 into the part valid, but it has no label"),
        (parts([0], [2], [1, 3]), "no node of class b to train on, though the part test has some, such as node 1"),
    ],
)
def test_a_split_that_cannot_be_trained_on_is_refused(split, message):
    network = random_network(5, 8, seed=0)
    schema = replace(network.schema, class_names=("a", "b"))
    network = replace(network, y=torch.tensor([0, 1, 0, 1, -1]), schema=schema)
    with pytest.raises(DataError, match=message):
        check_node_split(network, split, "the split")


def test_bad_requests_are_refused():
    network = ba_shapes()
    with pytest.raises(DataError, match="random, stratified"):
        split_nodes(network, "scaffold")
    with pytest.raises(DataError, match="add up to 1"):
        split_nodes(network, fractions=(0.5, 0.1, 0.1))
    with pytest.raises(DataError, match="at least 3 nodes with a label"):
        split_nodes(replace(network, y=None))
