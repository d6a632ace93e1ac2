"""Connected parts of graphs, grown from edge scores: one part per graph and question, all of them in lockstep.

A part begins with the best edge of its graph (or with the graph's target nodes). In every step it takes in the node
that is joined to it by the best edge, together with all edges between that node and the part, until no node fits into
the ``budget`` of edges. A node that closes a ring scores one more for every further edge: half a ring is no part that a
chemist would name. Parts are therefore induced subgraphs, connected, and of the same kind as the subgraphs that
prototypes come from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from protgnn.graphs.hearing import Hearing
from protgnn.graphs.packed import Batch

NEVER = np.float32(-np.inf)
CLOSING = np.float32(1.0)


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of the graphs of a batch, those that are the same stored once.

    ``member [K, N]`` tells which nodes are in the part of their graph for question k; ``batch`` are the P different
    parts as graphs of their own, and ``part [B, K]`` says which of them answers question k for graph b.
    """

    member: Tensor
    batch: Batch
    part: Tensor


def grow(batch: Batch, score: Tensor, alone: Tensor, budget: int) -> Tensor:
    """Grow a part of every graph for each of K questions: bool ``[K, N]``.

    ``score [K, E]`` holds for edges, the same in both directions; ``alone [K, N]`` for nodes, and decides only in
    graphs without edges.
    """
    hearing = batch.hearing
    growth = _Growth(batch, _entries(hearing, score, len(batch.x)), budget)
    if batch.targets is None:
        growth.begin_with_best_edge(alone.detach().cpu().numpy())
    else:
        growth.begin_with(batch.targets.cpu().numpy())
    growth.finish()
    return torch.from_numpy(growth.member)


def _entries(hearing: Hearing, score: Tensor, num_nodes: int) -> np.ndarray:
    """Scores of edges as scores of entries, ``[K, E] → [K, E + N]``; a node's own entry never wins."""
    entries = np.full((len(score), len(hearing.source)), NEVER, dtype=np.float32)
    entries[:, hearing.place.cpu().numpy()] = score.detach().cpu().numpy()
    return entries


class _Growth:
    """The parts while they grow. Arrays are ``[K, N]`` by node, ``[K, B]`` by graph, ``[K, E + N]`` by entry."""

    def __init__(self, batch: Batch, score: np.ndarray, budget: int) -> None:
        hearing = batch.hearing
        self.score, self.budget = score, budget
        self.heard, self.ptr = hearing.source.cpu().numpy(), hearing.ptr.cpu().numpy()
        self.graph = batch.node_graph.cpu().numpy()
        counts = batch.node_counts.cpu().numpy()
        self.first = np.cumsum(counts) - counts
        shape = (len(score), len(self.graph))
        self.member = np.zeros(shape, dtype=np.bool_)
        self.link = np.full(shape, NEVER, dtype=np.float32)  # best score of an edge to the part
        self.links = np.zeros(shape, dtype=np.int32)  # how many edges to the part
        self.size = np.zeros((len(score), len(counts)), dtype=np.int32)  # edges in the part

    def begin_with_best_edge(self, alone: np.ndarray) -> None:
        """Both ends of the best edge of each graph; of a graph without edges the best node."""
        starts = self.ptr[self.first]
        best, entry = _highest(self.score, starts)
        question, graph = np.nonzero(best > NEVER)
        chosen = entry[question, graph]
        listener = np.searchsorted(self.ptr, chosen, side="right") - 1
        self._take(question, listener)
        self._take(question, self.heard[chosen])
        question, graph = np.nonzero(best == NEVER)
        if len(question):
            _, node = _highest(alone, self.first)
            self._take(question, node[question, graph])

    def begin_with(self, targets: np.ndarray) -> None:
        """The target nodes ``[B, T]`` of each graph."""
        questions, (graphs, width) = len(self.score), targets.shape
        for place in range(width):
            question, node = np.repeat(np.arange(questions), graphs), np.tile(targets[:, place], questions)
            new = ~self.member[question, node]  # both targets may be one node
            self._take(question[new], node[new])

    def finish(self) -> None:
        """Take nodes in until no part can grow."""
        while True:
            fits = ~self.member & (self.links + self.size[:, self.graph] <= self.budget)
            worth = self.link + CLOSING * (self.links - 1).astype(np.float32)
            best, node = _highest(np.where(fits, worth, NEVER), self.first)
            question, graph = np.nonzero(best > NEVER)
            if not len(question):
                return
            self._take(question, node[question, graph])

    def _take(self, question: np.ndarray, node: np.ndarray) -> None:
        """Take one node into each of some parts, and tell its neighbours."""
        self.member[question, node] = True
        self.size[question, self.graph[node]] += self.links[question, node]
        counts = self.ptr[node + 1] - self.ptr[node]
        ends = np.cumsum(counts)
        entry = np.arange(ends[-1] if len(ends) else 0) + np.repeat(self.ptr[node] - (ends - counts), counts)
        asked, other = np.repeat(question, counts), self.heard[entry]
        self.link[asked, other] = np.maximum(self.link[asked, other], self.score[asked, entry])
        self.links[asked, other] += 1


def _highest(score: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The highest of each run of columns and the first column that has it: ``[K, M], [B] → [K, B], [K, B]``."""
    bits = np.ascontiguousarray(score, dtype=np.float32).view(np.int32)
    ordered = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).astype(np.int64)  # integers in the order of the floats
    column = np.arange(score.shape[1], dtype=np.int64)
    winner = np.maximum.reduceat((ordered << 32) | (0xFFFFFFFF - column), starts, axis=1)
    place = 0xFFFFFFFF - (winner & 0xFFFFFFFF)
    return np.take_along_axis(score, place, axis=1), place


def cut_parts(batch: Batch, member: Tensor) -> Parts:
    """Cut the parts ``member [K, N]`` of a batch's graphs out, on the CPU, those that are the same only once."""
    inside = member.numpy()
    hearing, graph = batch.hearing, batch.node_graph.cpu().numpy()
    counts = batch.node_counts.cpu().numpy()
    first = np.cumsum(counts) - counts
    # Sums of random numbers, one per node: equal for equal sets, and for others with a chance of 1 in 2^62.
    marks = np.random.default_rng(0).integers(0, 2**62, size=len(graph))
    sums = np.add.reduceat(np.where(inside, marks, 0), first, axis=1)  # [K, B]
    _, firsts, same = np.unique(sums, return_index=True, return_inverse=True)
    places = np.sort(firsts)  # of the parts that are stored, in the order of questions and graphs
    number = np.full(sums.size, -1)
    number[places] = np.arange(len(places))
    part = number[firsts][same.reshape(sums.shape)].T  # [B, K]

    kept = inside & (number.reshape(sums.shape) >= 0)[:, graph]
    question, node = np.stack(np.nonzero(kept))
    position = np.cumsum(kept).reshape(kept.shape) - 1
    source, target = hearing.source.cpu().numpy(), hearing.target.cpu().numpy()
    asked, entry = np.stack(np.nonzero(kept[:, source] & kept[:, target]))
    new_source, new_target = position[asked, source[entry]], position[asked, target[entry]]
    heard = np.bincount(new_target, minlength=len(node))
    ptr = np.concatenate([[0], np.cumsum(heard)])
    place = np.flatnonzero(new_source != new_target)  # a node's own entry is no edge

    edge_attr = None
    if batch.edge_attr is not None:
        edge_of = np.zeros(len(source), dtype=np.int64)
        edge_of[hearing.place.cpu().numpy()] = np.arange(len(hearing.place))
        edge_attr = batch.edge_attr.cpu()[torch.from_numpy(edge_of[entry[place]])]
    targets = None
    if batch.targets is not None:
        asked, graph_of = np.unravel_index(places, sums.shape)
        targets = torch.from_numpy(position[asked[:, None], batch.targets.cpu().numpy()[graph_of]])
    new_source = torch.from_numpy(new_source)
    small = Batch(
        x=batch.x.cpu()[torch.from_numpy(node)],
        edge_index=torch.from_numpy(np.stack([new_source[place], new_target[place]])),
        node_graph=torch.from_numpy(number[question * sums.shape[1] + graph[node]]),
        num_graphs=len(places),
        edge_attr=edge_attr,
        targets=targets,
    )
    small.__dict__["hearing"] = Hearing(new_source, torch.from_numpy(ptr), torch.from_numpy(place))
    return Parts(member, small, torch.from_numpy(np.ascontiguousarray(part)))
