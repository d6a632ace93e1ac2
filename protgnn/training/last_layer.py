"""The last layer alone, on similarities that no longer move (ours, not the paper's)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from protgnn.training.selection import DEFAULT_CRITERION, Criterion, Quality

REFINE_LR = 0.01
"""A weight moves by this in a step at most, so 20 steps repair a little: docs/decisions/0006."""


@dataclass(frozen=True, eq=False)
class Refined:
    """The weights ``[C, K]`` of a refined last layer and how good they are on the validation graphs."""

    weight: Tensor
    quality: Quality


def refine(
    weight: Tensor,
    train: Tensor,
    train_y: Tensor,
    valid: Tensor,
    valid_y: Tensor,
    steps: int,
    criterion: Criterion = DEFAULT_CRITERION,
    given: tuple[Tensor | float, Tensor | float] = (0.0, 0.0),
) -> Refined:
    """Full-batch Adam on the last layer; the weights that did best on the validation graphs are kept.

    Args:
        weight: the last layer to begin with, ``[C, K]``.
        train, train_y: similarities ``[G, K]`` and classes ``[G]`` of the training graphs.
        valid, valid_y: the same of the validation graphs.
        steps: how many steps to take.
        criterion: what is minimised, and what is better.
        given: logits ``[G, C]`` that the training graphs and the validation graphs have already.
    """
    weight = weight.detach().clone().requires_grad_()
    optimizer = torch.optim.Adam([weight], REFINE_LR)
    best = Refined(weight.detach().clone(), criterion.quality(valid @ weight.detach().t() + given[1], valid_y))
    for _ in range(steps):
        loss = criterion.loss(train @ weight.t() + given[0], train_y)
        (weight.grad,) = torch.autograd.grad(loss, weight)
        optimizer.step()
        quality = criterion.quality(valid @ weight.detach().t() + given[1], valid_y)
        if quality > best.quality:
            best = Refined(weight.detach().clone(), quality)
    return best
