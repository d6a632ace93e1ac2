"""Arrays of whole numbers, ascending or in runs: sets of numbers, rows of a table, places in them.

Sorting is faster here than ``numpy.unique`` (docs/decisions/0100).
"""

from __future__ import annotations

import numpy as np


def ragged_ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Concatenate ``start, start + 1, …`` of each length ``count``: ``[R], [R] → [sum(counts)]``."""
    stops = np.cumsum(counts)
    ranges: np.ndarray = np.arange(stops[-1] if len(stops) else 0) + np.repeat(starts - (stops - counts), counts)
    return ranges


def distinct(numbers: np.ndarray) -> np.ndarray:
    """Each number once, ascending: ``[S] → [D]``."""
    ascending = np.sort(numbers)
    once: np.ndarray = ascending[first_of_each(ascending)]
    return once


def first_of_each(ascending: np.ndarray) -> np.ndarray:
    """Where a number stands for the first time, bool ``[S]``."""
    first = np.ones(len(ascending), dtype=bool)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    return first


def without(numbers: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The numbers of an ascending array that another ascending array does not have."""
    if not len(known):
        return numbers
    place = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    left: np.ndarray = numbers[known[place] != numbers]
    return left


def position_in_row(values: np.ndarray, start: np.ndarray, count: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The position of ``wanted[r]`` in row r, the ascending ``values[start[r] : start[r] + count[r]]``: ``[R]``.

    A number that its row does not have gets a position beyond any row.
    """
    low, high = np.zeros_like(count), count.copy()
    while (low < high).any():
        middle = (low + high) // 2
        inside = low < high
        below = inside & (values[np.where(inside, start + middle, 0)] < wanted) if len(values) else inside
        low = np.where(below, middle + 1, low)
        high = np.where(inside & ~below, middle, high)
    if not len(values):
        return np.full_like(count, np.iinfo(np.int64).max)
    found = (low < count) & (values[np.minimum(start + low, len(values) - 1)] == wanted)
    return np.where(found, low, np.iinfo(np.int64).max)
