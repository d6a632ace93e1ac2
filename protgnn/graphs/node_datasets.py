"""Networks that have a name: what each is, and how it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from protgnn.graphs.network import Network


@dataclass(frozen=True)
class NamedNetwork:
    """A network by name: its task in words, what it is, where it comes from, and how it is made from a seed."""

    task: str
    description: str
    origin: str
    make: Callable[[int], Network]


def node_datasets() -> dict[str, NamedNetwork]:
    """Every network that has a name."""
    from protgnn.graphs.networks_generated import ba_shapes, communities, tree_cycles, web_network

    published = "Ying et al. 2019, generated"
    houses = "300 Barabási–Albert nodes with 80 houses attached; the true nodes are known"
    cycles = "A binary tree with 80 cycles of six attached; the true nodes are known"
    return {
        "ba-shapes": NamedNetwork(
            "4-class nodes", f"{houses}; features are degrees", published, partial(ba_shapes, features="degree")
        ),
        "ba-shapes:constant": NamedNetwork("4-class nodes", f"{houses}; features are ones", published, ba_shapes),
        "tree-cycles": NamedNetwork(
            "2-class nodes", f"{cycles}; features are degrees", published, partial(tree_cycles, features="degree")
        ),
        "tree-cycles:constant": NamedNetwork("2-class nodes", f"{cycles}; features are ones", published, tree_cycles),
        "communities": NamedNetwork(
            "4-class nodes, or links",
            "A stochastic block model of 600 nodes in 4 groups",
            "generated",
            lambda seed: communities(seed=seed),
        ),
        "web": NamedNetwork(
            "5-class nodes",
            "10 000 nodes with hubs and 100 000 edges, for measuring",
            "generated",
            lambda seed: web_network(seed=seed),
        ),
    }
