"""Generated networks are those of the literature, the same for the same seed, and leave global generators alone."""

import subprocess
import sys

import networkx
import numpy as np
import pytest
import torch
from torch_geometric.utils import to_networkx

from protgnn.data.network.network import Network
from protgnn.datasets.builtin.networks import ba_shapes, communities, tree_cycles, web_network
from protgnn.model.encoders import Encoder

EVERY = {
    "ba-shapes": ba_shapes,
    "tree-cycles": tree_cycles,
    "communities": communities,
    "web": lambda seed: web_network(2_000, seed=seed),
}


def same(one: Network, other: Network) -> bool:
    return torch.equal(one.x, other.x) and torch.equal(one.source, other.source) and torch.equal(one.ptr, other.ptr)


@pytest.mark.parametrize("make", EVERY.values(), ids=EVERY.keys())
def test_the_seed_decides_and_global_generators_stay_as_they_were(make):
    torch.manual_seed(11)
    np.random.seed(11)
    before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()
    first = make(seed=5)
    assert torch.equal(torch.get_rng_state(), before)
    assert np.array_equal(np.random.get_state()[1], numpy_before)
    torch.manual_seed(99)
    assert same(make(seed=5), first)
    assert not same(make(seed=6), first)


def motifs(network: Network) -> list[networkx.Graph]:
    graph = to_networkx(network.to_pyg(), to_undirected=True)
    numbers = network.motif.tolist()
    members = [[node for node, owner in enumerate(numbers) if owner == number] for number in range(max(numbers) + 1)]
    return [graph.subgraph(nodes) for nodes in members]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ba_shapes_has_the_figures_of_the_literature(seed):
    network = ba_shapes(seed)
    assert len(network) == 700 and network.y.bincount().tolist() == [300, 160, 160, 80]
    assert network.num_edges == 2 * 2055
    assert ba_shapes(seed, random_edges=70).num_edges == 2 * 2105
    assert network.x.shape == (700, 10) and set(network.x.unique().tolist()) == {1.0}
    houses = motifs(network)
    assert len(houses) == 80
    assert all(networkx.is_isomorphic(house, networkx.house_graph()) for house in houses)
    assert int(network.edge_truth.sum()) == 2 * 80 * 6
    assert torch.equal(network.node_mask, network.y > 0)


def test_the_parts_of_a_house_are_what_they_are_called():
    network = ba_shapes()
    names = network.schema.class_names
    for house in motifs(network)[:5]:
        roles = {node: names[int(network.y[node])] for node in house}
        assert sorted(roles.values()) == ["bottom", "bottom", "middle", "middle", "top"]
        (top,) = (node for node, role in roles.items() if role == "top")
        assert [roles[node] for node in house[top]] == ["middle", "middle"]
        assert all(house.degree(node) == (3 if role == "middle" else 2) for node, role in roles.items())


def test_tree_cycles_has_the_figures_of_the_literature():
    network = tree_cycles()
    assert len(network) == 511 + 80 * 6 and network.y.bincount().tolist() == [511, 480]
    assert network.num_edges == 2 * (510 + 80 * 6 + 80)
    assert all(networkx.is_isomorphic(cycle, networkx.cycle_graph(6)) for cycle in motifs(network))
    graph = to_networkx(network.to_pyg(), to_undirected=True)
    assert networkx.is_connected(graph)
    assert networkx.is_tree(graph.subgraph(range(511)))


@pytest.mark.parametrize("make", [ba_shapes, tree_cycles])
def test_degree_features_say_the_degree(make):
    network = make(features="degree")
    assert network.x.sum(dim=1).unique().tolist() == [1.0]
    assert torch.equal(network.x.argmax(dim=1), network.degree.clamp(max=10) - 1)
    assert len(network.schema.node_features) == network.x.shape[1]
    assert torch.equal(network.source, make().source)
    with pytest.raises(ValueError, match="constant, degree"):
        make(features="random")


@pytest.mark.parametrize(("name", "sees"), [("gcn", True), ("gin", True), ("gat", False)])
def test_attention_sees_nothing_in_constants(name, sees):
    torch.manual_seed(0)
    network, model = ba_shapes(), Encoder(name, 10, hidden=16).eval()
    with torch.no_grad():
        spread = model(network.whole(torch.arange(700))).std(dim=0).max()
    assert (float(spread) > 1e-3) == sees


def test_communities_are_denser_inside():
    network = communities(nodes=602)
    assert len(network) == 602 and network.y.bincount().tolist() == [151, 151, 150, 150]
    source, target = network.edge_index
    assert (network.y[source] == network.y[target]).double().mean() > 0.8


def test_the_web_has_hubs_classes_and_as_many_edges_as_asked_for():
    network = web_network(5_000, edges_per_node=10, classes=5)
    assert network.num_edges == 2 * 50_000
    assert network.y.bincount().tolist() == [1000] * 5
    assert network.degree.max() > 10 * network.degree.double().mean() and network.degree.min() > 0
    source, target = network.edge_index
    assert 0.75 < (network.y[source] == network.y[target]).double().mean() < 0.9
    mean = torch.stack([network.x[network.y == number].mean(dim=0) for number in range(5)])
    assert torch.cdist(network.x, mean).argmin(dim=1).eq(network.y).double().mean() < 0.8


MILLION = """
import resource
import torch
from protgnn.data.network.computation_graphs import computation_graphs
from protgnn.datasets.builtin.networks import web_network

network = web_network(1_000_000)
assert network.num_edges == 20_000_000
targets, generator = torch.arange(0, 1_000_000, 1000), torch.Generator().manual_seed(0)
assert len(computation_graphs(network, targets, 3, [10, 5, 5], generator)) == 1000
network.whole(targets).adjacency.csc
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.slow
def test_a_million_nodes_and_ten_million_edges_take_less_than_four_gigabytes():
    done = subprocess.run([sys.executable, "-c", MILLION], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 4e9
