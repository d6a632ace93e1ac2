"""Candidate subgraphs that grow unit by unit: K candidates of every graph, all of them in lockstep.

As in ``grow``, but what a candidate takes in is a whole unit (``data/units.py``): it begins with the unit at the best
edge of its graph, and in every step takes in the unit that is joined to it by the best edge, as long as all edges of
the union fit into the budget. Where no unit of a graph does, its candidate is the unit with the fewest edges.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from protgnn.data.batch import Batch
from protgnn.data.sorted_arrays import ragged_ranges
from protgnn.data.units import CLOSING, Units, cuts_none, members

NEVER = np.float32(-np.inf)
"""The score of what must not be chosen."""

LAST = np.float32(-1e30)
"""The score of a unit without an edge, in a graph that has edges."""

_TIE = 1e-4  # two units at one edge are told apart by their other edges, which count less than a step of rounding


class UnitGrowth:
    """The candidates while they grow: ``member [K, N]`` by node, others ``[K, P]`` by piece, ``[K, B]`` by graph.

    The P pieces are the units of all graphs, one after another.
    """

    def __init__(self, batch: Batch, units: Sequence[Units], score: np.ndarray, budget: int) -> None:
        """Get ready to grow by scores of the entries of the adjacency, ``[K, E + N]``."""
        self.score, self.budget = score, budget
        self.source, self.ptr = batch.adjacency.col.cpu().numpy(), batch.adjacency.rowptr.cpu().numpy()
        pieces = [own.all_units() for own in units]
        self.masks = [mask for own in pieces for mask in own]
        self.fragile = [own.fragile(masks) for own, masks in zip(units, pieces, strict=True)]
        self._cut_pieces(batch, np.array([len(own) for own in pieces]))
        shape = (len(score), len(batch.x))
        self.member = np.zeros(shape, dtype=np.bool_)
        self.link = np.full(shape, NEVER, dtype=np.float32)  # best score of an edge to the candidate
        self.links = np.zeros(shape, dtype=np.int32)  # how many edges to the candidate
        self.size = np.zeros((len(score), len(pieces)), dtype=np.int64)  # edges in the candidate
        self.refused = np.zeros((len(score), len(self.masks)), dtype=np.bool_)
        self.taken: dict[tuple[int, int], int] = {}  # masks of candidates of graphs where a cycle may be cut

    def _cut_pieces(self, batch: Batch, sizes: np.ndarray) -> None:
        """List the nodes of all pieces and the edges within them, given the number of pieces of each graph."""
        counts = batch.node_counts.cpu().numpy()
        self.graph = np.repeat(np.arange(len(sizes)), sizes)
        self.first_piece = np.cumsum(sizes) - sizes
        lists = [list(members(mask)) for mask in self.masks]
        self.length = np.array([len(own) for own in lists])
        self.first = np.cumsum(self.length) - self.length
        start = np.repeat((np.cumsum(counts) - counts)[self.graph], self.length)
        self.node = np.fromiter((node for own in lists for node in own), np.int64, len(start)) + start
        degree = self.ptr[self.node + 1] - self.ptr[self.node]
        self.entry = ragged_ranges(self.ptr[self.node], degree)  # all entries of all nodes, and where a piece begins
        self.first_entry = np.concatenate([[0], np.cumsum(degree)])[self.first]
        row = np.repeat(np.arange(len(self.node)), degree)
        piece = np.repeat(np.arange(len(lists)), self.length)
        keys = piece * len(self.ptr) + self.node
        wanted = piece[row] * len(self.ptr) + self.source[self.entry]
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        inner = (keys[place] == wanted) & (place < row)  # each edge within a piece once
        self.start, self.end = row[inner], place[inner]
        self.edges = np.bincount(piece[row[inner]], minlength=len(lists))
        self.first_edge = np.cumsum(self.edges) - self.edges

    def grow(self, alone: np.ndarray) -> np.ndarray:
        """Begin with a unit of every graph and take units in until none fits; scores of nodes ``alone [K, N]`` decide
        in graphs without edges."""
        self._take(self._to_begin_with(alone), np.broadcast_to(self.edges, self.refused.shape))
        while True:
            worth, added = self._joined()
            if not (worth > NEVER).any():
                return self.member
            self._take(worth, added)

    def _to_begin_with(self, alone: np.ndarray) -> np.ndarray:
        """How good it is to begin with each piece: its best edge, within it or leading out of it."""
        around = self.score[:, self.entry]
        best = np.maximum.reduceat(around, self.first_entry, axis=1)
        known = around > NEVER
        total = np.add.reduceat(np.where(known, around, 0), self.first_entry, axis=1)
        mean = total / np.maximum(np.add.reduceat(known, self.first_entry, axis=1, dtype=np.int64), 1)
        edgeless = np.maximum.reduceat(best, self.first_piece, axis=1)[:, self.graph] == NEVER
        by_node = np.maximum.reduceat(alone[:, self.node], self.first, axis=1)
        worth = np.where(edgeless, by_node, np.maximum(best, LAST) + _TIE * mean / (1 + np.abs(mean)))
        fits = self.edges <= self.budget
        fewest = np.minimum.reduceat(np.where(fits, -1, self.edges), self.first_piece)[self.graph]
        return np.where(fits | (self.edges == fewest), worth, NEVER)

    def _joined(self) -> tuple[np.ndarray, np.ndarray]:
        """How good it is to take each piece in (never, where it is not joined or does not fit), and edges it adds."""
        new = ~self.member[:, self.node]
        link = np.maximum.reduceat(np.where(new, self.link[:, self.node], NEVER), self.first, axis=1)
        joined = np.add.reduceat(np.where(new, self.links[:, self.node], 0), self.first, axis=1)
        both = np.zeros((len(new), len(self.start) + 1), dtype=np.int64)
        np.cumsum(new[:, self.start] & new[:, self.end], axis=1, out=both[:, 1:])
        added = joined + both[:, self.first_edge + self.edges] - both[:, self.first_edge]
        fits = (added + self.size[:, self.graph] <= self.budget) & ~self.refused
        return np.where(fits, link + CLOSING * (joined - 1).astype(np.float32), NEVER), added

    def _take(self, worth: np.ndarray, added: np.ndarray) -> None:
        """Take the best piece into each candidate, the first of equals, and note its edges at its neighbours."""
        highest = np.maximum.reduceat(worth, self.first_piece, axis=1)[:, self.graph]
        number = np.where((worth == highest) & (worth > NEVER), np.arange(worth.shape[1]), worth.shape[1])
        best = np.minimum.reduceat(number, self.first_piece, axis=1)
        candidate, graph = np.nonzero(best < worth.shape[1])
        piece = best[candidate, graph]
        whole = self._stay_whole(candidate, graph, piece)
        candidate, graph, piece = candidate[whole], graph[whole], piece[whole]
        self.size[candidate, graph] += added[candidate, piece]
        of = np.repeat(candidate, self.length[piece])
        node = self.node[ragged_ranges(self.first[piece], self.length[piece])]
        new = ~self.member[of, node]
        of, node = of[new], node[new]
        self.member[of, node] = True
        degree = self.ptr[node + 1] - self.ptr[node]
        entry = ragged_ranges(self.ptr[node], degree)
        of, other = np.repeat(of, degree), self.source[entry]
        np.maximum.at(self.link, (of, other), self.score[of, entry])
        np.add.at(self.links, (of, other), 1)  # a node's own entry counts as well, and only once it is in

    def _stay_whole(self, candidate: np.ndarray, graph: np.ndarray, piece: np.ndarray) -> np.ndarray:
        """Whether candidates stay whole with a piece more, bool; where not, the piece is refused from now on."""
        whole = np.ones(len(candidate), dtype=np.bool_)
        risky = np.array([bool(own) for own in self.fragile])[graph]
        for row in np.flatnonzero(risky).tolist():
            key = int(candidate[row]), int(graph[row])
            union = self.taken.get(key, 0) | self.masks[int(piece[row])]
            if cuts_none(union, self.fragile[key[1]]):
                self.taken[key] = union
            else:
                whole[row] = False
        self.refused[candidate[~whole], piece[~whole]] = True
        return whole
