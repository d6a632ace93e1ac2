"""Units: groups of nodes that a subgraph contains completely or not at all.

A chemist has no name for a ring with one bond missing, or for half a nitro group. ``featurizers/graph_units.py`` finds
the units of a graph; this module completes node sets to whole units. A node set is a bit mask: a Python integer whose
bit ``i`` stands for node ``i``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

CLOSING = 1.0
"""The bonus, in growing a subgraph by scores, of each further edge between a new node and the subgraph.

It closes rings: half a ring is not a part that a chemist would name.
"""

Edge = tuple[int, int]
"""Two nodes, the smaller number first."""


@dataclass(frozen=True)
class Units:
    """The units of one graph: node groups and cycles. A node set is *whole* if it cuts none of them.

    Attributes:
        neighbours: The neighbours of every node, one mask per node.
        groups: Masks of node groups, smallest first. A whole set that has a node of some groups has at least one of
            these groups completely.
        cycles: For each edge, the masks of the cycles that it lies on, smallest first. A whole set that has both ends
            of the edge has at least one of these cycles completely.
    """

    neighbours: tuple[int, ...]
    groups: tuple[int, ...] = ()
    cycles: dict[Edge, tuple[int, ...]] = field(default_factory=dict)

    @property
    def num_nodes(self) -> int:
        """How many nodes the graph has."""
        return len(self.neighbours)

    def closure(self, nodes: int) -> int:
        """The nodes completed to a whole set: cut groups and cycles are filled up with the smallest that has them."""
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
        """The nodes that need no completion: those in no group, and those in a group that ``nodes`` contains."""
        held, grouped = 0, 0
        for group in self.groups:
            grouped |= group
            if group & nodes == group:
                held |= group
        return held | ~grouped

    def is_whole(self, nodes: int) -> bool:
        """Whether the set cuts no group and no cycle."""
        return self.closure(nodes) == nodes

    def fragile(self, pieces: Sequence[int]) -> list[tuple[int, tuple[int, ...]]]:
        """Edges that a union of these whole pieces may contain without a cycle of them: their ends, and their cycles.

        Only these must be checked when pieces are united (:func:`cuts_none`); every other union is whole.
        """
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
        """The number of edges between the nodes of a set."""
        return sum((self.neighbours[node] & nodes).bit_count() for node in members(nodes)) // 2

    def edges_between(self, nodes: int, others: int) -> int:
        """The number of edges that ``nodes`` adds to the disjoint set ``others``: within it, and between the two."""
        inside = joined = 0
        for node in members(nodes):
            inside += (self.neighbours[node] & nodes).bit_count()
            joined += (self.neighbours[node] & others).bit_count()
        return inside // 2 + joined

    def around(self, nodes: int) -> int:
        """The neighbours of a set that are not in it."""
        found = 0
        for node in members(nodes):
            found |= self.neighbours[node]
        return found & ~nodes

    def all_units(self) -> list[int]:
        """All units without duplicates: closed groups and cycles, and every node that is in none of them."""
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
    """Whether a union of whole pieces cuts none of its :meth:`~Units.fragile` cycles."""
    return not any(not ends & ~nodes and all(cycle & ~nodes for cycle in cycles) for ends, cycles in fragile)


def ring_edges(rings: Iterable[Sequence[int]]) -> dict[Edge, tuple[int, ...]]:
    """For each edge the masks of the rings that it lies on, smallest first; a ring is a sequence of nodes."""
    found: dict[Edge, list[int]] = {}
    for ring in sorted((tuple(ring) for ring in rings), key=lambda ring: (len(ring), ring)):
        mask = mask_of(ring)
        for start, end in zip(ring, (*ring[1:], ring[0]), strict=True):
            found.setdefault((min(start, end), max(start, end)), []).append(mask)
    return {edge: tuple(masks) for edge, masks in found.items()}


def members(nodes: int) -> list[int]:
    """The nodes of a mask, ascending: ``0b101 → [0, 2]``."""
    found = []
    while nodes:
        lowest = nodes & -nodes
        found.append(lowest.bit_length() - 1)
        nodes ^= lowest
    return found


def mask_of(nodes: Iterable[int]) -> int:
    """The mask of some nodes: ``{0, 2} → 0b101``."""
    mask = 0
    for node in nodes:
        mask |= 1 << node
    return mask
