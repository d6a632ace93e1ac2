"""Instances of a network: one pass or many, sampled or not, they are the same instances."""

import pytest
import torch

from protgnn.data.network.instances import NetworkInstances, Reach
from protgnn.data.network.link_split import split_links
from protgnn.datasets.builtin.networks import ba_shapes, communities, web_network
from protgnn.model.encoders import Encoder
from protgnn.model.readout import readout

NODES = torch.tensor([650, 3, 311, 40, 0])


@pytest.fixture(scope="module")
def houses():
    return NetworkInstances.of_nodes(ba_shapes(features="degree"), NODES)


@pytest.fixture(scope="module")
def web():
    return NetworkInstances.of_nodes(web_network(nodes=2000), NODES).reaching(Reach(hops=2, fanout=3, seed=5))


def embeddings(instances, encoder, size, ego=False):
    name = "target" if instances.num_targets == 1 else "pair_product"
    with torch.no_grad():
        return torch.cat([readout(name, encoder(batch), batch) for batch in instances.batches(size, ego)])


def encoder_for(instances, name="gin", layers=3):
    torch.manual_seed(0)
    return Encoder(name, instances.network.x.shape[1], hidden=8, layers=layers, heads=2).eval()


@pytest.mark.parametrize("name", ["gcn", "gin", "gat"])
def test_one_pass_over_the_network_gives_what_computation_graphs_give(houses, name):
    encoder = encoder_for(houses, name)
    whole = embeddings(houses, encoder, 2)
    graphs = houses._graphs(0).batch()
    with torch.no_grad():
        torch.testing.assert_close(readout("target", encoder(graphs), graphs), whole, rtol=0, atol=1e-5)


def test_a_whole_network_is_passed_once_for_all(houses):
    (batch,) = houses.batches(2)
    assert batch.num_graphs == len(NODES) and len(batch.x) == len(houses.network)
    assert torch.equal(batch.y, houses.y)


def test_a_sampled_instance_does_not_depend_on_the_company_it_is_in(web):
    encoder = encoder_for(web, layers=2)
    together = embeddings(web, encoder, 5)
    alone = torch.cat([embeddings(web[number], encoder, 5) for number in range(len(web))])
    torch.testing.assert_close(alone, together, rtol=0, atol=1e-5)
    torch.testing.assert_close(embeddings(web, encoder, 2), together, rtol=0, atol=1e-5)


def test_another_seed_samples_other_neighbours(web):
    encoder = encoder_for(web, layers=2)
    other = web.reaching(Reach(hops=2, fanout=3, seed=6))
    assert not torch.allclose(embeddings(web, encoder, 5), embeddings(other, encoder, 5))


def test_training_samples_other_neighbours_in_every_epoch_and_the_same_for_the_same_seed(web):
    order = torch.arange(len(web))

    def epoch(seed):
        batches = web.shuffled(order, 2, torch.Generator().manual_seed(seed), lambda step: False)
        return [batch.edge_index for batch in batches]

    assert all(torch.equal(*pair) for pair in zip(epoch(1), epoch(1), strict=True))
    assert not all(torch.equal(*pair) for pair in zip(epoch(1), epoch(2), strict=True))


def test_every_ego_graph_is_small_connected_to_its_target_and_named(houses):
    ego = houses.reaching(Reach(nodes=12)).ego_graphs()
    assert ego.node_counts.tolist() == [12] * len(NODES)
    assert torch.equal(ego.n_id[ego.node_ptr[:-1] + ego.targets[:, 0]], NODES)
    assert ego.names == houses.names and torch.equal(ego.y, houses.y)


def test_instances_come_in_the_order_of_the_given_numbers(houses):
    order = torch.tensor([4, 2, 0, 1, 3])
    batches = list(houses.shuffled(order, 2, torch.Generator(), lambda step: step == 1))
    assert torch.equal(torch.cat([batch.y for batch in batches]), houses.y[order])
    assert [len(batch.x) == len(houses.network) for batch in batches] == [True, False, True]


def test_labels_are_there_only_if_all_are_known():
    network = communities(nodes=40)
    network.y[3] = -1
    assert NetworkInstances.of_nodes(network, torch.tensor([3, 4])).y is None
    assert NetworkInstances.of_nodes(network, torch.tensor([4])).y is not None


def test_pairs_share_a_pass_as_long_as_none_of_them_is_joined():
    network = communities(nodes=120)
    held_out = NetworkInstances.of_links(split_links(network).train)
    assert len(list(held_out.batches(7))) == 1
    linked = network.edge_index[:, :3].t()
    instances = NetworkInstances(network, linked, None, held_out.schema)
    assert len(list(instances.batches(2))) == 2  # each in a graph without its own link
    for graph in instances.ego_graphs():
        first, second = graph.targets[0].tolist()
        assert [first, second] not in graph.edge_index.t().tolist()


def test_joined_pairs_are_told_from_others():
    network = communities(nodes=60)
    pairs = torch.combinations(torch.arange(60))
    there = {tuple(edge) for edge in network.edge_index.t().tolist()}
    assert network.joined(pairs).tolist() == [tuple(pair) in there for pair in pairs.tolist()]
