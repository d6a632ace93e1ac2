"""Dropping idle prototypes (ours, not the paper's)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from protgnn.data.network.instances import Instances
from protgnn.model.classifier import ProtGNN
from protgnn.model.prototype_layer import PrototypeHead
from protgnn.training.evaluate import similarities
from protgnn.training.selection import DEFAULT_CRITERION, Criterion


def prune(
    model: ProtGNN, valid: Instances, sources: list[dict[str, Any]], criterion: Criterion = DEFAULT_CRITERION
) -> list[dict[str, Any]]:
    """Drop the prototypes that can go without a worse validation by the criterion; the sources of those that stay."""
    assert valid.y is not None
    if model.compares_evidence:  # the candidates that are proposed for one prototype may be taken by another
        idle = idle_among(model.head, lambda kept: _similar_with(model, valid, kept), valid.y, criterion)
    else:
        idle = idle_prototypes(model.head, similarities(model, valid), valid.y, criterion)
    kept = [number for number in range(len(model.head.classes)) if number not in idle]
    model.head.keep(torch.tensor(kept))
    return [sources[number] for number in kept]


def idle_prototypes(
    head: PrototypeHead, valid: Tensor, y: Tensor, criterion: Criterion = DEFAULT_CRITERION
) -> list[int]:
    """Prototypes that can go, one after the other, without lowering the merit on similarities ``valid [G, K]``.

    Each class keeps one at least; of several that can go, the one whose going costs least in loss goes first.
    """
    return idle_among(head, lambda kept: valid[:, kept], y, criterion)


def idle_among(
    head: PrototypeHead, similar: Callable[[list[int]], Tensor], y: Tensor, criterion: Criterion = DEFAULT_CRITERION
) -> list[int]:
    """The same where the similarities ``[G, K']`` of those that stay depend on which these are."""
    kept = list(range(len(head.classes)))
    weight = head.last.weight.detach()
    floor = criterion.quality(similar(kept) @ weight.t(), y).merit
    while True:
        classes = head.classes[kept].tolist()
        trials = []
        for place, number in enumerate(kept):
            rest = kept[:place] + kept[place + 1 :]
            if classes.count(classes[place]) > 1:
                trials.append((*criterion.quality(similar(rest) @ weight[:, rest].t(), y)[:2], -number))
        if not trials or max(trials)[0] < floor:
            return [number for number in range(len(head.classes)) if number not in kept]
        kept.remove(-max(trials)[2])


def _similar_with(model: ProtGNN, graphs: Instances, kept: list[int]) -> Tensor:
    """The similarities ``[G, K']`` of graphs if only some prototypes were kept."""
    trial = copy.deepcopy(model)
    trial.head.keep(torch.tensor(kept))
    return similarities(trial, graphs)
