"""The learning objective, Eq. 3 to 6: cross-entropy plus cluster, separation and diversity costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


@dataclass(frozen=True)
class Costs:
    """Weights λ1, λ2, λ3 of the three costs, the margin of the separation and s_max of the diversity."""

    cluster: float = 0.10
    separation: float = 0.05
    diversity: float = 0.01
    threshold: float = 0.3
    margin: float | None = None


def objective(
    logits: Tensor,
    distance: Tensor,
    prototypes: Tensor,
    y: Tensor,
    classes: Tensor,
    costs: Costs,
    class_weight: Tensor | None = None,
) -> Tensor:
    """Eq. 3 for logits ``[B, C]`` of squared distances ``[B, K]`` to prototypes ``[K, H]`` of classes ``[K]``.

    ``class_weight [C]``, ours, is how much a graph of each class counts in the cross-entropy.
    """
    return (
        weighted_cross_entropy(logits, y, class_weight)
        + costs.cluster * cluster(distance, y, classes)
        + costs.separation * separation(distance, y, classes, costs.margin)
        + costs.diversity * diversity(prototypes, classes, costs.threshold)
    )


def weighted_cross_entropy(logits: Tensor, y: Tensor, weight: Tensor | None) -> Tensor:
    """Mean cross-entropy of logits ``[B, C]`` for classes ``[B]``, each times the weight ``[C]`` of its class.

    Not divided by the weights of the batch: a batch without a rare graph must not count as if it had some.
    """
    if weight is None:
        return cross_entropy(logits, y)
    return (cross_entropy(logits, y, reduction="none") * weight.to(logits.device)[y]).mean()


def cluster(distance: Tensor, y: Tensor, classes: Tensor) -> Tensor:
    """Eq. 4: mean squared distance to the nearest prototype of the own class, ``[B, K], [B], [K] → []``."""
    return _nearest(distance, classes[None] == y[:, None]).mean()


def separation(distance: Tensor, y: Tensor, classes: Tensor, margin: float | None = None) -> Tensor:
    """Eq. 5: minus the mean squared distance to the nearest prototype of another class.

    As written it has no lower bound, and embeddings run apart without end. With a ``margin`` a graph that is
    further than that from every foreign prototype is left alone: ``-min(d, margin)``.
    """
    nearest = _nearest(distance, classes[None] != y[:, None])
    return -(nearest if margin is None else nearest.clamp(max=margin)).mean()


def _nearest(distance: Tensor, eligible: Tensor) -> Tensor:
    """The least of the eligible entries of each row, ``[B, K] → [B, 1]``; only the look-up is differentiated."""
    with torch.no_grad():
        place = distance.masked_fill(~eligible, torch.inf).argmin(1, keepdim=True)
    return distance.gather(1, place)


def diversity(prototypes: Tensor, classes: Tensor, threshold: float) -> Tensor:
    """Eq. 6: ``Σ max(0, cos(p_i, p_j) - s_max)`` over ordered pairs of different prototypes of one class."""
    result: Tensor = _Diversity.apply(prototypes, classes, threshold)  # type: ignore[no-untyped-call]
    return result


class _Diversity(torch.autograd.Function):
    """Eq. 6 with its gradient written out: the prototypes are few, and a graph of ten operations costs more."""

    @staticmethod
    def forward(ctx: Any, prototypes: Tensor, classes: Tensor, threshold: float) -> Tensor:
        length = prototypes.norm(dim=1, keepdim=True).clamp(min=1e-12)
        unit = prototypes / length
        excess = unit @ unit.t() - threshold
        active = (classes[:, None] == classes[None]).fill_diagonal_(False) & (excess > 0)
        pull = 2 * active.to(unit.dtype) @ unit  # every pair counts in both orders
        ctx.save_for_backward((pull - (pull * unit).sum(1, keepdim=True) * unit) / length)
        total: Tensor = (excess * active).sum()
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor, None, None]:
        gradient: Tensor = grads[0] * ctx.saved_tensors[0]
        return gradient, None, None
