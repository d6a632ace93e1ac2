"""The subgraphs that a search has looked at: each is encoded once and scored against all prototypes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet
from protgnn.data.subgraph import cut_batch
from protgnn.model.prototype_layer import similarity, squared_distances
from protgnn.search.bitsets import to_matrix

Encode = Callable[[Batch], Tensor]

NODES_PER_CALL = 4_000
"""Upper bound on the nodes of one encoder call, so that memory does not depend on how many trees there are."""

DECIMALS = 5
"""Similarities are compared after rounding: subgraphs that look the same tie, whatever batch they were encoded in."""


class Cutter:
    """Cuts many induced subgraphs out of the same graphs and batches them."""

    def __init__(self, graphs: GraphSet) -> None:
        self._whole = graphs.batch()
        self._first = graphs.node_ptr.numpy()[:-1]
        self._max_nodes = int(graphs.node_counts.max())

    def batches(self, owners: Sequence[int], node_sets: Sequence[int]) -> Iterator[Batch]:
        """Subgraph s is ``node_sets[s]`` of graph ``owners[s]``; all in order, some thousand nodes at a time."""
        kept = to_matrix(node_sets, self._max_nodes)
        owner, sizes = np.asarray(owners), kept.sum(1)
        calls = np.cumsum(sizes) // NODES_PER_CALL
        starts = np.flatnonzero(np.diff(calls, prepend=-1))
        for start, stop in zip(starts, [*starts[1:], len(calls)], strict=True):
            some = slice(start, stop)
            graph, rows = owner[some], np.arange(stop - start)
            yield cut_batch(self._whole, kept[some], self._first[graph], rows, graph, sizes[some])


class Pool:
    """Rows of evaluated subgraphs of some graphs; a subgraph gets its row when it is first looked up.

    ``scores [R, K]`` are rounded similarities. Embeddings are kept for subgraphs of at most ``keep`` nodes.
    """

    def __init__(self, graphs: GraphSet, prototypes: Tensor, encode: Encode, epsilon: float, keep: int) -> None:
        self._cutter, self._encode, self._epsilon, self._keep = Cutter(graphs), encode, epsilon, keep
        self._prototypes = prototypes
        self._row: list[dict[int, int]] = [{} for _ in range(len(graphs))]
        self._kept: list[Tensor] = []
        self.owners: list[int] = []
        self.node_sets: list[int] = []
        self.sizes: list[int] = []
        self.scores = np.empty((1024, len(prototypes)))

    def __len__(self) -> int:
        return len(self.node_sets)

    def row(self, graph: int, nodes: int) -> int:
        """The row of a subgraph; a new one has no score before the next :meth:`evaluate`."""
        rows = self._row[graph]
        row = rows.get(nodes)
        if row is None:
            row = rows[nodes] = len(self.node_sets)
            self.owners.append(graph)
            self.node_sets.append(nodes)
            self.sizes.append(nodes.bit_count())
        return row

    def evaluate(self, start: int) -> None:
        """Encode and score the rows from ``start`` on."""
        if start == len(self):
            return
        self.scores = grown(self.scores, len(self))
        at = start
        for batch in self._cutter.batches(self.owners[start:], self.node_sets[start:]):
            h = self._encode(batch)
            score = similarity(squared_distances(h, self._prototypes), self._epsilon)
            self.scores[at : at + len(h)] = score.double().numpy().round(DECIMALS)
            self._kept.append(h[torch.tensor(self.sizes[at : at + len(h)]) <= self._keep])
            at += len(h)

    def embeddings(self) -> Tensor:
        """Embeddings of the rows of at most ``keep`` nodes, in the order of the rows."""
        return torch.cat(self._kept)

    def encode(self, rows: Sequence[int]) -> Tensor:
        """Embeddings of any rows, computed again."""
        batches = self._cutter.batches([self.owners[row] for row in rows], [self.node_sets[row] for row in rows])
        return torch.cat([self._encode(batch) for batch in batches])


def grown(array: np.ndarray, rows: int) -> np.ndarray:
    """The array with room for at least ``rows`` rows; doubles, so that growing row by row stays linear."""
    if rows <= len(array):
        return array
    larger = np.zeros((max(rows, 2 * len(array)), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
