"""The tree search as one would write it down: one graph, one prototype, one encoder call per subgraph, Python sets."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import networkx as nx
import torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.subgraph import cut
from protgnn.data.units import Units, members
from protgnn.search.bitsets import tie_order
from protgnn.search.pool import DECIMALS, Encode
from protgnn.search.tree import SearchSettings

Nodes = frozenset[int]


@dataclass
class Action:
    """A pruning action: where it leads and its C, W and R."""

    child: Nodes
    reward: float
    count: int = 0
    total: float = 0.0


@dataclass
class PlainSearch:
    """The search of one graph for one prototype ``[H]``; ``number`` is the graph's number in its set."""

    graph: GraphSet
    number: int
    prototype: Tensor
    encode: Encode
    settings: SearchSettings
    units: Units | None = None
    similarity: dict[Nodes, float] = field(default_factory=dict)
    actions: dict[Nodes, list[Action]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.network = nx.Graph()
        self.network.add_nodes_from(range(int(self.graph.node_counts[0])))
        self.network.add_edges_from((u, v) for u, v in self.graph.edge_index.t().tolist() if u != v)
        self.targets = set() if self.graph.targets is None else set(self.graph.targets[0].tolist())
        self.order = tie_order(len(self.network), self.number, self.settings.seed)

    def run(self) -> tuple[Nodes, float]:
        """The most similar subgraph and its similarity."""
        root = self.root()
        self.evaluate(root)
        for _ in range(self.settings.iterations):
            self.iterate(root)
        limit = max(self.settings.max_nodes, min(len(nodes) for nodes in self.similarity))
        allowed = [nodes for nodes in self.similarity if len(nodes) <= limit]
        best = min(allowed, key=lambda nodes: (-self.similarity[nodes], len(nodes), sum(1 << v for v in nodes)))
        return best, self.similarity[best]

    def root(self) -> Nodes:
        parts: list[set[int]] = sorted(nx.connected_components(self.network), key=min)
        if self.targets:
            return frozenset(node for part in parts if part & self.targets for node in part)
        largest = max(parts, key=len)
        return frozenset(largest)

    def iterate(self, nodes: Nodes) -> None:
        path: list[Action] = []
        while not self.is_leaf(nodes):
            total = sum(action.count for action in self.actions[nodes])
            chosen = max(self.actions[nodes], key=lambda action: (self.value(action, total), action.reward))
            path.append(chosen)
            nodes = chosen.child
        for action in path:
            action.count += 1
            action.total += self.similarity[nodes]

    def is_leaf(self, nodes: Nodes) -> bool:
        if len(nodes) <= self.settings.min_nodes:
            return True
        if nodes not in self.actions:
            self.actions[nodes] = [Action(child, self.evaluate(child)) for child in self.children(nodes)]
        return not self.actions[nodes]

    def value(self, action: Action, total: int) -> float:
        average = action.total / action.count if action.count else 0.0
        return average + self.settings.exploration * action.reward * math.sqrt(total) / (1 + action.count)

    def neighbourhoods(self, nodes: Nodes, size: int) -> list[Nodes]:
        inside = self.network.subgraph(nodes)
        found: list[Nodes] = []
        for centre in self.order:
            if centre in nodes and not any(centre in part for part in found):
                hops = nx.single_source_shortest_path_length(inside, centre)
                nearest = sorted(nodes, key=lambda node: (hops[node], self.order.index(node)))
                found.append(frozenset(nearest[:size]))
        return found[: self.settings.children]

    def children(self, nodes: Nodes) -> list[Nodes]:
        largest = max(self.settings.whole_nodes, self.settings.max_nodes)
        if len(nodes) > largest and not self.targets:
            return self.neighbourhoods(nodes, largest)
        if self.units is not None:
            return self.children_by_units(nodes, self.units)
        inside = self.network.subgraph(nodes)
        parts = nx.number_connected_components(inside)
        found = []
        for node in sorted(nodes - self.targets, key=lambda node: (inside.degree[node], self.order.index(node))):
            rest = nodes - {node}
            if rest and nx.number_connected_components(self.network.subgraph(rest)) <= parts:
                found.append(rest)
        return found[: self.settings.children]

    def children_by_units(self, nodes: Nodes, units: Units) -> list[Nodes]:
        """Take a node away with every unit that it is in: what is left is the union of the others."""
        pieces = [set(members(piece)) for piece in units.all_units()]
        parts = nx.number_connected_components(self.network.subgraph(nodes))
        found: dict[Nodes, tuple[int, int]] = {}
        for node in sorted(nodes - self.targets, key=self.order.index):
            rest = frozenset(other for piece in pieces if piece <= nodes and node not in piece for other in piece)
            cut = nx.cut_size(self.network.subgraph(nodes), nodes - rest, rest) if rest else 0
            if rest in found or rest == nodes or len(rest) < self.settings.min_nodes or not self.targets <= rest:
                continue
            if not units.is_whole(sum(1 << other for other in rest)):
                continue
            if nx.number_connected_components(self.network.subgraph(rest)) <= parts:
                found[rest] = cut, self.order.index(node)
        return sorted(found, key=lambda rest: found[rest])[: self.settings.children]

    @torch.no_grad()
    def evaluate(self, nodes: Nodes) -> float:
        if nodes not in self.similarity:
            mask = torch.tensor([node in nodes for node in range(len(self.network))])
            h = self.encode(cut(self.graph, torch.tensor([0]), mask).batch())[0]
            distance = float((h - self.prototype).square().sum())
            epsilon = self.settings.epsilon
            self.similarity[nodes] = round(math.log((distance + 1) / (distance + epsilon)), DECIMALS)
        return self.similarity[nodes]


def plain_search(
    graphs: GraphSet,
    number: int,
    prototype: Tensor,
    encode: Encode,
    settings: SearchSettings,
    units: Units | None = None,
) -> tuple[Nodes, float]:
    """Search graph ``number`` for one prototype ``[H]``: nodes, whole with ``units``, and similarity."""
    return PlainSearch(graphs[number], number, prototype, encode, settings, units).run()
