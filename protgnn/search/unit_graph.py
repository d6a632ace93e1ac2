"""A graph with units: pruning a node prunes every unit that contains it.

A subgraph is a union of units (``data/units.py``). An action removes one node with all its units; the union of the
other units remains. If every node is a unit of its own, this is the pruning of single nodes. As there, actions that cut
the fewest edges come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from protgnn.data.units import Units, cuts_none, members
from protgnn.search.bitsets import BitGraph


class UnitGraph(BitGraph):
    """A :class:`BitGraph` that is pruned by units; subgraphs of fewer than ``smallest`` nodes are left out."""

    def __init__(
        self,
        units: Units,
        edges: Iterable[tuple[int, int]],
        targets: Sequence[int],
        order: Sequence[int],
        smallest: int = 1,
    ) -> None:
        super().__init__(units.num_nodes, edges, targets, order)
        self.pieces, self.smallest = units.all_units(), smallest
        self._pieces_of = [0] * units.num_nodes  # which pieces a node is in, a mask over pieces
        for number, piece in enumerate(self.pieces):
            for node in members(piece):
                self._pieces_of[node] |= 1 << number
        self._fragile = units.fragile(self.pieces)

    def children(self, nodes: int, limit: int) -> list[int]:
        """Up to ``limit`` whole sets with one node and its units pruned and no more components.

        Those that cut the fewest edges come first.
        """
        inside = 0
        for number, piece in enumerate(self.pieces):
            if not piece & ~nodes:
                inside |= 1 << number
        by_cost: dict[int, list[tuple[int, int]]] = {}
        tried: set[int] = set()
        made = {nodes}
        for node, _, _ in self._inside(nodes):
            gone = self._pieces_of[node] & inside
            if gone in tried:
                continue
            tried.add(gone)
            rest = self._union(inside & ~gone)
            if rest in made or self.targets & ~rest or rest.bit_count() < self.smallest:
                continue
            made.add(rest)
            around = cost = 0
            for other in members(nodes ^ rest):
                joined = self.adjacent[other] & rest
                around |= joined
                cost += joined.bit_count()
            by_cost.setdefault(cost, []).append((rest, around))
        found: list[int] = []
        for cost in sorted(by_cost):
            for rest, around in by_cost[cost]:
                if not around & ~self._reached(around & -around, rest, around) and cuts_none(rest, self._fragile):
                    found.append(rest)
                    if len(found) == limit:
                        return found
        return found

    def neighbourhoods(self, nodes: int, limit: int, size: int) -> list[int]:
        """Up to ``limit`` connected whole sets of at most ``size`` nodes: the units inside balls around nodes.

        No earlier ball contains the centre of a later one. If no unit fits into a ball, these are the :meth:`children`.
        """
        found: dict[int, None] = {}
        covered = 0
        for _, bit, _ in self._inside(nodes):
            if covered & bit:
                continue
            near = self._nearest(bit, nodes, size)
            covered |= near
            kept = self._union(sum(1 << number for number, piece in enumerate(self.pieces) if not piece & ~near))
            part = self._largest_component(kept) if kept else 0
            if part.bit_count() >= self.smallest and cuts_none(part, self._fragile):
                found[part] = None
                if len(found) == limit:
                    break
        return list(found) or self.children(nodes, limit)

    def _union(self, numbers: int) -> int:
        """The union of pieces; ``numbers`` is a mask over pieces."""
        nodes = 0
        for number in members(numbers):
            nodes |= self.pieces[number]
        return nodes
