"""One graph as adjacency bit masks: its connected subgraphs, and how the search prunes them.

A node set is a Python integer whose bit ``v`` stands for node ``v`` (:mod:`protgnn.data.units`): hashable, fast to
intersect, and of any size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from protgnn.data.units import mask_of, members


def to_matrix(node_sets: Sequence[int], num_nodes: int) -> np.ndarray:
    """S node sets as a bool matrix ``[S, num_nodes]``: entry (s, v) is true if set s contains node v."""
    width = (num_nodes + 7) // 8
    raw = b"".join(nodes.to_bytes(width, "little") for nodes in node_sets)
    packed = np.frombuffer(raw, dtype=np.uint8).reshape(len(node_sets), width)
    return np.unpackbits(packed, axis=1, count=num_nodes, bitorder="little").view(np.bool_)


def tie_order(num_nodes: int, graph: int, seed: int) -> list[int]:
    """The nodes of graph number ``graph`` in the seeded random order that breaks ties between equal degrees."""
    order: list[int] = np.random.default_rng([seed, graph]).permutation(num_nodes).tolist()
    return order


class BitGraph:
    """One graph as adjacency bit masks, with the root of its search tree and the children of every subgraph.

    Args:
        num_nodes: The number of nodes.
        edges: Pairs of node numbers; direction and self-loops are ignored.
        targets: Nodes that are never pruned.
        order: All nodes, in the order that breaks ties.
    """

    def __init__(
        self, num_nodes: int, edges: Iterable[tuple[int, int]], targets: Sequence[int], order: Sequence[int]
    ) -> None:
        self.adjacent = [0] * num_nodes
        for source, target in edges:
            if source != target:
                self.adjacent[source] |= 1 << target
                self.adjacent[target] |= 1 << source
        self.targets = mask_of(targets)
        self._prunable = [(node, 1 << node, self.adjacent[node]) for node in order if not self.targets >> node & 1]
        self._place = {node: place for place, (node, _, _) in enumerate(self._prunable)}

    def root(self) -> int:
        """The components of the targets or, without targets, the largest component (of equals the first)."""
        everything = (1 << len(self.adjacent)) - 1
        if self.targets:
            return sum(component for component in self._components(everything) if component & self.targets)
        return self._largest_component(everything)

    def children(self, nodes: int, limit: int) -> list[int]:
        """Up to ``limit`` sets with one node pruned and no more components, those of low-degree nodes first."""
        by_degree: list[list[tuple[int, int]]] = [[] for _ in range(8)]
        for _, bit, adjacent in self._inside(nodes):
            around = adjacent & nodes
            degree = around.bit_count()
            while degree >= len(by_degree):
                by_degree.append([])
            by_degree[degree].append((bit, around))
        found: list[int] = []
        for degree, candidates in enumerate(by_degree):
            for bit, around in candidates:
                rest = nodes ^ bit
                # A node with one neighbour cuts nothing off; any other must leave its neighbours joined.
                if degree < 2 or not around & ~self._reached(around & -around, rest, around):
                    found.append(rest)
                    if len(found) == limit:
                        return found
        return found

    def neighbourhoods(self, nodes: int, limit: int, size: int) -> list[int]:
        """Up to ``limit`` connected sets of ``size`` nodes: balls around nodes that no earlier ball contains.

        ``nodes`` must be connected and more than ``size``; nodes at equal distance are taken in the tie order.
        """
        found: list[int] = []
        covered = 0
        for _, bit, _ in self._inside(nodes):
            if not covered & bit:
                found.append(self._nearest(bit, nodes, size))
                covered |= found[-1]
                if len(found) == limit:
                    break
        return found

    def _nearest(self, start: int, within: int, size: int) -> int:
        """The ``size`` nodes of ``within`` nearest to ``start``; ties are broken by the tie order."""
        seen = frontier = start
        while seen.bit_count() < size:
            grown = 0
            for node in members(frontier):
                grown |= self.adjacent[node]
            frontier = grown & within & ~seen
            for _, bit, _ in self._inside(frontier)[: size - seen.bit_count()]:
                seen |= bit
        return seen

    def _inside(self, nodes: int) -> list[tuple[int, int, int]]:
        """The nodes of a set that may be pruned, in tie order: number, bit and neighbours."""
        if 4 * nodes.bit_count() > len(self.adjacent):
            return [one for one in self._prunable if nodes & one[1]]
        places = sorted(self._place[node] for node in members(nodes & ~self.targets))
        return [self._prunable[place] for place in places]

    def _components(self, nodes: int) -> list[int]:
        """The connected components of a set, ordered by their lowest nodes."""
        components = []
        while nodes:
            components.append(self._reached(nodes & -nodes, nodes, nodes))
            nodes &= ~components[-1]
        return components

    def _largest_component(self, nodes: int) -> int:
        """The largest connected component of a set; of equals the one with the lowest node."""
        return max(self._components(nodes), key=int.bit_count)

    def _reached(self, start: int, within: int, wanted: int) -> int:
        """The nodes reachable from ``start`` inside ``within``; stops early once it contains ``wanted``."""
        # The innermost loop of the search: written out rather than shared with `_nearest` (docs/decisions/0100).
        seen = frontier = start
        while frontier and wanted & ~seen:
            grown = 0
            while frontier:
                lowest = frontier & -frontier
                grown |= self.adjacent[lowest.bit_length() - 1]
                frontier ^= lowest
            frontier = grown & within & ~seen
            seen |= frontier
        return seen
