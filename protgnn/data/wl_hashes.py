"""Weisfeiler–Lehman labels of many parts at once, as 64-bit hashes, and their count-Tanimoto similarity.

:mod:`protgnn.data.resemblance` defines both in plain Python, for two parts. Here a label is a hash, so two different
labels collide with probability 2⁻⁶⁴, and all parts of a batch are labelled in one vectorised pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protgnn.data.resemblance import ROUNDS


@dataclass(frozen=True, eq=False)
class CutParts:
    """P subgraphs induced by node sets of a batch, as one list of n nodes and one of e edges.

    Attributes:
        num_parts: P.
        owner: The part that each node belongs to, ``[n]``.
        node: The number of each node in the batch, ascending within a part, ``[n]``.
        source: Where each edge starts: an index into the list of nodes, ``[e]``.
        target: Where each edge ends, ``[e]``.
        edge: The number of each edge in the batch, ``[e]``.
    """

    num_parts: int
    owner: np.ndarray
    node: np.ndarray
    source: np.ndarray
    target: np.ndarray
    edge: np.ndarray


@dataclass(frozen=True, eq=False)
class EdgesBySource:
    """The edges of a batch grouped by source: ``edge[ptr[v] : ptr[v + 1]]`` start at node v."""

    ptr: np.ndarray
    edge: np.ndarray
    target: np.ndarray

    @classmethod
    def of(cls, edge_index: np.ndarray, num_nodes: int) -> EdgesBySource:
        """Group the edges ``edge_index [2, E]`` of a batch."""
        source, target = edge_index
        ptr = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=num_nodes))])
        return cls(ptr, np.argsort(source, kind="stable"), target)

    def cut(self, num_parts: int, owner: np.ndarray, node: np.ndarray) -> CutParts:
        """Induce the parts with these nodes: ``owner [n]`` and ``node [n]``, sorted by (owner, node)."""
        counts = self.ptr[node + 1] - self.ptr[node]
        ends = np.cumsum(counts)
        place = np.repeat(self.ptr[node] - (ends - counts), counts) + np.arange(int(ends[-1]) if len(ends) else 0)
        edge, begin = self.edge[place], np.repeat(np.arange(len(node)), counts)
        total = len(self.ptr)
        wanted, keys = owner[begin] * total + self.target[edge], owner * total + node
        found = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        inside = keys[found] == wanted
        return CutParts(num_parts, owner, node, begin[inside], found[inside], edge[inside])


def mixed(values: np.ndarray) -> np.ndarray:
    """Mix the bits of 64-bit integers: the output function of SplitMix64."""
    with np.errstate(over="ignore"):
        values = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found: np.ndarray = values ^ (values >> np.uint64(31))
        return found


def row_hashes(table: np.ndarray) -> np.ndarray:
    """A 64-bit hash of each row of features, ``[N, F] → [N]``; features are rounded to 1/4096."""
    odd = mixed(np.arange(1, table.shape[1] + 1)) | np.uint64(1)
    with np.errstate(over="ignore", invalid="ignore"):  # values beyond int64 wrap around, which is fine for a hash
        whole = np.rint(table * 4096.0).astype(np.int64).astype(np.uint64)
        return mixed((whole * odd).sum(1, dtype=np.uint64))


def wl_labels(cut: CutParts, node: np.ndarray, edge: np.ndarray, rounds: int = ROUNDS) -> list[np.ndarray]:
    """The Weisfeiler–Lehman labels of all nodes, one array ``[n]`` for each of the rounds 0 to ``rounds``.

    Args:
        cut: The parts.
        node: The initial label of each node of the batch, ``[N]``.
        edge: The label of each edge of the batch, ``[E]``.
        rounds: How many times each label is refined by the labels of the neighbours inside the part.
    """
    labels = [mixed(node[cut.node])]
    edge_labels = edge[cut.edge]
    with np.errstate(over="ignore"):
        for _ in range(rounds):
            message = mixed(labels[-1][cut.source] * np.uint64(3) + edge_labels)
            total = np.zeros(len(cut.node), np.uint64)
            np.add.at(total, cut.target, message)
            labels.append(mixed(mixed(labels[-1]) * np.uint64(5) + total))
    return labels


def part_keys(cut: CutParts, labels: np.ndarray) -> np.ndarray:
    """A hash of each part, ``[P]``: equal for parts whose nodes have the same labels ``[n]``, in any order."""
    with np.errstate(over="ignore"):
        total = np.zeros(cut.num_parts, np.uint64)
        np.add.at(total, cut.owner, mixed(labels))
        return mixed(total)


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """How often each label occurs in each of P parts: a sparse matrix of c entries, sorted by (label, part).

    Attributes:
        label: The label of each entry, ``[c]``.
        part: The part of each entry, ``[c]``.
        count: How often the label occurs in the part, ``[c]``.
        total: The number of labels of each part over all rounds, ``[P]``.
    """

    label: np.ndarray
    part: np.ndarray
    count: np.ndarray
    total: np.ndarray

    @classmethod
    def of(cls, cut: CutParts, labels: list[np.ndarray]) -> LabelCounts:
        """Count the labels of all rounds; equal labels of different rounds are different labels."""
        with np.errstate(over="ignore"):
            label = np.concatenate([mixed(own + np.uint64(number)) for number, own in enumerate(labels)])
        part = np.tile(cut.owner, len(labels))
        order = np.lexsort((part, label))
        label, part = label[order], part[order]
        new = np.ones(len(label), bool)
        new[1:] = (label[1:] != label[:-1]) | (part[1:] != part[:-1])
        starts = np.flatnonzero(new)
        count = np.diff(np.append(starts, len(label))).astype(np.float32)
        total = np.bincount(cut.owner, minlength=cut.num_parts).astype(np.float32) * len(labels)
        return cls(label[starts], part[starts], count, total)

    def of_parts(self, parts: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """The labels of each of some parts, and their counts."""
        order = np.argsort(self.part, kind="stable")
        ptr = np.searchsorted(self.part[order], np.arange(len(self.total) + 1))
        rows = [order[ptr[part] : ptr[part + 1]] for part in parts]
        return [(self.label[row], self.count[row]) for row in rows]

    def resemblance(self, looks: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """The count-Tanimoto similarity of every part to K others, given as in :meth:`of_parts`, ``[P, K]``."""
        found = np.zeros((len(self.total), len(looks)), np.float32)
        for number, (label, count) in enumerate(looks):
            low, high = np.searchsorted(self.label, label), np.searchsorted(self.label, label, side="right")
            sizes = high - low
            ends = np.cumsum(sizes)
            entry = np.repeat(low - (ends - sizes), sizes) + np.arange(int(ends[-1]) if len(ends) else 0)
            both = np.minimum(self.count[entry], np.repeat(count, sizes))
            shared = np.bincount(self.part[entry], both, minlength=len(self.total)).astype(np.float32)
            found[:, number] = shared / (self.total + count.sum() - shared)
        return found
