"""Grow candidate subgraphs from edge scores: K candidates of every graph, all in lockstep.

A candidate starts with the best edge of its graph, or with the target nodes. Each step adds the neighbour with the best
edge to the candidate, together with all edges between the two, until no neighbour fits into the ``budget`` of edges. A
node that closes a ring gets a bonus (``CLOSING``) for each further edge. Candidates are thus connected induced
subgraphs, like those that prototypes come from. In graphs with units, candidates grow by whole units: ``grow_units``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from protgnn.data.adjacency import CSRAdjacency
from protgnn.data.batch import Batch
from protgnn.data.grow_units import NEVER, UnitGrowth
from protgnn.data.sorted_arrays import ragged_ranges
from protgnn.data.subgraph import cut_batch
from protgnn.data.units import CLOSING, Units


@dataclass(frozen=True, eq=False)
class CandidateSubgraphs:
    """K candidates of each of the B graphs of a batch; equal ones are stored once.

    Attributes:
        member: Whether each node is in candidate k of its graph, bool ``[K, N]``.
        batch: The P different candidates as graphs of their own.
        row: Candidate k of graph b is graph ``row[b, k]`` of ``batch``, ``[B, K]``.
    """

    member: Tensor
    batch: Batch
    row: Tensor


def grow(batch: Batch, score: Tensor, alone: Tensor, budget: int, units: Sequence[Units] | None = None) -> Tensor:
    """Grow K candidates of every graph.

    Args:
        batch: The graphs.
        score: Scores of edges ``[K, E]``, the same in both directions.
        alone: Scores of nodes ``[K, N]``, used only in graphs without edges.
        budget: The most edges of a candidate, each undirected edge counted once.
        units: The units of each graph, or ``None`` to grow by single nodes. Graphs with targets ignore them.

    Returns:
        Whether each node is in candidate k of its graph, bool ``[K, N]``.
    """
    if units is not None and batch.targets is None:
        by_units = UnitGrowth(batch, units, _entries(batch.adjacency, score), budget)
        return torch.from_numpy(by_units.grow(alone.detach().cpu().numpy()))
    growth = _Growth(batch, _entries(batch.adjacency, score), budget)
    if batch.targets is None:
        growth.begin_with_best_edge(alone.detach().cpu().numpy())
    else:
        growth.begin_with(batch.targets.cpu().numpy())
    growth.finish()
    return torch.from_numpy(growth.member)


def _entries(adjacency: CSRAdjacency, score: Tensor) -> np.ndarray:
    """Edge scores in the order of the adjacency, ``[K, E] → [K, E + N]``; self-loops get ``NEVER``."""
    entries = np.full((len(score), len(adjacency.col)), NEVER, dtype=np.float32)
    entries[:, adjacency.entry_of_edge.cpu().numpy()] = score.detach().cpu().numpy()
    return entries


class _Growth:
    """The state of growing: arrays ``[K, N]`` per node, ``[K, B]`` per graph, ``[K, E + N]`` per adjacency entry."""

    def __init__(self, batch: Batch, score: np.ndarray, budget: int) -> None:
        adjacency = batch.adjacency
        self.score, self.budget = score, budget
        self.source, self.ptr = adjacency.col.cpu().numpy(), adjacency.rowptr.cpu().numpy()
        self.graph = batch.batch.cpu().numpy()
        counts = batch.node_counts.cpu().numpy()
        self.first = np.cumsum(counts) - counts
        shape = (len(score), len(self.graph))
        self.member = np.zeros(shape, dtype=np.bool_)
        self.link = np.full(shape, NEVER, dtype=np.float32)  # best score of an edge to the candidate
        self.links = np.zeros(shape, dtype=np.int32)  # how many edges to the candidate
        self.size = np.zeros((len(score), len(counts)), dtype=np.int32)  # edges in the candidate

    def begin_with_best_edge(self, alone: np.ndarray) -> None:
        """Start with both ends of the best edge of each graph; in a graph without edges with the best node."""
        starts = self.ptr[self.first]
        best, entry = _highest(self.score, starts)
        candidate, graph = np.nonzero(best > NEVER)
        chosen = entry[candidate, graph]
        target = np.searchsorted(self.ptr, chosen, side="right") - 1
        self._take(candidate, target)
        self._take(candidate, self.source[chosen])
        candidate, graph = np.nonzero(best == NEVER)
        if len(candidate):
            _, node = _highest(alone, self.first)
            self._take(candidate, node[candidate, graph])

    def begin_with(self, targets: np.ndarray) -> None:
        """Start with the target nodes ``[B, T]`` of each graph."""
        candidates, (graphs, width) = len(self.score), targets.shape
        for place in range(width):
            candidate, node = np.repeat(np.arange(candidates), graphs), np.tile(targets[:, place], candidates)
            new = ~self.member[candidate, node]  # both targets may be one node
            self._take(candidate[new], node[new])

    def finish(self) -> None:
        """Add nodes until no candidate can grow."""
        while True:
            fits = ~self.member & (self.links + self.size[:, self.graph] <= self.budget)
            worth = self.link + CLOSING * (self.links - 1).astype(np.float32)
            best, node = _highest(np.where(fits, worth, NEVER), self.first)
            candidate, graph = np.nonzero(best > NEVER)
            if not len(candidate):
                return
            self._take(candidate, node[candidate, graph])

    def _take(self, candidate: np.ndarray, node: np.ndarray) -> None:
        """Add ``node[i]`` to ``candidate[i]``, and update the links of its neighbours."""
        self.member[candidate, node] = True
        self.size[candidate, self.graph[node]] += self.links[candidate, node]
        counts = self.ptr[node + 1] - self.ptr[node]
        entry = ragged_ranges(self.ptr[node], counts)
        of, other = np.repeat(candidate, counts), self.source[entry]
        self.link[of, other] = np.maximum(self.link[of, other], self.score[of, entry])
        self.links[of, other] += 1


def _highest(score: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Maximum and first argmax of each run of columns that begins at ``starts``: ``[K, M], [B] → [K, B], [K, B]``."""
    bits = np.ascontiguousarray(score, dtype=np.float32).view(np.int32)
    ordered = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).astype(np.int64)  # integers in the order of the floats
    column = np.arange(score.shape[1], dtype=np.int64)
    winner = np.maximum.reduceat((ordered << 32) | (0xFFFFFFFF - column), starts, axis=1)
    place = 0xFFFFFFFF - (winner & 0xFFFFFFFF)
    return np.take_along_axis(score, place, axis=1), place


def cut_parts(batch: Batch, member: Tensor) -> CandidateSubgraphs:
    """Cut out the candidates ``member [K, N]`` of the graphs of a batch, on the CPU; equal ones are stored once."""
    inside = member.numpy()
    counts = batch.node_counts.cpu().numpy()
    first = np.cumsum(counts) - counts
    # Sums of random numbers, one per node: equal for equal sets, and for others with a probability of 1 in 2^62.
    marks = np.random.default_rng(0).integers(0, 2**62, size=len(batch.x))
    sums = np.add.reduceat(np.where(inside, marks, 0), first, axis=1)  # [K, B]
    _, firsts, same = np.unique(sums, return_index=True, return_inverse=True)
    stored = np.sort(firsts)  # in the order of candidates and graphs
    number = np.full(sums.size, -1)
    number[stored] = np.arange(len(stored))
    candidate_row = number[firsts][same.reshape(sums.shape)].T  # [B, K]

    kept = inside & (number.reshape(sums.shape) >= 0)[:, batch.batch.cpu().numpy()]
    sizes = np.add.reduceat(kept, first, axis=1, dtype=np.int64).reshape(-1)[stored]
    row, graph = np.unravel_index(stored, sums.shape)
    small = cut_batch(batch, kept, np.zeros(len(kept), dtype=np.int64), row, graph, sizes)
    return CandidateSubgraphs(member, small, torch.from_numpy(np.ascontiguousarray(candidate_row)))
