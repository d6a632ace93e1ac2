"""An ending of training: a kept state with exact prototypes and a refined last layer."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.data.network.instances import Instances
from protgnn.model.classifier import ProtGNN
from protgnn.training.checkpoint import copy_of
from protgnn.training.evaluate import embeddings, similarities
from protgnn.training.last_layer import refine
from protgnn.training.selection import DEFAULT_CRITERION, Criterion, Quality, accuracy_of


@dataclass(frozen=True, eq=False)
class Ending:
    """The weights of a model that could be exported, how good it is on the validation graphs, and how much training
    accuracy it ``lost`` to exact prototypes (not known for ProtGNN+)."""

    weights: dict[str, Tensor]
    quality: Quality
    lost: float = 0.0


@torch.no_grad()
def end_with(
    model: ProtGNN,
    weights: dict[str, Tensor],
    subgraphs: Batch,
    train: Instances,
    valid: Instances,
    steps: int,
    criterion: Criterion = DEFAULT_CRITERION,
) -> Ending:
    """Give the model these weights, set prototypes to the embeddings of their subgraphs and refine the last layer.

    Prototypes are embedded on the CPU, where the model is used: another device may round otherwise.
    """
    assert train.y is not None and valid.y is not None
    model.load_state_dict(weights)
    head, exact = model.head, model.embed_parts(subgraphs)
    if model.compares_evidence:  # another prototype takes another subgraph, so there is nothing to encode only once
        head.vectors.copy_(exact)
        similar, before = similarities(model, train), None
    else:
        h = embeddings(model, train)
        before = accuracy_of(head(h), train.y)
        head.vectors.copy_(exact)
        similar = head.similarity(head.distances(h))
    with torch.enable_grad():
        refined = refine(head.last.weight, similar, train.y, similarities(model, valid), valid.y, steps, criterion)
    head.last.weight.copy_(refined.weight)
    lost = 0.0 if before is None else before - accuracy_of(similar @ refined.weight.t(), train.y)
    return Ending(copy_of(model.state_dict()), refined.quality, lost)
