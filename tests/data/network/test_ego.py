"""The surroundings of targets are those that a plain search finds, connected and within their size."""

from dataclasses import replace

import networkx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.computation_graphs import computation_graphs
from protgnn.data.network.ego import near_targets
from protgnn.data.subgraph import cut
from protgnn.datasets.builtin.networks import ba_shapes
from tests.data.network.random_networks import networks
from tests.data.random_graphs import law, one_graph


def plain(graph: GraphSet, most: int) -> list[int]:
    """The nearest nodes of one graph, by a loop over nodes and edges."""
    edges = [tuple(pair) for pair in graph.edge_index.t().tolist()]
    around = networkx.Graph(edges)
    around.add_nodes_from(range(len(graph.x)))
    distance = networkx.multi_source_dijkstra_path_length(around, set(graph.targets[0].tolist()))

    def rank(node: int) -> tuple[int, int, int, int]:
        links = sum(
            node in edge and any(distance[end] < distance[node] for end in edge if end != node) for edge in edges
        )
        degree = sum(edge[1] == node for edge in edges) + int(graph.missing_degree[node])
        return distance[node], -links, degree, node

    return sorted(sorted(distance, key=rank)[:most])


@law
@given(network=networks(), most=st.integers(1, 8), pair=st.booleans(), hops=st.integers(1, 3))
def test_they_are_those_of_a_plain_search(network, most, pair, hops):
    targets = torch.arange(len(network))
    if pair:
        targets = torch.stack([targets, targets.roll(1)], dim=1)
    graphs = computation_graphs(network, targets, hops)
    mask = near_targets(graphs, most)
    for number in range(len(graphs)):
        nodes = slice(int(graphs.node_ptr[number]), int(graphs.node_ptr[number + 1]))
        assert mask[nodes].nonzero().flatten().tolist() == plain(graphs[number], most)


def test_the_house_of_a_node_is_near_it():
    network = ba_shapes()
    targets = network.node_mask.nonzero().squeeze(1)
    graphs = computation_graphs(network, targets, 3)
    small = cut(graphs, torch.arange(len(graphs)), near_targets(graphs, 30))
    assert int(graphs.node_counts.max()) > 200 and int(small.node_counts.max()) == 30
    whole = torch.zeros(len(small)).index_add(0, small.batch().batch, small.node_mask.float())
    assert (whole == 5).double().mean() > 0.95


def test_what_no_target_can_reach_is_not_near():
    graph = replace(one_graph([(0, 1), (1, 0)], nodes=4), targets=torch.tensor([[1]]))
    assert near_targets(graph, 3).tolist() == [True, True, False, False]
    with pytest.raises(ValueError, match="with targets"):
        near_targets(one_graph(), 3)
