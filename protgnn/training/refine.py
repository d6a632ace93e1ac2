"""The last steps: the last layer alone on similarities that no longer move, and the pruning of idle prototypes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from protgnn.graphs.instances import Instances
from protgnn.model.classifier import GraphClassifier
from protgnn.model.prototypes import PrototypeHead
from protgnn.training.evaluate import share_right, similarities
from protgnn.training.recipe import Recipe

REFINE_LR = 0.01
"""A weight moves by this in a step at the most, so 20 steps mend a little. On 20 splits within the training part of
MUTAG (GIN) 200 steps, the best by validation kept, raised the loss of graphs not seen from 0.37 to 0.50, and lowered
their accuracy by 1.3 points; so few graphs cannot choose between so many weights."""


def refine(model: GraphClassifier, train: Instances, valid: Instances, recipe: Recipe) -> tuple[float, float]:
    """Full-batch Adam on the last layer; the weights that did best on the validation graphs are kept, and how well they
    did, accuracy and minus the loss, is told."""
    head = model.head
    assert isinstance(head, PrototypeHead) and train.y is not None and valid.y is not None
    similar, held = similarities(model, train), similarities(model, valid)
    weight = head.last.weight.detach().clone().requires_grad_()
    optimizer = torch.optim.Adam([weight], REFINE_LR)
    best, best_weight = _merit(held @ weight.detach().t(), valid.y), weight.detach().clone()
    for _ in range(recipe.refine_steps):
        loss = cross_entropy(similar @ weight.t(), train.y)
        (weight.grad,) = torch.autograd.grad(loss, weight)
        optimizer.step()
        merit = _merit(held @ weight.detach().t(), valid.y)
        if merit > best:
            best, best_weight = merit, weight.detach().clone()
    with torch.no_grad():
        head.last.weight.copy_(best_weight)
    return best


def idle_prototypes(head: PrototypeHead, held: Tensor, y: Tensor) -> list[int]:
    """Prototypes that can go, one after the other, without lowering the accuracy on ``held [G, K]``.

    Each class keeps one at least; of several that can go, the one whose going costs least in loss goes first.
    """
    return idle_among(head, lambda kept: held[:, kept], y)


def idle_among(head: PrototypeHead, similar: Callable[[list[int]], Tensor], y: Tensor) -> list[int]:
    """The same where the similarities ``[G, K']`` of those that stay depend on which these are."""
    kept = list(range(len(head.classes)))
    weight = head.last.weight.detach()
    floor = _merit(similar(kept) @ weight.t(), y)[0]
    while True:
        classes = head.classes[kept].tolist()
        trials = []
        for place, number in enumerate(kept):
            rest = kept[:place] + kept[place + 1 :]
            if classes.count(classes[place]) > 1:
                trials.append((*_merit(similar(rest) @ weight[:, rest].t(), y), -number))
        if not trials or max(trials)[0] < floor:
            return [number for number in range(len(head.classes)) if number not in kept]
        kept.remove(-max(trials)[2])


def _merit(logits: Tensor, y: Tensor) -> tuple[float, float]:
    """Accuracy, then minus the loss: higher is better."""
    return share_right(logits, y), -float(cross_entropy(logits, y))
