"""The weights of mined prototypes: a logistic model whose weights are not negative and in the own class alone."""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

PENALTIES = (1e-2, 1e-3, 1e-4, 1e-5)
"""Costs of squared weights to choose from."""

LEAST_PENALTY = PENALTIES[-1]
STEPS, FOLDS = 60, 5


def fit_weights(
    values: Tensor,
    y: Tensor,
    classes: Tensor,
    weight: Tensor,
    base: Tensor,
    steps: int = STEPS,
    class_weight: Tensor | None = None,
    offset: Tensor | None = None,
    penalty: float = LEAST_PENALTY,
) -> tuple[Tensor, Tensor]:
    """Weights ``[K]`` and bases ``[C]`` by L-BFGS from where they are.

    Weights, not what they come to, are kept small: a part that few graphs have must not decide alone.

    Args:
        values: What each graph has of each prototype, ``[G, K]``.
        y: The classes of the graphs, ``[G]``.
        classes: The classes of the prototypes, ``[K]``.
        weight: Weights to start from, ``[K]``.
        base: Bases to start from, ``[C]``.
        steps: Steps of L-BFGS at most.
        class_weight: How much a graph of each class counts, ``[C]``; all the same without.
        offset: Logits that are added, ``[G, C]``.
        penalty: What squared weights cost, beside the mean loss of a graph.
    """
    sample_weight = graph_weights(y, class_weight)
    scale = values.double().numpy().std(0) + 1e-3
    scaled, own = values.double().numpy() / scale, np.eye(len(base))[classes.numpy()]
    given = 0.0 if offset is None else offset.double().numpy()
    truth, kept, cost = np.eye(len(base))[y.numpy()], values.shape[1], penalty / scale**2

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        logits = (scaled * theta[:kept]) @ own + theta[kept:] + given
        logits -= logits.max(1, keepdims=True)
        share = np.exp(logits)
        share /= share.sum(1, keepdims=True)
        error = (share - truth) * sample_weight[:, None] / len(truth)
        value = -(np.log((share * truth).sum(1) + 1e-12) * sample_weight).mean() + (cost * theta[:kept] ** 2).sum()
        slope = (scaled * (error @ own.T)).sum(0) + 2 * cost * theta[:kept]
        return float(value), np.concatenate([slope, error.sum(0)])

    first = np.concatenate([weight.double().numpy() * scale, base.double().numpy()])
    bounds = [(0, None)] * kept + [(None, None)] * len(base)
    theta = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps}).x
    return torch.from_numpy(theta[:kept] / scale).float(), torch.from_numpy(theta[kept:]).float()


def best_penalty(
    values: Tensor,
    y: Tensor,
    classes: Tensor,
    num_classes: int,
    class_weight: Tensor | None = None,
    offset: Tensor | None = None,
) -> float:
    """The cost of squared weights with the lowest loss on graphs left out, in five folds; arguments as above.

    A label that one part decides wants large weights, and few noisy graphs want small ones.
    """
    fold = torch.randperm(len(y), generator=torch.Generator().manual_seed(0)) % FOLDS
    sample_weight = torch.from_numpy(graph_weights(y, class_weight)).float()
    own = torch.nn.functional.one_hot(classes, num_classes).float()
    given = torch.zeros(len(y), num_classes) if offset is None else offset
    start = torch.full((values.shape[1],), 0.1), torch.zeros(num_classes)
    losses = dict.fromkeys(PENALTIES, 0.0)
    for number in range(FOLDS):
        inside, outside = fold != number, fold == number
        for penalty in PENALTIES:
            some = values[inside], y[inside], classes, *start
            weight, base = fit_weights(*some, 2 * STEPS, class_weight, given[inside], penalty)
            logits = (values[outside] * weight) @ own + base + given[outside]
            found = torch.nn.functional.cross_entropy(logits, y[outside], reduction="none")
            losses[penalty] += float(found @ sample_weight[outside])
    return min(PENALTIES, key=losses.__getitem__)


def graph_weights(y: Tensor, class_weight: Tensor | None) -> np.ndarray:
    """How much each graph counts, ``[G]``."""
    return np.ones(len(y)) if class_weight is None else class_weight.double()[y].numpy()
