"""Figures of a network, and a fingerprint that any change changes."""

from dataclasses import replace

import torch

from protgnn.data.network.stats import network_fingerprint, network_statistics
from protgnn.datasets.builtin.networks import ba_shapes
from tests.data.network.random_networks import random_network


def test_figures_are_those_of_the_paper():
    figures = network_statistics(ba_shapes())
    assert figures["nodes"] == 700 and figures["edges"] == 2055 and figures["unlabelled"] == 0
    assert figures["classes"] == {"base": 300, "middle": 160, "bottom": 160, "top": 80}
    assert abs(figures["degree"]["mean"] - 2 * 2055 / 700) < 1e-9 and figures["has_node_truth"]


def test_any_change_changes_the_fingerprint():
    network = random_network(20, 40, seed=1, attr=True)
    assert network_fingerprint(network) == network_fingerprint(random_network(20, 40, seed=1, attr=True))
    changed = [
        replace(network, x=network.x + 1),
        replace(network, source=network.source.flip(0)),
        replace(network, edge_attr=None),
        replace(network, y=None),
        replace(network, motif=network.motif + 1),
        replace(network, directed=True),
        replace(network, schema=replace(network.schema, class_names=("a", "b", "c"))),
    ]
    marks = {network_fingerprint(other) for other in (network, *changed)}
    assert len(marks) == 1 + len(changed)


def test_nodes_without_a_label_are_counted_apart():
    network = replace(random_network(4, 8, seed=1), y=torch.tensor([0, 2, -1, 2]))
    figures = network_statistics(network)
    assert figures["classes"] == {"0": 1, "1": 0, "2": 2} and figures["unlabelled"] == 1
