"""Whether probabilities mean what they say: of what is predicted with probability 0.8, 80 % should be right."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

BINS = 15
"""Bins of equal width from 0 to 1 into which predictions fall by the probability of the predicted class."""

AT_ONCE = 10_000


@dataclass(frozen=True)
class ReliabilityBin:
    """The predictions whose probability is between ``low`` and ``high``: how many there are, what probability they have
    on average, and how many of them are right."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


def reliability(probabilities: Tensor, y: Tensor, bins: int = BINS) -> list[ReliabilityBin]:
    """The bins that hold any of the predictions, given probabilities ``[G, C]`` and classes ``[G]``."""
    confidence, predicted = probabilities.double().max(1)
    place = (confidence * bins).long().clamp(max=bins - 1)
    count = torch.bincount(place, minlength=bins)
    sure = torch.bincount(place, weights=confidence, minlength=bins)
    right = torch.bincount(place, weights=(predicted == y).double(), minlength=bins)
    return [
        ReliabilityBin(one / bins, (one + 1) / bins, n, float(sure[one]) / n, float(right[one]) / n)
        for one, n in enumerate(count.tolist())
        if n
    ]


def expected_calibration_error(probabilities: Tensor, y: Tensor, bins: int = BINS) -> float:
    """ECE: how far the probability of a bin is from its accuracy, on average over the predictions."""
    return sum(one.n * abs(one.confidence - one.accuracy) for one in reliability(probabilities, y, bins)) / len(y)


def calibration_error_by_chance(probabilities: Tensor, bins: int = BINS, draws: int = 200, seed: int = 0) -> float:
    """The ECE that probabilities ``[G, C]`` would have on average if they meant exactly what they say.

    Few predictions are off by chance alone; whether they are right is drawn by their own probabilities.
    """
    confidence = probabilities.double().max(1).values
    place = (confidence * bins).long().clamp(max=bins - 1)
    rng = torch.Generator().manual_seed(seed)
    total = torch.zeros(draws, bins, dtype=torch.float64)
    for start in range(0, len(confidence), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        right = torch.rand(draws, len(confidence[some]), generator=rng, dtype=torch.float64) < confidence[some]
        total.index_add_(1, place[some], right.double() - confidence[some])
    return float(total.abs().sum(1).mean()) / len(confidence)
