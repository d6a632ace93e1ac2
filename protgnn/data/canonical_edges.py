"""The canonical form of an edge list: no self-loops, every edge once, both directions, sorted by (target, source).

This is the one place that repairs edges, for sets of graphs and for networks alike. An edge is one number,
``target · N + source``, and repairing is sorting these numbers: fast, and small in memory, for millions of edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from protgnn.data.sorted_arrays import distinct, first_of_each


@dataclass(frozen=True, eq=False)
class CanonicalEdges:
    """Repaired edges ``source, target [E]`` with attributes ``edge_attr [E, D]``, and what was repaired.

    ``degree [N]`` counts the edges into each node. ``self_loops``, ``duplicates`` and ``mirrored``, each ``[N]``,
    count by target node the self-loops and repetitions that were dropped and the reverse edges that were added.
    """

    source: np.ndarray
    target: np.ndarray
    edge_attr: Tensor | None
    degree: np.ndarray
    self_loops: np.ndarray
    duplicates: np.ndarray
    mirrored: np.ndarray


class ConflictingAttributes(ValueError):
    """An edge was given twice (or, with ``reverse``, in both directions) with different attributes."""

    def __init__(self, source: int, target: int, reverse: bool) -> None:
        super().__init__(f"Expected one set of attributes for the edge ({source}, {target}) (got two)")
        self.source, self.target, self.reverse = source, target, reverse


def canonical_edges(
    source: np.ndarray, target: np.ndarray, num_nodes: int, edge_attr: Tensor | None = None, directed: bool = False
) -> CanonicalEdges:
    """Repair an edge list.

    Args:
        source: Where each edge starts, int64 ``[E']``, all in ``0 … num_nodes - 1``.
        target: Where each edge ends, int64 ``[E']``.
        num_nodes: The number N of nodes.
        edge_attr: Attributes ``[E', D]``, finite. A mirrored edge gets those of the edge it mirrors.
        directed: Add no reverse edges.

    Returns:
        The canonical edges, and how many self-loops, duplicates and missing directions there were at each node.

    Raises:
        ConflictingAttributes: If the same edge has two sets of attributes.
    """

    def into(nodes: np.ndarray) -> np.ndarray:
        return np.bincount(nodes, minlength=num_nodes)

    none = np.zeros(num_nodes, dtype=np.int64)
    self_loops, loop = none, source == target
    if loop.any():
        self_loops = into(target[loop])
        source, target = source[~loop], target[~loop]
        edge_attr = None if edge_attr is None else edge_attr[torch.from_numpy(~loop)]

    given = len(target)
    key, edge_attr = _distinct_edges(target * num_nodes + source, edge_attr, num_nodes, reverse=False)
    degree = into(key // num_nodes)
    duplicates = none if len(key) == given else into(target) - degree

    mirrored = none
    if not directed:
        once = len(key)
        key, edge_attr = _with_reverse(key, edge_attr, num_nodes)
        if len(key) > once:
            before, degree = degree, into(key // num_nodes)
            mirrored = degree - before
    target, source = np.divmod(key, num_nodes)
    return CanonicalEdges(source, target, edge_attr, degree, self_loops, duplicates, mirrored)


def merged_edges(
    source: np.ndarray, target: np.ndarray, num_nodes: int, edge_attr: Tensor, directed: bool = False
) -> tuple[np.ndarray, np.ndarray, Tensor, int]:
    """Give edges that are listed several times the mean of their attributes.

    Without a direction, ``(u, v)`` and ``(v, u)`` are one edge.

    Args:
        source: Where each edge starts, int64 ``[E]``.
        target: Where each edge ends, int64 ``[E]``.
        num_nodes: The number of nodes.
        edge_attr: Attributes ``[E, D]``.
        directed: Whether edges have a direction.

    Returns:
        Ends and attributes of the edges, and how many had different attributes; where none had, all are as given.
    """
    low, high = (source, target) if directed else (np.minimum(source, target), np.maximum(source, target))
    key = low * num_nodes + high
    order = np.argsort(key, kind="stable")
    first = first_of_each(key[order])
    if first.all():
        return source, target, edge_attr, 0
    starts, listed = np.flatnonzero(first), edge_attr.to(torch.float64).numpy()[order]
    differs = (np.maximum.reduceat(listed, starts) != np.minimum.reduceat(listed, starts)).any(axis=1)
    if not differs.any():
        return source, target, edge_attr, 0
    counts = np.diff([*starts, len(key)])[:, None]
    mean = torch.from_numpy(np.add.reduceat(listed, starts) / counts).to(edge_attr.dtype)
    kept = order[starts]
    return source[kept], target[kept], mean, int(differs.sum())


def _with_reverse(key: np.ndarray, edge_attr: Tensor | None, num_nodes: int) -> tuple[np.ndarray, Tensor | None]:
    """Ascending distinct edges together with their reverses, ascending and distinct."""
    reverse = key % num_nodes * num_nodes + key // num_nodes
    if edge_attr is None:
        reverse.sort()
        return (key, None) if np.array_equal(reverse, key) else (distinct(np.concatenate([key, reverse])), None)
    return _distinct_edges(np.concatenate([key, reverse]), torch.cat([edge_attr, edge_attr]), num_nodes, reverse=True)


def _distinct_edges(
    key: np.ndarray, edge_attr: Tensor | None, num_nodes: int, reverse: bool
) -> tuple[np.ndarray, Tensor | None]:
    """The edges ascending, each once, with their attributes; those of equal edges must not differ."""
    if (key[1:] > key[:-1]).all():
        return key, edge_attr
    if edge_attr is None:
        return distinct(key), None
    order = np.argsort(key, kind="stable")
    key, edge_attr = key[order], edge_attr[torch.from_numpy(order)]
    first = first_of_each(key)
    again = np.flatnonzero(~first)
    differs = (edge_attr[torch.from_numpy(again)] != edge_attr[torch.from_numpy(again - 1)]).any(dim=1).numpy()
    if differs.any():
        target, source = divmod(int(key[again[differs.argmax()]]), num_nodes)
        raise ConflictingAttributes(source, target, reverse)
    return key[first], edge_attr[torch.from_numpy(first)]
