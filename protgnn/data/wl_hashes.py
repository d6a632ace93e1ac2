"""How parts of graphs look, many at a time: Weisfeiler–Lehman labels as 64-bit hashes, counted and compared.

The definition is that of :mod:`protgnn.data.resemblance`, which compares two parts in plain Python; here labels are
hashes (two different labels share one with a chance of 2⁻⁶⁴) and all parts of a set are labelled at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protgnn.data.resemblance import ROUNDS


@dataclass(frozen=True, eq=False)
class Cut:
    """P parts cut out of a batch, as one list of nodes and one of edges.

    ``owner [n]`` is the part of each node, ``node [n]`` its number in the batch, ascending within a part; edges lead
    from ``source [e]`` to ``target [e]``, rows of that list, and ``edge [e]`` are their numbers in the batch.
    """

    parts: int
    owner: np.ndarray
    node: np.ndarray
    source: np.ndarray
    target: np.ndarray
    edge: np.ndarray


@dataclass(frozen=True, eq=False)
class EdgesBySource:
    """The edges of a batch by the node that they leave: ``edge[ptr[v] : ptr[v + 1]]`` leave node v."""

    ptr: np.ndarray
    edge: np.ndarray
    target: np.ndarray

    @classmethod
    def of(cls, edge_index: np.ndarray, num_nodes: int) -> EdgesBySource:
        """The edges ``[2, E]`` of a batch."""
        source, target = edge_index
        ptr = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=num_nodes))])
        return cls(ptr, np.argsort(source, kind="stable"), target)

    def cut(self, parts: int, owner: np.ndarray, node: np.ndarray) -> Cut:
        """Cut the parts out that consist of these nodes ``[n]``, sorted by (part, node)."""
        counts = self.ptr[node + 1] - self.ptr[node]
        ends = np.cumsum(counts)
        place = np.repeat(self.ptr[node] - (ends - counts), counts) + np.arange(int(ends[-1]) if len(ends) else 0)
        edge, begin = self.edge[place], np.repeat(np.arange(len(node)), counts)
        total = len(self.ptr)
        wanted, keys = owner[begin] * total + self.target[edge], owner * total + node
        found = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        inside = keys[found] == wanted
        return Cut(parts, owner, node, begin[inside], found[inside], edge[inside])


def mixed(values: np.ndarray) -> np.ndarray:
    """Scatter 64-bit integers, as SplitMix64 does in its last step."""
    with np.errstate(over="ignore"):
        values = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found: np.ndarray = values ^ (values >> np.uint64(31))
        return found


def row_hashes(table: np.ndarray) -> np.ndarray:
    """One 64-bit number for each row of features, ``[N, F] → [N]``; features are rounded to 1/4096."""
    odd = mixed(np.arange(1, table.shape[1] + 1)) | np.uint64(1)
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large for a whole number has some hash as well
        whole = np.rint(table * 4096.0).astype(np.int64).astype(np.uint64)
        return mixed((whole * odd).sum(1, dtype=np.uint64))


def wl_labels(cut: Cut, node: np.ndarray, edge: np.ndarray, rounds: int = ROUNDS) -> list[np.ndarray]:
    """The labels of all nodes of all parts, ``[n]`` each for the rounds 0 to ``rounds``.

    Args:
        cut: The parts.
        node: A hash per node of the batch.
        edge: A hash per edge of the batch.
        rounds: How often labels are refined with those of the neighbours inside the part.
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


def part_keys(cut: Cut, labels: np.ndarray) -> np.ndarray:
    """One number per part, ``[P]``, equal where the labels ``[n]`` of the nodes are, in any order."""
    with np.errstate(over="ignore"):
        total = np.zeros(cut.parts, np.uint64)
        np.add.at(total, cut.owner, mixed(labels))
        return mixed(total)


@dataclass(frozen=True, eq=False)
class LookCounts:
    """How often each label occurs in each of P parts: entries sorted by (label, part).

    ``label, part, count [c]``; ``total [P]`` is the number of labels of each part.
    """

    label: np.ndarray
    part: np.ndarray
    count: np.ndarray
    total: np.ndarray

    @classmethod
    def of(cls, cut: Cut, labels: list[np.ndarray]) -> LookCounts:
        """Count the labels of all rounds; a label of one round is none of another."""
        with np.errstate(over="ignore"):
            label = np.concatenate([mixed(own + np.uint64(number)) for number, own in enumerate(labels)])
        part = np.tile(cut.owner, len(labels))
        order = np.lexsort((part, label))
        label, part = label[order], part[order]
        new = np.ones(len(label), bool)
        new[1:] = (label[1:] != label[:-1]) | (part[1:] != part[:-1])
        starts = np.flatnonzero(new)
        count = np.diff(np.append(starts, len(label))).astype(np.float32)
        total = np.bincount(cut.owner, minlength=cut.parts).astype(np.float32) * len(labels)
        return cls(label[starts], part[starts], count, total)

    def of_parts(self, parts: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """The labels of some parts, and how often each occurs."""
        order = np.argsort(self.part, kind="stable")
        ptr = np.searchsorted(self.part[order], np.arange(len(self.total) + 1))
        rows = [order[ptr[part] : ptr[part + 1]] for part in parts]
        return [(self.label[row], self.count[row]) for row in rows]

    def resemblance(self, looks: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """The count-Tanimoto of every part and K others given by their labels, ``[P, K]``."""
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
