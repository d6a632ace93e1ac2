"""Every named network can be made and split."""

import pytest

from protgnn.graphs.node_datasets import node_datasets
from protgnn.graphs.node_splits import split_nodes


@pytest.mark.parametrize("name", list(node_datasets()))
def test_every_named_network_can_be_made_and_split(name):
    entry = node_datasets()[name]
    network = entry.make(3)
    assert network.schema.num_classes == int(entry.task[0])
    assert len(split_nodes(network).train) > 0.7 * len(network)
