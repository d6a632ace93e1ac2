"""Fitting the composition: gradient boosting with small trees over amounts.

A tree asks whether one amount of a graph reaches a bound, then the same of a second one, and adds a small step to every
class. Boosting ends where it no longer helps on graphs that were left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array

from protgnn.model.composition import BINS, TREES, Trees

RATE, FOLDS = 0.1, 4
SHRINKAGE = 1.0
"""Added to second derivatives, so that few graphs make small steps."""

LEAST_LEAF = 0.01
"""Share of the graphs on either side of a bound; at least five of them."""

LEAST_GAIN = 1e-9
"""Twice the log-likelihood that a question must gain, about; rounding errors gain less."""

MOST_GRAPHS = 4000
"""Graphs that the number of rounds is chosen on, at most."""

PATIENCE = 40
"""Rounds without a lower loss on graphs left out, after which boosting ends."""


@dataclass(frozen=True, eq=False)
class FittedComposition:
    """Trees over amounts, as many as there were ``rounds`` of boosting."""

    trees: Trees
    rounds: int


def fit_composition(
    amount: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    num_classes: int,
    seed: int,
    offset: np.ndarray | None = None,
) -> FittedComposition:
    """Fit trees over amounts; their base is what they add on average.

    Args:
        amount: The amounts of the training graphs, ``[G, Q]``.
        y: Their classes, ``[G]``.
        weight: How much each graph counts, ``[G]``.
        num_classes: C.
        seed: Draws the folds.
        offset: The logits to which trees are added, ``[G, C]``; the frequencies of the classes without.
    """
    booster = _Booster(_Binned(amount), y, weight, num_classes, offset)
    generator = np.random.default_rng(seed)
    asked = np.sort(generator.permutation(len(y))[:MOST_GRAPHS])
    rounds = _rounds(booster, asked, generator.permutation(len(asked)) % FOLDS)
    everything = np.arange(len(y))
    trees, _ = booster.boost(everything, everything[:0], rounds)
    return FittedComposition(_centred(trees, booster.numbers, weight, num_classes), rounds)


@dataclass(frozen=True, eq=False)
class _Tree:
    """A first question and one on either side: ``column [3]`` and ``place [3]``, the last bin that is low; ``leaf [4,
    C]`` is what is added at the end."""

    column: tuple[int, ...]
    place: tuple[int, ...]
    leaf: np.ndarray

    def leaves(self, bins: np.ndarray) -> np.ndarray:
        """The leaf of each graph, ``[G, U] → [G]``."""
        first, low, high = (bins[:, column] > place for column, place in zip(self.column, self.place, strict=True))
        return np.where(first, 2 + high, low.astype(np.int64))

    def values(self, bins: np.ndarray) -> np.ndarray:
        """What is added to each graph, ``[G, C]``."""
        found: np.ndarray = self.leaf[self.leaves(bins)]
        return found


def _rounds(booster: _Booster, asked: np.ndarray, fold: np.ndarray) -> int:
    """The rounds with the least loss on graphs left out; zero if that is not less by more than a standard error."""
    losses = np.zeros((TREES + 1, len(asked)))
    for number in range(FOLDS):
        outside = asked[fold == number]
        _, found = booster.boost(asked[fold != number], outside, TREES)
        losses[:, fold == number] = found * booster.weight[outside]
    best = int(losses.mean(1).argmin())
    gain = losses[0] - losses[best]
    return best if gain.mean() > gain.std() / np.sqrt(len(gain)) else 0


class _Binned:
    """Amounts of graphs by bin: ``bins [G, U]`` of the U that are not the same for all, ``varying [U]`` says which, and
    ``indicator [U · BINS, G]`` sums what graphs have in each bin."""

    def __init__(self, amount: np.ndarray) -> None:
        self.varying = np.flatnonzero(amount.min(0) < amount.max(0))
        values = amount[:, self.varying]
        self.bounds = np.array([_bounds(column) for column in values.T]).reshape(-1, BINS - 1)
        pairs = zip(self.bounds, values.T, strict=True)
        found = [np.searchsorted(bounds, column, side="right") for bounds, column in pairs]
        self.bins = np.array(found, np.int64).reshape(len(self.varying), len(values)).T
        flat = (self.bins + np.arange(len(self.varying)) * BINS).reshape(-1)
        graphs = np.repeat(np.arange(len(values)), len(self.varying))
        self.indicator = csr_array((np.ones(flat.size), (flat, graphs)), shape=(len(self.varying) * BINS, len(values)))


def _bounds(values: np.ndarray) -> np.ndarray:
    """Bounds between values that occur, about as many graphs between one and the next, ``[BINS - 1]``; where there are
    fewer, the last is repeated."""
    values = np.sort(values)
    change = np.flatnonzero(np.diff(values) > 0)
    middle = (values[change] + values[change + 1]) / 2
    if len(change) >= BINS:
        wanted = np.linspace(0, len(values), BINS + 1)[1:-1]
        middle = middle[np.unique(np.clip(np.searchsorted(change + 1, wanted), 0, len(change) - 1))]
    return np.pad(middle, (0, BINS - 1 - len(middle)), constant_values=middle[-1])


@dataclass(frozen=True, eq=False)
class _Booster:
    """Gradient boosting with softmax and second derivatives (Newton steps)."""

    numbers: _Binned
    y: np.ndarray
    weight: np.ndarray
    num_classes: int
    offset: np.ndarray | None = None

    def boost(self, inside: np.ndarray, outside: np.ndarray, rounds: int) -> tuple[list[_Tree], np.ndarray]:
        """Boost on the graphs ``inside``; the trees, and the log-loss of those ``outside`` after every round,
        ``[rounds + 1, S]``."""
        y, trees = self.y, []
        losses = np.zeros((rounds + 1, len(outside)))
        shares = np.bincount(y[inside], weights=self.weight[inside], minlength=self.num_classes) + 1.0
        logits = np.tile(np.log(shares / shares.sum()), (len(y), 1)) if self.offset is None else self.offset.copy()
        target = np.eye(self.num_classes)[y]
        indicator = self.numbers.indicator[:, inside]
        best = 0
        for number in range(rounds + 1):
            losses[number:] = _log_loss(logits[outside], y[outside])
            best = number if losses[number].sum() < losses[best].sum() else best
            if number == rounds or (len(outside) and number - best >= PATIENCE):
                break
            share = _softmax(logits[inside])
            derivatives = np.concatenate([target[inside] - share, share * (1 - share)], 1) * self.weight[inside, None]
            derivatives = np.concatenate([derivatives, np.ones((len(inside), 1))], 1)
            tree = self._grown(indicator, derivatives, inside)
            if tree is None:
                break
            trees.append(tree)
            logits += tree.values(self.numbers.bins)
        return trees, losses

    def _grown(self, indicator: csr_array, derivatives: np.ndarray, inside: np.ndarray) -> _Tree | None:
        """The tree whose questions lower the loss most, one after the other; None where no first one does."""
        first = self._split(indicator, derivatives)
        if first is None:
            return None
        high = self.numbers.bins[inside, first[0]] > first[1]
        questions, leaves = [first], []
        for side in (~high, high):
            nowhere = first[0], BINS  # nothing is beyond the last bin
            second = self._split(indicator, derivatives * side[:, None]) or nowhere
            questions.append(second)
            higher = self.numbers.bins[inside, second[0]] > second[1]
            leaves += [self._step(derivatives[side & ~higher].sum(0)), self._step(derivatives[side & higher].sum(0))]
        return _Tree(tuple(column for column, _ in questions), tuple(place for _, place in questions), np.array(leaves))

    def _split(self, indicator: csr_array, derivatives: np.ndarray) -> tuple[int, int] | None:
        """The column and the last low bin that lower the loss most, if any does.

        Args:
            indicator: Sums over bins, ``[U · BINS, n]``.
            derivatives: Gradient, hessian and presence of each graph, ``[n, 2 C + 1]``; zeros where it does not count.
        """
        sums = np.cumsum((indicator @ derivatives).reshape(-1, BINS, derivatives.shape[1]), 1)
        low, total = sums[:, :-1], sums[:, -1:]
        high, least = total - low, max(5.0, LEAST_LEAF * len(derivatives))
        gain = self._gain(low) + self._gain(high) - self._gain(total)
        gain = np.where((low[..., -1] >= least) & (high[..., -1] >= least), gain, 0.0)
        if not gain.size or gain.max() <= LEAST_GAIN:
            return None
        column, place = np.unravel_index(int(gain.argmax()), gain.shape)
        return int(column), int(place)

    def _gain(self, sums: np.ndarray) -> np.ndarray:
        """Twice the log-likelihood that the best step gains, about; sums ``[…, 2 C + 1]``."""
        gradient, hessian = sums[..., : self.num_classes], sums[..., self.num_classes : -1]
        found: np.ndarray = (gradient**2 / (hessian + SHRINKAGE)).sum(-1)
        return found

    def _step(self, sums: np.ndarray) -> np.ndarray:
        """The step of a leaf, ``[2 C + 1] → [C]``."""
        found: np.ndarray = RATE * sums[: self.num_classes] / (sums[self.num_classes : -1] + SHRINKAGE)
        return found


def _centred(trees: list[_Tree], numbers: _Binned, weight: np.ndarray, num_classes: int) -> Trees:
    """The trees as the composition holds them: differences to the mean of the side, of that to the mean of all."""
    side, leaf = np.zeros((len(trees), 2, num_classes)), np.zeros((len(trees), 4, num_classes))
    base = np.zeros(num_classes)
    for number, tree in enumerate(trees):
        counts = np.bincount(tree.leaves(numbers.bins), weights=weight, minlength=4)[:, None]
        for low in (0, 2):
            both = counts[low : low + 2]
            side[number, low // 2] = (tree.leaf[low : low + 2] * both).sum(0) / max(both.sum(), 1e-9)
            leaf[number, low : low + 2] = tree.leaf[low : low + 2] - side[number, low // 2]
        mean = (side[number] * counts.reshape(2, 2).sum(1)[:, None]).sum(0) / counts.sum()
        side[number] -= mean
        base += mean
    bounds = np.pad(numbers.bounds, ((0, 0), (0, 2)), constant_values=np.inf)  # bin BINS is never reached
    column = np.array([tree.column for tree in trees], np.int64).reshape(-1, 3)
    place = np.array([tree.place for tree in trees], np.int64).reshape(-1, 3)
    bound = np.minimum(bounds[column, place], np.finfo(np.float32).max)
    amount = numbers.varying[column]
    return Trees(torch.from_numpy(amount), *(torch.from_numpy(one).float() for one in (bound, side, leaf, base)))


def _softmax(logits: np.ndarray) -> np.ndarray:
    share = np.exp(logits - logits.max(1, keepdims=True))
    found: np.ndarray = share / share.sum(1, keepdims=True)
    return found


def _log_loss(logits: np.ndarray, y: np.ndarray) -> np.ndarray:
    found: np.ndarray = -np.log(_softmax(logits)[np.arange(len(y)), y] + 1e-12)
    return found
