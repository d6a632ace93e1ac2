"""Fitting the composition: gradient boosting with stumps, in which amounts compete with parts.

A stump asks whether one number of a graph is above one threshold and adds a small step to every class. The numbers are
the amounts of the composition, and beside them whether the graph has each recurring part. Parts have precedence: an
amount is taken only where it explains clearly more, so a label that is a motif is left to the prototypes. What the
amounts add up to is a step function for each of them, which is all that
:class:`~protgnn.model.composition.Composition` holds; the stumps on parts are dropped, since prototypes do that work
better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from protgnn.model.composition import BINS

RATE, ROUNDS, FOLDS = 0.1, 400, 4
SHRINKAGE = 1.0
"""Added to second derivatives, so that few graphs make small steps."""

PRECEDENCES = (8.0, 3.0)
"""How many times as much as the best part an amount must explain to be taken: the first that is about as good on graphs
left out as the best of them, so that parts explain what they can."""

LEAST_GAIN = 4.0
"""Log-likelihood, about twice, that a full step by an amount must add: what is left when parts have explained a label
is not worth explaining otherwise."""

LEAST_LEAF = 0.01
"""Share of the graphs on either side of a threshold; at least five of them."""

MOST_GRAPHS = 4000
"""Graphs that the number of rounds is chosen on; more would not change it."""


@dataclass(frozen=True, eq=False)
class FittedComposition:
    """Step functions ``thresholds [Q, BINS - 1]``, ``steps [Q, BINS, C]``, and what they add to graphs that they were
    not fitted to, ``held_out [G, C]``, by cross-validation."""

    thresholds: np.ndarray
    steps: np.ndarray
    held_out: np.ndarray
    rounds: int


def fit_composition(
    amount: np.ndarray, parts: np.ndarray, y: np.ndarray, weight: np.ndarray, num_classes: int, seed: int
) -> FittedComposition:
    """Fit step functions of amounts.

    Args:
        amount: The amounts of the training graphs, ``[G, Q]``.
        parts: Whether they have each of R recurring parts, ``[G, R]``; R may be zero.
        y: Their classes, ``[G]``.
        weight: How much each graph counts, ``[G]``.
        num_classes: C.
        seed: Draws the folds.
    """
    numbers = _Binned(np.concatenate([amount, parts], 1), amount.shape[1])
    generator = np.random.default_rng(seed)
    asked = np.sort(generator.permutation(len(y))[:MOST_GRAPHS])
    fold = generator.permutation(len(asked)) % FOLDS
    precedences = PRECEDENCES if parts.shape[1] else (1.0,)
    tried = [_left_out(numbers, y, weight, num_classes, asked, fold, precedence) for precedence in precedences]
    best = min(tried, key=lambda one: one.losses.mean())
    chosen = next(one for one in tried if _is_about_as_good(one.losses, best.losses))
    everything = np.arange(len(y))
    final = _boost(numbers, y, weight, num_classes, everything, everything[:0], chosen.rounds, chosen.precedence).steps
    held_out = final[np.arange(amount.shape[1]), numbers.all_bins(amount)].sum(1)
    held_out[asked] = chosen.added
    return FittedComposition(numbers.thresholds[: amount.shape[1]], final, held_out, chosen.rounds)


@dataclass(frozen=True, eq=False)
class _LeftOut:
    """How a precedence does on graphs left out: after so many rounds their losses ``[S]`` and what amounts have added
    ``[S, C]``."""

    precedence: float
    rounds: int
    losses: np.ndarray
    added: np.ndarray


def _left_out(
    numbers: _Binned,
    y: np.ndarray,
    weight: np.ndarray,
    num_classes: int,
    asked: np.ndarray,
    fold: np.ndarray,
    precedence: float,
) -> _LeftOut:
    """Cross-validate a precedence; the number of rounds with the least loss is taken."""
    losses = np.zeros((ROUNDS + 1, len(asked)))
    added = np.zeros((ROUNDS + 1, len(asked), num_classes), np.float32)
    for number in range(FOLDS):
        inside, outside = asked[fold != number], asked[fold == number]
        boosted = _boost(numbers, y, weight, num_classes, inside, outside, ROUNDS, precedence)
        losses[:, fold == number], added[:, fold == number] = boosted.losses * weight[outside], boosted.added
    rounds = int(losses.mean(1).argmin())
    if _is_about_as_good(losses[0], losses[rounds]):
        rounds = 0
    return _LeftOut(precedence, rounds, losses[rounds], added[rounds])


def _is_about_as_good(losses: np.ndarray, best: np.ndarray) -> bool:
    """Whether losses are worse than the best by at most a standard error of the difference, graph by graph."""
    worse = losses - best
    return bool(worse.mean() <= worse.std() / np.sqrt(len(worse)))


class _Binned:
    """Numbers of graphs by bin: ``bins [G, U]`` of the U that are not the same for all, the ``amounts`` first, and
    ``indicator [U · BINS, G]``, which sums what graphs have in each bin."""

    def __init__(self, values: np.ndarray, amounts: int) -> None:
        self.thresholds = np.stack([_thresholds(column) for column in values.T])
        self.told = np.flatnonzero(values.min(0) < values.max(0))
        self.amounts, self.is_amount = amounts, self.told < amounts
        self.bins = self.all_bins(values)[:, self.told]
        flat = (self.bins + np.arange(len(self.told)) * BINS).reshape(-1)
        graphs = np.repeat(np.arange(len(values)), len(self.told))
        self.indicator = csr_array((np.ones(flat.size), (flat, graphs)), shape=(len(self.told) * BINS, len(values)))

    def all_bins(self, values: np.ndarray) -> np.ndarray:
        """The bins of the first columns, ``[G, Q] → [G, Q]``."""
        pairs = zip(self.thresholds, values.T, strict=False)
        return np.stack([np.searchsorted(thresholds, column, side="right") for thresholds, column in pairs], 1)


def _thresholds(values: np.ndarray) -> np.ndarray:
    """Thresholds between values that occur, about as many graphs between one and the next, ``[BINS - 1]``; where there
    are fewer, the last is repeated."""
    values = np.sort(values)
    change = np.flatnonzero(np.diff(values) > 0)
    if not len(change):
        return np.zeros(BINS - 1)
    middle = (values[change] + values[change + 1]) / 2
    if len(change) >= BINS:
        wanted = np.linspace(0, len(values), BINS + 1)[1:-1]
        middle = middle[np.unique(np.clip(np.searchsorted(change + 1, wanted), 0, len(change) - 1))]
    return np.pad(middle, (0, BINS - 1 - len(middle)), constant_values=middle[-1])


@dataclass(frozen=True, eq=False)
class _Boosted:
    """Step functions of amounts ``[Q, BINS, C]``; and of the graphs outside, after every round, the log-loss
    ``[rounds + 1, S]`` and what amounts have added ``[rounds + 1, S, C]``."""

    steps: np.ndarray
    losses: np.ndarray
    added: np.ndarray


def _boost(
    numbers: _Binned,
    y: np.ndarray,
    weight: np.ndarray,
    num_classes: int,
    inside: np.ndarray,
    outside: np.ndarray,
    rounds: int,
    precedence: float,
) -> _Boosted:
    """Boost on the graphs ``inside``, and see what becomes of those ``outside``."""
    steps = np.zeros((numbers.amounts, BINS, num_classes))
    added = np.zeros((rounds + 1, len(outside), num_classes), np.float32)
    losses = np.zeros((rounds + 1, len(outside)))
    shares = np.bincount(y[inside], weights=weight[inside], minlength=num_classes) + 1.0
    logits, target = np.tile(np.log(shares / shares.sum()), (len(y), 1)), np.eye(num_classes)[y]
    indicator = numbers.indicator[:, inside]
    below = np.cumsum((indicator @ np.ones(len(inside))).reshape(-1, BINS), 1)[:, :-1]
    least = max(5.0, LEAST_LEAF * len(inside))
    allowed = (below >= least) & (len(inside) - below >= least)
    least_gain = np.where(numbers.is_amount, LEAST_GAIN, 0.0)[:, None]
    counts_for = np.where(numbers.is_amount, 1 / precedence, 1.0)[:, None]
    for number in range(rounds + 1):
        losses[number] = _log_loss(logits[outside], y[outside])
        losses[number + 1 :], added[number + 1 :] = losses[number], added[number]
        if number == rounds or not allowed.any():
            break
        share = _softmax(logits[inside])
        slope = (target[inside] - share) * weight[inside, None]
        bend = share * (1 - share) * weight[inside, None]
        sums = np.cumsum((indicator @ np.concatenate([slope, bend], 1)).reshape(-1, BINS, 2 * num_classes), 1)
        sides = sums[:, :-1], sums[:, -1:] - sums[:, :-1]
        value = [side[..., :num_classes] / (side[..., num_classes:] + SHRINKAGE) for side in sides]
        gain = sum((side[..., :num_classes] * own).sum(-1) for side, own in zip(sides, value, strict=True))
        gain = np.where(allowed & (gain >= least_gain), gain * counts_for, 0.0)
        if not gain.any():
            break
        column, place = np.unravel_index(int(gain.argmax()), gain.shape)
        step = np.where((np.arange(BINS) <= place)[:, None], value[0][column, place], value[1][column, place]) * RATE
        step_of = step[numbers.bins[:, column]]
        logits += step_of
        if numbers.is_amount[column]:
            steps[numbers.told[column]] += step
            added[number + 1] += step_of[outside]
    return _Boosted(steps, losses, added)


def _softmax(logits: np.ndarray) -> np.ndarray:
    share = np.exp(logits - logits.max(1, keepdims=True))
    found: np.ndarray = share / share.sum(1, keepdims=True)
    return found


def _log_loss(logits: np.ndarray, y: np.ndarray) -> np.ndarray:
    found: np.ndarray = -np.log(_softmax(logits)[np.arange(len(y)), y] + 1e-12)
    return found
