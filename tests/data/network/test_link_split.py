"""Links are split so that nothing leaks, by seed, and become pairs in graphs without their own link."""

import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from protgnn.data.network.instances import NetworkInstances
from protgnn.data.network.link_split import LINK_CLASSES, LinkPart, LinkSplit, split_links
from protgnn.data.network.network import Network
from protgnn.datasets.builtin.networks import communities
from protgnn.errors import DataError
from tests.data.network.random_networks import edge_pairs, random_network
from tests.data.random_graphs import law


def parts_of(split: LinkSplit) -> list[LinkPart]:
    return [split.train, split.valid, split.test]


def links_of(network: Network) -> set[tuple[int, int]]:
    """Links as pairs, smaller number first where the network is undirected."""
    return set(edge_pairs(network)) if network.directed else {tuple(sorted(pair)) for pair in edge_pairs(network)}


def pairs_of(part: LinkPart, label: int) -> list[tuple[int, int]]:
    return [tuple(pair) for pair in part.pairs[part.y == label].tolist()]


@law
@given(seed=st.integers(0, 2**31), directed=st.booleans(), attr=st.booleans())
def test_no_part_knows_a_link_of_its_own_or_a_later_part(seed, directed, attr):
    network = random_network(30, 80, seed, directed=directed, attr=attr)
    split = split_links(network, seed)
    train, valid, test = parts_of(split)
    everything = links_of(network)
    positive = [set(pairs_of(part, 1)) for part in parts_of(split)]
    assert links_of(train.network).isdisjoint(positive[0] | positive[1] | positive[2])
    assert links_of(valid.network) == links_of(train.network) | positive[0]
    assert links_of(test.network) == links_of(valid.network) | positive[1]
    assert links_of(test.network) | positive[2] == everything
    attributes = {} if not attr else dict(zip(edge_pairs(network), network.edge_attr.tolist(), strict=True))
    for part in parts_of(split):
        assert everything.isdisjoint(pairs_of(part, 0))
        if attr:
            wanted = [attributes[pair] for pair in edge_pairs(part.network)]
            assert part.network.edge_attr.tolist() == wanted


@law
@given(seed=st.integers(0, 2**31), directed=st.booleans())
def test_no_pair_is_in_two_parts_or_twice_in_one(seed, directed):
    split = split_links(random_network(15, 60, seed, directed=directed), seed)
    pairs = [tuple(pair) for part in parts_of(split) for pair in part.pairs.tolist()]
    assert len(set(pairs)) == len(pairs)
    if not directed:  # the order of a pair must not tell whether it is a link
        assert all(first < second for first, second in pairs)


def test_parts_have_the_sizes_that_were_asked_for():
    network = communities()
    links = network.num_edges // 2
    split = split_links(network, fractions=(0.7, 0.1, 0.2), held_out=0.5)
    assert len(pairs_of(split.test, 1)) == int(0.2 * links) and len(pairs_of(split.valid, 1)) == int(0.1 * links)
    assert abs(len(pairs_of(split.train, 1)) - 0.35 * links) <= 1
    for part in parts_of(split):
        assert 0.9 < len(pairs_of(part, 0)) / len(pairs_of(part, 1)) <= 1


def test_the_seed_decides_and_global_generators_stay_as_they_were():
    network = communities()
    torch.manual_seed(3)
    random.seed(3)
    before, python_before = torch.get_rng_state(), random.getstate()
    one, other, third = split_links(network, 1), split_links(network, 1), split_links(network, 2)
    assert torch.equal(torch.get_rng_state(), before) and random.getstate() == python_before
    for mine, same, different in zip(parts_of(one), parts_of(other), parts_of(third), strict=True):
        assert torch.equal(mine.pairs, same.pairs) and torch.equal(mine.network.source, same.network.source)
        assert mine.pairs.shape != different.pairs.shape or not torch.equal(mine.pairs, different.pairs)


def test_instances_are_pairs_in_graphs_without_their_link():
    split = split_links(communities(nodes=120, within=0.2))
    index = torch.tensor([3, 0])
    graphs = NetworkInstances.of_links(split.train)[index].ego_graphs()
    assert graphs.schema.class_names == LINK_CLASSES
    assert torch.equal(graphs.y, split.train.y[index])
    for graph, pair in zip(graphs, split.train.pairs[index].tolist(), strict=True):
        assert graph.n_id[graph.targets[0]].tolist() == pair
        ends = graph.n_id[graph.edge_index].t().tolist()
        assert pair not in ends and pair[::-1] not in ends
    assert len(NetworkInstances.of_links(split.test).ego_graphs()) == len(split.test)


def test_what_cannot_be_split_is_refused():
    with pytest.raises(DataError, match=r"at least 20 links to split \(got 1\)"):
        split_links(random_network(2, 20, seed=0))
    with pytest.raises(DataError, match="add up to 1"):
        split_links(communities(), fractions=(0.5, 0.1, 0.1))
    with pytest.raises(DataError, match="held-out share"):
        split_links(communities(), held_out=1.0)
