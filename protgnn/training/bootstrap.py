"""How far scores would swing on other graphs of the same kind: intervals by the percentile bootstrap.

Graphs are drawn with replacement as often as there are graphs, the scores are computed of what was drawn, and the
interval holds the middle 95 % of a thousand such draws. A draw is a row of counts, how often it holds each graph, so
all draws are computed at once. A class that a draw does not hold is left out of that draw's means.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import binomtest

RESAMPLES, FEW_RESAMPLES, MANY = 1000, 200, 50_000
"""Draws, and how many where graphs times classes are more than ``MANY``."""
COVERAGE = 0.95
AT_ONCE = 2_000_000
Intervals = dict[str, list[float]]


def draws(graphs: int, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """How often each draw holds each graph, ``[R, G]``."""
    drawn = rng.integers(0, graphs, (resamples, graphs)) + graphs * np.arange(resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=resamples * graphs).reshape(resamples, graphs).astype(np.float64)


def of_confusion(counts: np.ndarray, predicted: np.ndarray, y: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    """Accuracy, balanced accuracy and Matthews' correlation of draws ``[R, G]``, each ``[R]``."""
    pair = csr_array((np.ones(len(y)), (np.arange(len(y)), y * classes + predicted)), shape=(len(y), classes**2))
    table = (pair.T @ counts.T).T.reshape(len(counts), classes, classes)
    total, right = table.sum((1, 2)), np.einsum("rcc->rc", table)
    labelled, said = table.sum(2), table.sum(1)
    covariance = right.sum(1) * total - (labelled * said).sum(1)
    spread = np.sqrt((total**2 - (said**2).sum(1)) * (total**2 - (labelled**2).sum(1)))
    return {
        "accuracy": right.sum(1) / total,
        "balanced_accuracy": _mean(np.divide(right, labelled, out=np.full_like(right, np.nan), where=labelled > 0)),
        "mcc": np.divide(covariance, spread, out=np.zeros_like(spread), where=spread > 0),
    }


def of_ranking(counts: np.ndarray, score: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ROC AUC and average precision of draws ``[R, G]`` for scores ``[G]`` of a class that ``own [G]`` are of; ``[R]``
    each, NaN where a draw holds no graph of the class, or none of the others. Ties count half."""
    order = np.argsort(-score, kind="stable")
    last = np.append(np.diff(score[order]) != 0, True)  # of each run of equal scores
    drawn, member = counts[:, order], own[order]
    hits, misses = (np.cumsum(drawn * some, 1)[:, last] for some in (member, ~member))
    new_hits, new_misses = (np.diff(found, axis=1, prepend=0) for found in (hits, misses))
    positives, negatives = hits[:, -1], misses[:, -1]
    both = (positives > 0) & (negatives > 0)
    above = (new_misses * (hits - new_hits / 2)).sum(1)
    auc = np.divide(above, positives * negatives, out=np.full_like(above, np.nan), where=both)
    precision = hits / np.maximum(hits + misses, 1)
    found = (new_hits * precision).sum(1)
    return auc, np.divide(found, positives, out=np.full_like(found, np.nan), where=both)


def resampled(
    logits: np.ndarray,
    ranks: np.ndarray,
    y: np.ndarray,
    errors: np.ndarray,
    positive: int | None = None,
    seed: int = 0,
    once: bool = False,
) -> dict[str, np.ndarray]:
    """Each score of every draw, ``[R]``. The draws depend on the seed and the number of graphs and classes alone, so
    two models that are resampled alike are paired.

    Args:
        logits: ``[G, C]``.
        ranks: what each class is ranked by, ``[G, C]``.
        y: the classes, ``[G]``.
        errors: the Brier score of each graph, ``[G]``.
        positive: the class whose average precision is meant; without, the mean over all classes.
        seed: of the draws.
        once: take the graphs as they are, each once, as the only draw.
    """
    graphs, classes = logits.shape
    left = 1 if once else FEW_RESAMPLES if graphs * classes > MANY else RESAMPLES
    rng, found = np.random.default_rng(seed), []
    while left > 0:
        counts = np.ones((1, graphs)) if once else draws(graphs, min(left, max(AT_ONCE // graphs, 1)), rng)
        left -= len(counts)
        scores = of_confusion(counts, logits.argmax(1), y, classes)
        if not once:  # a draw of one class has no correlation, which is not one of zero
            held = counts @ np.eye(classes)[y] > 0
            scores["mcc"] = np.where(held.sum(1) > 1, scores["mcc"], np.nan)
        ranked = [
            of_ranking(counts, ranks[:, one], y == one) for one in range(classes) if 0 < (y == one).sum() < graphs
        ]
        if ranked:
            precisions = np.stack([precision for _, precision in ranked], 1)
            scores["roc_auc"] = _mean(np.stack([auc for auc, _ in ranked], 1))
            scores["average_precision"] = _mean(precisions) if positive is None else precisions[:, positive]
        scores["brier"] = counts @ errors / graphs
        found.append(scores)
    return {name: np.concatenate([scores[name] for scores in found]) for name in found[0]}


def intervals(
    logits: np.ndarray,
    ranks: np.ndarray,
    y: np.ndarray,
    errors: np.ndarray,
    positive: int | None = None,
    seed: int = 0,
) -> Intervals:
    """The interval ``[low, high]`` of each score, with arguments as for :func:`resampled`.

    Where every draw has the same score, as where all predictions are right, draws do not tell how far it would swing:
    the interval of the accuracy is then that of Clopper and Pearson, and other scores have none. Nor have those that no
    draw defines.
    """
    ends, found = [50 * (1 - COVERAGE), 50 * (1 + COVERAGE)], {}
    for name, values in resampled(logits, ranks, y, errors, positive, seed).items():
        if np.isnan(values).all():
            continue
        low, high = np.nanpercentile(values, ends)
        if low < high:
            found[name] = [float(low), float(high)]
        elif name == "accuracy":
            right = int((logits.argmax(1) == y).sum())
            found[name] = list(map(float, binomtest(right, len(y)).proportion_ci(COVERAGE)))
    return found


def _mean(values: np.ndarray) -> np.ndarray:
    """The mean of each row over what is defined, NaN where nothing is; ``[R, C] → [R]``."""
    known = ~np.isnan(values)
    count = known.sum(1)
    total = np.where(known, values, 0).sum(1)
    mean: np.ndarray = np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)
    return mean
