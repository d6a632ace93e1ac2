"""Nodes of a network are told by their names, kinds, classes and what stands out of them."""

import torch

from protgnn.data.labels import UNKNOWN
from protgnn.data.network.network import Network
from protgnn.data.schema import Schema
from protgnn.explain.node_cards import describe_nodes, node_cards

SCHEMA = Schema(
    "graph",
    ("cats", "dogs"),
    ("age", "kind=a", "kind=b", "flat"),
    (),
    node_scale=((40.0, 10.0), (0, 1), (0, 1), (0, 1)),
)


def network() -> Network:
    ages = torch.tensor([-0.2, 0.1, 0.0, 2.5])
    kinds = torch.tensor([[1.0, 0], [0, 1], [0, 1], [0, 0]])
    x = torch.cat([ages[:, None], kinds, torch.ones(4, 1)], 1)
    edges = torch.tensor([[0, 1, 2], [1, 2, 3]])
    y = torch.tensor([0, 1, 1, UNKNOWN])
    return Network.from_edge_index(x, edges, y=y, names=["ann", "bob", "cy", "old " * 20], schema=SCHEMA)[0]


def test_a_card_says_name_kind_class_and_what_stands_out_in_the_units_of_the_table():
    ann, old = node_cards(network(), [0, 3])
    assert (ann.id, ann.kind, ann.label) == ("ann", "a", "cats")
    assert (old.kind, old.label) == (None, None)
    assert dict(old.features) == {"age": 65.0}, "the constant column and kinds stand out of nothing"
    assert str(ann).startswith("ann: a, labelled cats") and ann.beside == "a, cats"
    assert old.to_json()["features"] == {"age": 65.0} and len(old.to_json()["id"]) == 80
    assert len(str(old)) < 60


def test_parts_are_told_by_their_first_nodes_and_what_they_are():
    cards = node_cards(network(), [1, 0, 2])
    assert describe_nodes(cards, 2) == "bob, ann, cy (2× b, 1× a; 2× dogs, 1× cats), 2 edges"
    assert describe_nodes(cards[:1], 0) == "bob (1× b; 1× dogs)"
    assert "and 2 more" in describe_nodes([*cards, *cards], 9)
