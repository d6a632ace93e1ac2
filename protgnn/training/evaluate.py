"""How good a model is on some graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from protgnn.graphs.instances import Instances
from protgnn.graphs.packed import Batch, GraphSet
from protgnn.graphs.subgraphs import cut
from protgnn.model.classifier import GraphClassifier
from protgnn.model.prototypes import PrototypeHead, similarity

EVALUATION_BATCH = 512
EVALUATION_PARTS = 8192
EVALUATION_NODES = 65_536


def graphs_at_once(model: GraphClassifier, graphs: Instances) -> int:
    """How many graphs to evaluate in one call: fewer where they are large, or many parts of each are compared."""
    most = EVALUATION_BATCH
    if isinstance(graphs, GraphSet) and len(graphs):
        most = min(most, max(EVALUATION_NODES // int(graphs.node_counts.max()), 1))
    if model.sampler is None or not isinstance(model.head, PrototypeHead):
        return most
    return min(most, max(EVALUATION_PARTS // (len(model.head.classes) + model.sizes.beside), 1))


def evaluation_batches(model: GraphClassifier, graphs: Instances, whole: bool = False) -> Iterator[Batch]:
    """The graphs as a model is evaluated on them: apart where it looks for evidence in each."""
    return graphs.batches(graphs_at_once(model, graphs), apart=model.sampler is not None and not whole)


@torch.no_grad()
def predict_logits(
    model: GraphClassifier, graphs: Instances, device: torch.device | str = "cpu", whole: bool = False
) -> Tensor:
    """Logits ``[G, C]`` in evaluation mode, on the CPU; ``whole`` compares whole graphs even in ProtGNN+."""
    training = model.training
    model.eval()
    try:
        parts = [model(batch.to(device), whole).cpu() for batch in evaluation_batches(model, graphs, whole)]
    finally:
        model.train(training)
    return torch.cat(parts)


def share_right(logits: Tensor, y: Tensor) -> float:
    """Accuracy: the share of the graphs whose class has the largest logit; ``[G, C], [G]``."""
    return float((logits.argmax(1) == y).float().mean())


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
        "accuracy": share_right(logits, y),
        "loss": float(cross_entropy(logits, y)),
        "n": len(y),
        "per_class": per_class,
    }


def link_scores(logits: Tensor, y: Tensor) -> dict[str, float | None]:
    """How well links are told from pairs without one, whatever the threshold; nothing where there is but one kind."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    if bool((y == y[0]).all()):
        return {"roc_auc": None, "average_precision": None}
    margin = (logits[:, 1] - logits[:, 0]).numpy()
    return {
        "roc_auc": float(roc_auc_score(y.numpy(), margin)),
        "average_precision": float(average_precision_score(y.numpy(), margin)),
    }


@torch.no_grad()
def similarities(model: GraphClassifier, graphs: Instances) -> Tensor:
    """Similarity of every graph to every prototype in evaluation mode, ``[G, K]``."""
    head = model.head
    assert isinstance(head, PrototypeHead)
    model.eval()
    parts = [model.distances(batch) for batch in evaluation_batches(model, graphs)]
    return similarity(torch.cat(parts), head.epsilon)


UNFAMILIAR_SHARE = 0.01


def familiarity(model: GraphClassifier, valid: Instances) -> float:
    """The similarity to the nearest prototype that all but one in a hundred validation graphs reach.

    A graph below it is unlike anything the model was trained on, whatever class it is given.
    """
    return float(similarities(model, valid).max(1).values.quantile(UNFAMILIAR_SHARE))


@torch.no_grad()
def promises(model: GraphClassifier, graphs: Instances, anchors: GraphSet) -> dict[str, float]:
    """The promises, as figures.

    ``prototype_error``: largest difference between a prototype and its subgraph encoded alone. ``sum_error``:
    largest difference between summed contributions and logits. ``median_similarity``: of the graphs to the nearest
    prototype of the class they are predicted to be. ProtGNN+ has three more, see :func:`evidence_promises`.
    """
    head = model.head
    assert isinstance(head, PrototypeHead)
    model.eval()
    alone = torch.cat([model.embed_parts(anchors[number].batch()) for number in range(len(anchors))])
    gaps, nearest = [], []
    for batch in evaluation_batches(model, graphs):
        logits = model(batch)
        similar = similarity(model.distances(batch), head.epsilon)
        contribution = similar[:, None, :] * head.last.weight[None]  # [B, C, K]
        gaps.append((contribution.sum(2) - logits).abs().max())
        foreign = head.classes[None] != logits.argmax(1)[:, None]
        nearest.append(similar.masked_fill(foreign, -torch.inf).max(1).values)
    figures = {
        "prototype_error": float((alone - head.vectors).abs().max()),
        "sum_error": float(torch.stack(gaps).max()),
        "median_similarity": float(torch.cat(nearest).median()),
    }
    return figures if model.sampler is None else {**figures, **evidence_promises(model, graphs)}


@torch.no_grad()
def evidence_promises(model: GraphClassifier, graphs: Instances) -> dict[str, float]:
    """What ProtGNN+ promises of its evidence.

    ``evidence_error``: largest difference between a similarity that was used and that of the evidence cut out of its
    graph and encoded alone. ``evidence_size``: mean number of edges. ``agreement``: share of the graphs for which
    ProtGNN, the same weights on whole graphs, predicts the same class.
    """
    head = model.head
    assert isinstance(head, PrototypeHead)
    model.eval()
    error, sizes, agree = 0.0, [], []
    at_once = graphs_at_once(model, graphs)
    for start in range(0, len(graphs), at_once):
        chosen = graphs[start : start + at_once]
        some = chosen.apart()
        batch = some.batch()
        evidence = model.evidence(batch)
        used = similarity(evidence.distance, head.epsilon)
        whole = predict_logits(model, chosen, whole=True)
        agree.append(head.logits(evidence.distance).argmax(1) == whole.argmax(1))
        for prototype, inside in enumerate(evidence.member(batch).t()):
            alone = cut(some, torch.arange(len(some)), inside)
            sizes.append(alone.edge_counts / 2)
            h = torch.cat([model.embed_parts(alone[number].batch()) for number in range(len(alone))])
            expected = similarity((h - head.vectors[prototype]).square().sum(1), head.epsilon)
            error = max(error, float((expected - used[:, prototype]).abs().max()))
    return {
        "evidence_error": error,
        "evidence_size": float(torch.cat(sizes).mean()),
        "agreement": float(torch.cat(agree).float().mean()),
    }
