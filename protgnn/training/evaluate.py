"""How good a model is on some graphs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from protgnn.graphs.packed import GraphSet
from protgnn.model.classifier import GraphClassifier
from protgnn.model.prototypes import PrototypeHead, similarity

EVALUATION_BATCH = 512


@torch.no_grad()
def predict_logits(model: GraphClassifier, graphs: GraphSet, device: torch.device | str = "cpu") -> Tensor:
    """Logits ``[G, C]`` in evaluation mode, on the CPU."""
    training = model.training
    model.eval()
    try:
        parts = [model(batch.to(device)).cpu() for batch in graphs.batches(EVALUATION_BATCH)]
    finally:
        model.train(training)
    return torch.cat(parts)


def score(logits: Tensor, y: Tensor, class_names: tuple[str, ...]) -> dict[str, Any]:
    """Accuracy, cross-entropy, and per class its size, recall and precision; ``[G, C], [G]``."""
    predicted = logits.argmax(1)
    correct = predicted == y
    per_class = {}
    for number, name in enumerate(class_names):
        own, said = y == number, predicted == number
        per_class[name] = {
            "n": int(own.sum()),
            "recall": float(correct[own].float().mean()) if bool(own.any()) else None,
            "precision": float(correct[said].float().mean()) if bool(said.any()) else None,
        }
    return {
        "accuracy": float(correct.float().mean()),
        "loss": float(cross_entropy(logits, y)),
        "n": len(y),
        "per_class": per_class,
    }


UNFAMILIAR_SHARE = 0.01


@torch.no_grad()
def familiarity(model: GraphClassifier, valid: GraphSet) -> float:
    """The similarity to the nearest prototype that all but one in a hundred validation graphs reach.

    A graph below it is unlike anything the model was trained on, whatever class it is given.
    """
    head = model.head
    assert isinstance(head, PrototypeHead)
    model.eval()
    near = [similarity(head.distances(model.embed(batch)), head.epsilon) for batch in valid.batches(EVALUATION_BATCH)]
    return float(torch.cat(near).max(1).values.quantile(UNFAMILIAR_SHARE))


@torch.no_grad()
def promises(model: GraphClassifier, graphs: GraphSet, anchors: GraphSet) -> dict[str, float]:
    """Three of the four promises, as figures.

    ``prototype_error``: largest difference between a prototype and its subgraph encoded alone. ``sum_error``:
    largest difference between summed contributions and logits. ``median_similarity``: of the graphs to the nearest
    prototype of the class they are predicted to be.
    """
    head = model.head
    assert isinstance(head, PrototypeHead)
    model.eval()
    alone = torch.cat([model.embed(anchors[number].batch()) for number in range(len(anchors))])
    gaps, nearest = [], []
    for batch in graphs.batches(EVALUATION_BATCH):
        logits = model(batch)
        similar = similarity(head.distances(model.embed(batch)), head.epsilon)
        contribution = similar[:, None, :] * head.last.weight[None]  # [B, C, K]
        gaps.append((contribution.sum(2) - logits).abs().max())
        foreign = head.classes[None] != logits.argmax(1)[:, None]
        nearest.append(similar.masked_fill(foreign, -torch.inf).max(1).values)
    return {
        "prototype_error": float((alone - head.vectors).abs().max()),
        "sum_error": float(torch.stack(gaps).max()),
        "median_similarity": float(torch.cat(nearest).median()),
    }
