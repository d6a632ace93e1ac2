"""Two models on the same graphs: how far their scores differ, and whether that may be chance.

Both models are scored on the same draws of graphs (the paired bootstrap), so what is hard for both cancels out.
McNemar's test looks only at the graphs that one of them gets right and the other wrong: if neither is better, each of
these is as likely to go either way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest
from torch import Tensor

from protgnn.training.bootstrap import COVERAGE, resampled
from protgnn.training.scores import brier_errors
from protgnn.training.selection import log_odds


@dataclass(frozen=True)
class Difference:
    """A score of the second model less that of the first, and its 95 % interval."""

    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class McNemar:
    """How many graphs only the first and only the second model gets right, and the exact two-sided p-value."""

    only_first: int
    only_second: int
    p_value: float


def paired_differences(
    first: Tensor, second: Tensor, y: Tensor, positive: int | None = None, seed: int = 0
) -> dict[str, Difference]:
    """By how much each score of the second model is above that of the first.

    Args:
        first: Logits of the first model, ``[G, C]``.
        second: Those of the second.
        y: The classes, ``[G]``.
        positive: The class whose average precision is meant; without, the mean over all classes.
        seed: Of the draws.
    """
    whole, drawn = (
        [_resampled(logits.double(), y, positive, seed, once) for logits in (first, second)] for once in (True, False)
    )
    found = {}
    for name in drawn[0]:
        swing = drawn[1][name] - drawn[0][name]
        if name in drawn[1] and not np.isnan(swing).all():
            low, high = np.nanpercentile(swing, [50 * (1 - COVERAGE), 50 * (1 + COVERAGE)])
            found[name] = Difference(float(whole[1][name][0] - whole[0][name][0]), float(low), float(high))
    return found


def _resampled(logits: Tensor, y: Tensor, positive: int | None, seed: int, once: bool) -> dict[str, np.ndarray]:
    ranks, errors = log_odds(logits).numpy(), brier_errors(logits, y).numpy()
    return resampled(logits.numpy(), ranks, y.numpy(), errors, positive, seed, once)


def mcnemar(first: Tensor, second: Tensor, y: Tensor) -> McNemar:
    """McNemar's exact test on predicted classes ``[G]`` of two models."""
    one, other = first == y, second == y
    only_first, only_second = int((one & ~other).sum()), int((~one & other).sum())
    split = only_first + only_second
    return McNemar(only_first, only_second, float(binomtest(only_first, split).pvalue) if split else 1.0)
