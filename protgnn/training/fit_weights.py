"""The weights of mined prototypes: a logistic model whose weights are not negative and in the own class alone."""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

PENALTY = 0.05
"""What the squares of weights cost, beside the loss of all graphs together: a few graphs, which may be alike by chance,
get small weights, and a part that decides among thousands a large one (docs/decisions/0061)."""

NEXT_TO_NONE = 0.01
"""For choosing: what a prototype explains must not depend on how much smaller it lets the weights of others be."""

STEPS = 60


def fit_weights(
    values: Tensor,
    y: Tensor,
    classes: Tensor,
    weight: Tensor,
    base: Tensor,
    steps: int = STEPS,
    class_weight: Tensor | None = None,
    offset: Tensor | None = None,
    penalty: float = PENALTY,
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
        penalty: What squared weights cost, beside the sum of the losses.
    """
    sample_weight = graph_weights(y, class_weight)
    scale = values.double().numpy().std(0) + 1e-3
    scaled, own = values.double().numpy() / scale, np.eye(len(base))[classes.numpy()]
    given = 0.0 if offset is None else offset.double().numpy()
    truth, kept, cost = np.eye(len(base))[y.numpy()], values.shape[1], penalty / len(y) / scale**2

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


def graph_weights(y: Tensor, class_weight: Tensor | None) -> np.ndarray:
    """How much each graph counts, ``[G]``."""
    return np.ones(len(y)) if class_weight is None else class_weight.double()[y].numpy()
