"""The learning objective, Eq. 3 to 6: cross-entropy plus cluster, separation and diversity costs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize


@dataclass(frozen=True)
class Costs:
    """Weights λ1, λ2, λ3 of the three costs, the margin of the separation and s_max of the diversity."""

    cluster: float = 0.10
    separation: float = 0.05
    diversity: float = 0.01
    threshold: float = 0.3
    margin: float | None = None


def objective(logits: Tensor, distance: Tensor, prototypes: Tensor, y: Tensor, classes: Tensor, costs: Costs) -> Tensor:
    """Eq. 3 for logits ``[B, C]`` of squared distances ``[B, K]`` to prototypes ``[K, H]`` of classes ``[K]``."""
    return (
        cross_entropy(logits, y)
        + costs.cluster * cluster(distance, y, classes)
        + costs.separation * separation(distance, y, classes, costs.margin)
        + costs.diversity * diversity(prototypes, classes, costs.threshold)
    )


def cluster(distance: Tensor, y: Tensor, classes: Tensor) -> Tensor:
    """Eq. 4: mean squared distance to the nearest prototype of the own class, ``[B, K], [B], [K] → []``."""
    other = classes[None] != y[:, None]
    return distance.masked_fill(other, torch.inf).min(1).values.mean()


def separation(distance: Tensor, y: Tensor, classes: Tensor, margin: float | None = None) -> Tensor:
    """Eq. 5: minus the mean squared distance to the nearest prototype of another class.

    As written it has no lower bound, and embeddings run apart without end. With a ``margin`` a graph that is
    further than that from every foreign prototype is left alone: ``-min(d, margin)``.
    """
    own = classes[None] == y[:, None]
    nearest = distance.masked_fill(own, torch.inf).min(1).values
    return -(nearest if margin is None else nearest.clamp(max=margin)).mean()


def diversity(prototypes: Tensor, classes: Tensor, threshold: float) -> Tensor:
    """Eq. 6: ``Σ max(0, cos(p_i, p_j) - s_max)`` over ordered pairs of different prototypes of one class."""
    unit = normalize(prototypes, dim=1)
    pair = (classes[:, None] == classes[None]).fill_diagonal_(False)
    return (torch.relu(unit @ unit.t() - threshold) * pair).sum()
