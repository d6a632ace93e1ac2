"""The learning objective, Eq. 3 to 6: cross-entropy plus cluster, separation and diversity costs."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize


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
    pair = (classes[:, None] == classes[None]) & ~torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    return (unit @ unit.t() - threshold).clamp(min=0)[pair].sum()
