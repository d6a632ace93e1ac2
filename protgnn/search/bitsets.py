"""Node sets as integers: bit ``v`` is set if node ``v`` is in, so that a set is a dictionary key and an ``&`` away.

Python's integers have no upper size, so neither have the graphs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


def to_bits(nodes: Iterable[int]) -> int:
    """``{0, 2} → 0b101``."""
    bits = 0
    for node in nodes:
        bits |= 1 << node
    return bits


def to_nodes(bits: int) -> list[int]:
    """``0b101 → [0, 2]``."""
    nodes = []
    while bits:
        lowest = bits & -bits
        nodes.append(lowest.bit_length() - 1)
        bits ^= lowest
    return nodes


def to_matrix(node_sets: Sequence[int], num_nodes: int) -> np.ndarray:
    """``S`` sets as a bool matrix ``[S, num_nodes]``: row s, column v tells whether v is in set s."""
    width = (num_nodes + 7) // 8
    raw = b"".join(nodes.to_bytes(width, "little") for nodes in node_sets)
    packed = np.frombuffer(raw, dtype=np.uint8).reshape(len(node_sets), width)
    return np.unpackbits(packed, axis=1, count=num_nodes, bitorder="little").view(np.bool_)


def tie_order(num_nodes: int, graph: int, seed: int) -> list[int]:
    """The nodes of graph number ``graph`` in the seeded order that settles ties between equal degrees."""
    order: list[int] = np.random.default_rng([seed, graph]).permutation(num_nodes).tolist()
    return order


class BitGraph:
    """One graph as adjacency bit masks, with what the search needs of it: root and children.

    ``edges`` are pairs of node numbers; direction and self-loops play no part in what is connected. ``order`` are all
    nodes in the order that settles ties.
    """

    def __init__(
        self, num_nodes: int, edges: Iterable[tuple[int, int]], targets: Sequence[int], order: Sequence[int]
    ) -> None:
        self.adjacent = [0] * num_nodes
        for source, target in edges:
            if source != target:
                self.adjacent[source] |= 1 << target
                self.adjacent[target] |= 1 << source
        self.targets = to_bits(targets)
        self._prunable = [(node, 1 << node, self.adjacent[node]) for node in order if not self.targets >> node & 1]
        self._place = {node: place for place, (node, _, _) in enumerate(self._prunable)}

    def root(self) -> int:
        """The largest component (of equals the one with the lowest node), or those of the targets."""
        everything = (1 << len(self.adjacent)) - 1
        if self.targets:
            return sum(part for part in self._parts(everything) if part & self.targets)
        return self._largest_part(everything)

    def children(self, nodes: int, limit: int) -> list[int]:
        """The first ``limit`` sets one node smaller that fall into no more parts; nodes of low degree go first."""
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
        """Up to ``limit`` connected sets of ``size`` nodes, each what is nearest to a node that is in none before it;
        of nodes that are equally near the first in order are taken. ``nodes`` are connected, and more than that."""
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
        """The ``size`` nodes of ``within`` that are nearest to ``start``, in the order that settles ties."""
        seen = frontier = start
        while seen.bit_count() < size:
            grown = 0
            for node in to_nodes(frontier):
                grown |= self.adjacent[node]
            frontier = grown & within & ~seen
            for _, bit, _ in self._inside(frontier)[: size - seen.bit_count()]:
                seen |= bit
        return seen

    def _inside(self, nodes: int) -> list[tuple[int, int, int]]:
        """The nodes of a set that may go, in order: number, bit and neighbours."""
        if 4 * nodes.bit_count() > len(self.adjacent):
            return [one for one in self._prunable if nodes & one[1]]
        places = sorted(self._place[node] for node in to_nodes(nodes & ~self.targets))
        return [self._prunable[place] for place in places]

    def _parts(self, nodes: int) -> list[int]:
        """The components of a set, by their lowest nodes."""
        parts = []
        while nodes:
            parts.append(self._reached(nodes & -nodes, nodes, nodes))
            nodes &= ~parts[-1]
        return parts

    def _largest_part(self, nodes: int) -> int:
        """The largest component of a set, of equals the one with the lowest node."""
        return max(self._parts(nodes), key=int.bit_count)

    def _reached(self, start: int, within: int, wanted: int) -> int:
        """What can be reached from ``start`` inside ``within``, stopping early once all of ``wanted`` is."""
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
