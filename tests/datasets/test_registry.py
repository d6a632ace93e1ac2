"""Every named network can be made and split."""

import pytest

from protgnn.data.network.node_split import split_nodes
from protgnn.datasets.registry import named_networks


@pytest.mark.parametrize("name", list(named_networks()))
def test_every_named_network_can_be_made_and_split(name):
    entry = named_networks()[name]
    network = entry.make(3)
    assert network.schema.num_classes == int(entry.task[0])
    assert len(split_nodes(network).train) > 0.7 * len(network)
