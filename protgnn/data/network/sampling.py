"""Choosing among the neighbours of many nodes at once: all of them, or a few drawn without replacement."""

from __future__ import annotations

import numpy as np
import torch

from protgnn.data.network.network import Network
from protgnn.data.sorted_arrays import position_in_row, ragged_ranges

Rng = torch.Generator | int | None


def in_edges(
    network: Network,
    nodes: np.ndarray,
    most: int | None = None,
    rng: Rng = None,
    without: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Edges into ``nodes [R]``: for each the row it belongs to and its number in the network, ``[S], [S]``.

    With ``most`` no more than that many of each row, any of its subsets being as likely as any other. The edge from
    ``without[r]`` (-1 for none) is treated as if row r did not have it. Where ``rng`` is a number, what is drawn
    for a node follows from that number and the node, whatever other nodes there are.
    """
    ptr = network.ptr.numpy()
    start, count = ptr[nodes], ptr[nodes + 1] - ptr[nodes]
    gap = None if without is None else position_in_row(network.source.numpy(), start, count, without)
    if gap is not None:
        count = count - (gap < count)
    row, offset = choose(count, most, rng, nodes)
    if gap is not None:
        offset = offset + (offset >= gap[row])
    return row, start[row] + offset


def choose(
    count: np.ndarray, most: int | None, rng: Rng, nodes: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """From each row of ``0, …, count - 1`` all numbers, or ``most`` distinct ones where there are more.

    Returns rows and numbers ``[S], [S]``. ``nodes [R]`` say whose rows they are where ``rng`` is a number.
    """
    few = np.arange(len(count)) if most is None else np.flatnonzero(count <= most)
    row = np.repeat(few, count[few])
    number = ragged_ranges(np.zeros_like(few), count[few])
    if most is None or len(few) == len(count):
        return row, number
    many = np.flatnonzero(count > most)
    owner = np.arange(len(count)) if nodes is None else nodes
    drawn = _distinct(count[many], _uniform(most, owner[many], rng))
    return np.concatenate([row, np.repeat(many, most)]), np.concatenate([number, drawn.reshape(-1)])


def _uniform(most: int, nodes: np.ndarray, rng: Rng) -> np.ndarray:
    """Numbers in [0, 1), ``[most, R]``: drawn, or SplitMix64 of the seed, the node and the step."""
    if not isinstance(rng, int):
        return torch.rand(most, len(nodes), dtype=torch.float64, generator=rng).numpy()
    seed = np.uint64((rng * 0xD1342543DE82EF95 + 1) % 2**64)
    key = nodes.astype(np.uint64)[None] * np.uint64(most) + np.arange(most, dtype=np.uint64)[:, None]
    key = (key + seed) * np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.ndarray = ((key ^ (key >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
    return mixed


def _distinct(count: np.ndarray, rng: np.ndarray) -> np.ndarray:
    """``most`` distinct numbers below each of ``count [R]``, by Floyd's algorithm in all rows at once: ``[R, most]``,
    given numbers in [0, 1), ``[most, R]``.

    Step k may draw one number more than step k - 1; a number that is drawn again gives way to that new one.
    """
    most = len(rng)
    drawn = np.empty((most, len(count)), dtype=np.int64)
    for step in range(most):
        newest = count - most + step
        number = (rng[step] * (newest + 1)).astype(np.int64)
        again = (drawn[:step] == number).any(axis=0)
        drawn[step] = np.where(again, newest, number)
    return drawn.T
