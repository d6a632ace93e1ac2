"""Computation graphs are what a plain search finds, and give targets the embeddings of the whole network."""

from dataclasses import replace
from typing import get_args

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet
from protgnn.data.network.computation_graphs import computation_graphs
from protgnn.data.network.network import Network
from protgnn.data.subgraph import cut
from protgnn.errors import DataError
from protgnn.model.encoders import Encoder, EncoderName
from protgnn.model.message_passing import SoftMask
from protgnn.model.norms import BatchNorm
from tests.data.network.random_networks import edge_pairs, networks, random_network
from tests.data.random_graphs import assert_same, law

LAYERS = 3
every_encoder = pytest.mark.parametrize("name", get_args(EncoderName))


def plain(network: Network, target: list[int], hops: int) -> tuple[list[int], list[tuple[int, int]], list[int]]:
    """Nodes, edges and what is outside, by a loop over everything; edges in the order of (target, source)."""
    edges = edge_pairs(network)
    if len(target) == 2:
        first, second = target
        links = [(first, second)] if network.directed else [(first, second), (second, first)]
        edges = [edge for edge in edges if edge not in links]
    distance = dict.fromkeys(target, 0)
    for hop in range(1, hops + 1):
        for source, into in edges:
            if distance.get(into) == hop - 1:
                distance.setdefault(source, hop)
    inner = {node for node, far in distance.items() if far < hops}
    kept = [edge for edge in edges if edge[1] in inner or (not network.directed and edge[0] in inner)]
    kept = [edge for edge in kept if edge[0] in distance and edge[1] in distance]
    nodes = sorted(distance)
    outside = [sum(edge[1] == node for edge in edges) - sum(edge[1] == node for edge in kept) for node in nodes]
    return nodes, sorted(kept, key=lambda edge: edge[::-1]), outside


def in_network_numbers(graphs: GraphSet, number: int) -> tuple[list[int], list[tuple[int, int]], list[int]]:
    graph = graphs[number]
    edges = [tuple(pair) for pair in graph.n_id[graph.edge_index].t().tolist()]
    return graph.n_id.tolist(), edges, graph.missing_degree.tolist()


@law
@given(network=networks(), hops=st.integers(1, 3), data=st.data())
def test_nodes_edges_and_what_is_outside_are_those_of_a_plain_search(network, hops, data):
    targets = data.draw(st.lists(st.integers(0, len(network) - 1), min_size=1, max_size=5))
    graphs = computation_graphs(network, torch.tensor(targets), hops)
    assert len(graphs) == len(targets)
    for number, target in enumerate(targets):
        assert in_network_numbers(graphs, number) == plain(network, [target], hops)
    assert graphs.n_id[graphs.node_ptr[:-1, None] + graphs.targets].flatten().tolist() == targets
    assert torch.equal(graphs.x, network.x[graphs.n_id])
    assert torch.equal(graphs.y, network.y[torch.tensor(targets)])
    for graph, target in zip(graphs, targets, strict=True):
        same = network.motif[graph.n_id] == network.motif[target]
        assert torch.equal(graph.node_mask, same & (network.motif[target] >= 0))
        if network.edge_attr is not None:
            attributes = dict(zip(edge_pairs(network), network.edge_attr.tolist(), strict=True))
            pairs = graph.n_id[graph.edge_index].t().tolist()
            assert graph.edge_attr.tolist() == [attributes[tuple(pair)] for pair in pairs]


@law
@given(network=networks(), hops=st.integers(1, 3), data=st.data())
def test_the_graph_of_a_pair_is_that_of_both_ends_without_their_link(network, hops, data):
    node = st.integers(0, len(network) - 1)
    drawn = st.tuples(node, node).filter(lambda pair: pair[0] != pair[1])
    links = [st.sampled_from(edge_pairs(network))] if network.num_edges else []
    pairs = data.draw(st.lists(st.one_of(drawn, *links), min_size=1, max_size=5))
    graphs = computation_graphs(network, torch.tensor(pairs), hops)
    for number, pair in enumerate(pairs):
        assert in_network_numbers(graphs, number) == plain(network, list(pair), hops)
        assert graphs[number].n_id[graphs.targets[number]].tolist() == list(pair)


@law
@given(network=networks(), hops=st.integers(1, 3), data=st.data())
def test_asking_more_neighbours_than_there_are_is_asking_all(network, hops, data):
    node = st.integers(0, len(network) - 1)
    targets = torch.tensor(data.draw(st.lists(node, min_size=1, max_size=5)))
    assert_same(computation_graphs(network, targets, hops, 100), computation_graphs(network, targets, hops))
    pairs = torch.stack([targets, (targets + 1) % len(network)], dim=1)
    assert_same(computation_graphs(network, pairs, hops, [100] * hops), computation_graphs(network, pairs, hops))


@law
@given(network=networks(), hops=st.integers(1, 3), fanout=st.integers(1, 3), seed=st.integers(0, 2**31))
def test_a_sample_is_a_part_of_the_computation_graph_by_seed(network, hops, fanout, seed):
    targets = torch.arange(len(network))
    drawn = [computation_graphs(network, targets, hops, fanout, torch.Generator().manual_seed(seed)) for _ in range(2)]
    assert_same(*drawn)
    whole = computation_graphs(network, targets, hops)
    for number in range(len(targets)):
        nodes, edges, outside = in_network_numbers(drawn[0], number)
        all_nodes, all_edges, _ = in_network_numbers(whole, number)
        assert set(nodes) <= set(all_nodes) and set(edges) <= set(all_edges) and len(edges) == len(set(edges))
        sampled = drawn[0][number]
        target = int(sampled.targets[0, 0])
        kept = int((sampled.edge_index[1] == target).sum())
        degree = int(network.degree[number])
        assert min(degree, fanout) <= kept <= (min(degree, fanout) if network.directed and hops == 1 else degree)
        assert all(0 <= missing <= fanout for missing in outside) and outside[target] == 0
        if not network.directed:
            assert {edge[::-1] for edge in edges} == set(edges)


def encoder(name: str, network: Network) -> Encoder:
    """An encoder whose norms are not at their bland starting values."""
    torch.manual_seed(0)
    edge_features = 0 if network.edge_attr is None else network.edge_attr.shape[1]
    made = Encoder(name, network.x.shape[1], hidden=16, layers=LAYERS, heads=2, edge_features=edge_features)
    for module in made.modules():
        if isinstance(module, BatchNorm):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2.0)
    return made.eval()


def at_targets(model: Encoder, batch: Batch) -> torch.Tensor:
    with torch.no_grad():
        return model(batch)[batch.targets]


@every_encoder
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("attr", [False, True], ids=["plain", "attributes"])
@pytest.mark.parametrize("edges", [150, 600], ids=["sparse", "dense"])
def test_targets_have_the_embeddings_of_the_whole_network(name, directed, attr, edges):
    network = random_network(120, edges, seed=edges, directed=directed, attr=attr)
    model, targets = encoder(name, network), torch.arange(len(network))
    wanted = at_targets(model, network.whole(targets))
    graphs = computation_graphs(network, targets, LAYERS)
    assert (at_targets(model, graphs.batch()) - wanted).abs().max() <= 1e-5
    one_by_one = torch.cat([at_targets(model, batch) for batch in graphs.batches(7)])
    assert (one_by_one - wanted).abs().max() <= 1e-5


@every_encoder
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_the_ends_of_a_link_have_the_embeddings_of_the_network_without_it(name, directed):
    network = random_network(60, 150, seed=2, directed=directed, attr=True)
    model, edges = encoder(name, network), network.edge_index
    links = edges[:, :: edges.shape[1] // 12]
    found = at_targets(model, computation_graphs(network, links.t(), LAYERS).batch())
    for pair, embeddings in zip(links.t(), found, strict=True):
        gone = (edges == pair[:, None]).all(dim=0)
        if not directed:
            gone |= (edges == pair.flip(0)[:, None]).all(dim=0)
        assert gone.sum() == (1 if directed else 2)
        without, _ = Network.from_edge_index(
            network.x, edges[:, ~gone], edge_attr=network.edge_attr[~gone], directed=directed
        )
        wanted = at_targets(model, without.whole(pair[None]))[0]
        assert (embeddings - wanted).abs().max() <= 1e-5


@every_encoder
def test_masking_a_computation_graph_is_cutting_it(name):
    network = random_network(60, 150, seed=6, attr=True)
    graphs = computation_graphs(network, torch.arange(0, 60, 5), LAYERS)
    batch = graphs.batch()
    node = torch.rand(len(batch.x), generator=torch.Generator().manual_seed(0)) < 0.6
    node[batch.targets] = True
    model = encoder(name, network)
    with torch.no_grad():
        msampled = model(batch, SoftMask(node.float()))[batch.targets]
    alone = at_targets(model, cut(graphs, torch.arange(len(graphs)), node).batch())
    assert (msampled - alone).abs().max() <= 1e-5


def test_a_graph_convolution_needs_to_know_what_is_outside():
    network = random_network(60, 150, seed=4)
    model, targets = encoder("gcn", network), torch.arange(len(network))
    graphs = computation_graphs(network, targets, LAYERS)
    wanted = at_targets(model, network.whole(targets))
    assert (at_targets(model, replace(graphs, missing_degree=None).batch()) - wanted).abs().max() > 1e-3


def test_what_is_cut_out_of_a_computation_graph_stands_alone_and_knows_its_origin():
    network = random_network(60, 150, seed=5)
    graphs = computation_graphs(network, torch.tensor([7]), 2)
    near = torch.zeros(len(graphs.x), dtype=torch.bool)
    near[graphs.targets] = True
    near[graphs.edge_index[0][graphs.edge_index[1] == graphs.targets[0, 0]]] = True
    part = cut(graphs, torch.tensor([0]), near)
    assert part.missing_degree is None and torch.equal(part.n_id, graphs.n_id[near])
    assert int(part.n_id[part.targets]) == 7


def test_neighbours_are_drawn_evenly_and_pairs_of_them_too():
    star, _ = Network.from_edge_index(torch.ones(6, 1), torch.tensor([[1, 2, 3, 4, 5], [0] * 5]))
    generator = torch.Generator().manual_seed(0)
    graphs = computation_graphs(star, torch.zeros(30_000, dtype=torch.int64), 1, 2, generator)
    assert set(graphs.node_counts.tolist()) == {3}
    pairs = graphs.n_id.reshape(-1, 3)[:, 1:]
    counts = torch.bincount(pairs[:, 0] * 6 + pairs[:, 1])
    counts = counts[counts > 0]
    assert len(counts) == 10
    assert ((counts - 3000).abs() < 5 * 3000**0.5).all()  # five standard deviations


def test_a_link_that_is_left_out_takes_no_place_in_the_sample():
    star, _ = Network.from_edge_index(torch.ones(6, 1), torch.tensor([[1, 2, 3, 4, 5], [0] * 5]))
    generator = torch.Generator().manual_seed(0)
    pairs = torch.tensor([[0, 3]]).expand(9_000, 2)
    graphs = computation_graphs(star, pairs, 1, 2, generator)
    assert set(graphs.node_counts.tolist()) == {4}
    drawn = graphs.n_id[graphs.edge_index[0] + graphs.node_ptr[:-1].repeat_interleave(graphs.edge_counts)]
    counts = torch.bincount(drawn[drawn > 0], minlength=6)
    assert counts[3] == 0
    assert ((counts[[1, 2, 4, 5]] - 4500).abs() < 5 * 4500**0.5).all()


def test_names_say_which_nodes_it_is_about():
    network = replace(random_network(3, 5, seed=0), names=("ada", "bob", "eve"))
    assert computation_graphs(network, torch.tensor([2]), 1).names == ("eve",)
    assert computation_graphs(network, torch.tensor([[2, 0]]), 1).names == ("eve – ada",)
    assert computation_graphs(replace(network, names=None), torch.tensor([2]), 1).names == ("node 2",)


def test_no_targets_give_no_graphs():
    assert len(computation_graphs(random_network(3, 5, seed=0), torch.zeros(0, dtype=torch.int64), 2)) == 0


@pytest.mark.parametrize(
    ("targets", "hops", "fanout", "message"),
    [
        ([9], 2, None, r"among the nodes 0 to 4 \(got \[9\]\)"),
        ([-1], 2, None, "among the nodes"),
        ([[1, 1]], 2, None, "two different nodes"),
        ([[1, 2, 3]], 2, None, r"got \(1, 3\)"),
        ([0], 0, None, "at least one hop"),
        ([0], 2, 0, "fanout of at least 1"),
        ([0], 2, [5], "each of 2 hops"),
    ],
)
def test_targets_and_fanouts_that_make_no_sense_are_refused(targets, hops, fanout, message):
    with pytest.raises(DataError, match=message):
        computation_graphs(random_network(5, 8, seed=0), torch.tensor(targets), hops, fanout)
