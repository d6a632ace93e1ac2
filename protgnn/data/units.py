"""Units: groups of nodes that are shown whole or not at all.

A ring with one bond missing, or half a nitro group, is nothing that a chemist would name. Featurizers say what belongs
together (``featurizers/units.py``); this module only keeps it whole. A set of nodes is a bit mask, a Python integer
whose bit ``i`` stands for node ``i``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

Edge = tuple[int, int]
"""Two nodes, the smaller number first."""


@dataclass(frozen=True)
class Units:
    """What belongs together in one graph.

    Attributes:
        neighbours: The neighbours of every node, one mask per node.
        groups: Masks of nodes that come together, the smallest first: a node that is in groups comes with a whole one.
        cycles: Masks of the cycles that an edge lies on, by edge: two nodes joined by such an edge bring a whole cycle
            of it, the smallest first.
    """

    neighbours: tuple[int, ...]
    groups: tuple[int, ...] = ()
    cycles: dict[Edge, tuple[int, ...]] = field(default_factory=dict)

    @property
    def num_nodes(self) -> int:
        """How many nodes the graph has."""
        return len(self.neighbours)

    def closure(self, nodes: int) -> int:
        """A whole set of nodes around these: where a node has no whole group its smallest is completed, and cut cycles
        are closed by their smallest cycle."""
        while True:
            before = nodes
            held = self._held(nodes)
            for group in self.groups:
                if nodes & group & ~held:
                    nodes, held = nodes | group, held | group
            for (start, end), cycles in self.cycles.items():
                inside = nodes >> start & 1 and nodes >> end & 1
                if inside and not any(cycle & nodes == cycle for cycle in cycles):
                    nodes |= cycles[0]
            if nodes == before:
                return nodes

    def _held(self, nodes: int) -> int:
        """The nodes of groups that are whole among these, and all that are in no group."""
        held, grouped = 0, 0
        for group in self.groups:
            grouped |= group
            if group & nodes == group:
                held |= group
        return held | ~grouped

    def is_whole(self, nodes: int) -> bool:
        """Whether no group and no cycle is cut."""
        return self.closure(nodes) == nodes

    def fragile(self, pieces: Sequence[int]) -> list[tuple[int, tuple[int, ...]]]:
        """The ends of edges, and the cycles they lie on, that a union of such whole pieces may hold without a cycle."""
        found = []
        for (start, end), cycles in self.cycles.items():
            without = 0
            for piece in pieces:
                if all(cycle & ~piece for cycle in cycles):
                    without |= piece
            if without >> start & 1 and without >> end & 1:
                found.append((1 << start | 1 << end, cycles))
        return found

    def edge_count(self, nodes: int) -> int:
        """Edges between the nodes of a set."""
        return sum((self.neighbours[node] & nodes).bit_count() for node in members(nodes)) // 2

    def edges_between(self, nodes: int, others: int) -> int:
        """Edges that a set brings to ``others``, which it has no node of: among its nodes, and between the two."""
        inside = joined = 0
        for node in members(nodes):
            inside += (self.neighbours[node] & nodes).bit_count()
            joined += (self.neighbours[node] & others).bit_count()
        return inside // 2 + joined

    def around(self, nodes: int) -> int:
        """The neighbours of a set outside of it."""
        found = 0
        for node in members(nodes):
            found |= self.neighbours[node]
        return found & ~nodes

    def all_units(self) -> list[int]:
        """The units: closed groups and cycles, and the nodes that are in none, each once."""
        covered = 0
        found: dict[int, None] = {}
        cycles = {cycle for several in self.cycles.values() for cycle in several}
        for unit in (*sorted(cycles, key=lambda cycle: (cycle.bit_count(), cycle)), *self.groups):
            covered |= unit
            found[self.closure(unit)] = None
        for node in range(self.num_nodes):
            if not covered >> node & 1:
                found[1 << node] = None
        return list(found)


def cuts_none(nodes: int, fragile: Iterable[tuple[int, tuple[int, ...]]]) -> bool:
    """Whether a union of whole pieces cuts none of its fragile cycles."""
    return not any(not ends & ~nodes and all(cycle & ~nodes for cycle in cycles) for ends, cycles in fragile)


def ring_edges(rings: Iterable[Sequence[int]]) -> dict[Edge, tuple[int, ...]]:
    """The rings, given as nodes in their order, that each edge lies on: masks, the smallest ring first."""
    found: dict[Edge, list[int]] = {}
    for ring in sorted((tuple(ring) for ring in rings), key=lambda ring: (len(ring), ring)):
        mask = mask_of(ring)
        for start, end in zip(ring, (*ring[1:], ring[0]), strict=True):
            found.setdefault((min(start, end), max(start, end)), []).append(mask)
    return {edge: tuple(masks) for edge, masks in found.items()}


def members(nodes: int) -> Iterator[int]:
    """The nodes of a mask, ascending."""
    while nodes:
        lowest = nodes & -nodes
        yield lowest.bit_length() - 1
        nodes ^= lowest


def mask_of(nodes: Iterable[int]) -> int:
    """The mask of some nodes."""
    mask = 0
    for node in nodes:
        mask |= 1 << node
    return mask
