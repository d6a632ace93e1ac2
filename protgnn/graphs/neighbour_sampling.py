"""Choosing among the neighbours of many nodes at once: all of them, or a few drawn without replacement."""

from __future__ import annotations

import numpy as np
import torch

from protgnn.graphs.network import Network


def in_edges(
    network: Network,
    nodes: np.ndarray,
    most: int | None = None,
    generator: torch.Generator | None = None,
    without: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Edges into ``nodes [R]``: for each the row it belongs to and its number in the network, ``[S], [S]``.

    With ``most`` no more than that many of each row, any of its subsets being as likely as any other. The edge from
    ``without[r]`` (-1 for none) is treated as if row r did not have it.
    """
    ptr = network.ptr.numpy()
    start, count = ptr[nodes], ptr[nodes + 1] - ptr[nodes]
    gap = None if without is None else _place(network.source.numpy(), start, count, without)
    if gap is not None:
        count = count - (gap < count)
    row, offset = choose(count, most, generator)
    if gap is not None:
        offset = offset + (offset >= gap[row])
    return row, start[row] + offset


def choose(count: np.ndarray, most: int | None, generator: torch.Generator | None) -> tuple[np.ndarray, np.ndarray]:
    """From each row of ``0, …, count - 1`` all numbers, or ``most`` distinct ones where there are more.

    Returns rows and numbers ``[S], [S]``.
    """
    few = np.arange(len(count)) if most is None else np.flatnonzero(count <= most)
    row = np.repeat(few, count[few])
    first = np.cumsum(count[few]) - count[few]
    number = np.arange(len(row)) - np.repeat(first, count[few])
    if most is None or len(few) == len(count):
        return row, number
    many = np.flatnonzero(count > most)
    drawn = _distinct(count[many], most, generator)
    return np.concatenate([row, np.repeat(many, most)]), np.concatenate([number, drawn.reshape(-1)])


def _distinct(count: np.ndarray, most: int, generator: torch.Generator | None) -> np.ndarray:
    """``most`` distinct numbers below each of ``count [R]``, by Floyd's algorithm in all rows at once: ``[R, most]``.

    Step k may draw one number more than step k - 1; a number that is drawn again gives way to that new one.
    """
    chance = torch.rand(most, len(count), dtype=torch.float64, generator=generator).numpy()
    drawn = np.empty((most, len(count)), dtype=np.int64)
    for step in range(most):
        newest = count - most + step
        number = (chance[step] * (newest + 1)).astype(np.int64)
        again = (drawn[:step] == number).any(axis=0)
        drawn[step] = np.where(again, newest, number)
    return drawn.T


def _place(source: np.ndarray, start: np.ndarray, count: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where ``wanted [R]`` stands in its row of ascending sources, or beyond any row if it does not."""
    low, high = np.zeros_like(count), count.copy()
    while (low < high).any():
        middle = (low + high) // 2
        inside = low < high
        below = inside & (source[np.where(inside, start + middle, 0)] < wanted) if len(source) else inside
        low = np.where(below, middle + 1, low)
        high = np.where(inside & ~below, middle, high)
    if not len(source):
        return np.full_like(count, np.iinfo(np.int64).max)
    found = (low < count) & (source[np.minimum(start + low, len(source) - 1)] == wanted)
    return np.where(found, low, np.iinfo(np.int64).max)
