"""What a trained model knows: every prototype with the training subgraph it is, its weight and its support."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.model.classifier import ProtGNN
from protgnn.training.evaluate import VISIBLE, similarities
from protgnn.training.prototype_subgraphs import cut_subgraphs

ROUNDING = 1e-4
"""Similarities closer than that are equal."""


@dataclass(frozen=True)
class PrototypeCard:
    """One prototype in words and numbers.

    ``graph`` is the number of its source in the training set and ``name`` what that graph is called (the SMILES of a
    molecule), ``nodes`` its nodes there; ``weight`` is that of its own class; ``support`` is how many training graphs
    it is nearest to, of those that resemble any prototype. ``scale`` are the similarities of the training graphs to it
    at 0, 1, …, 100 per cent, from the lowest to the highest; old runs have none.
    """

    label: int
    graph: int
    name: str | None
    nodes: list[int]
    weight: float
    support: int
    scale: list[float] | None = None

    def percentile(self, similarity: float) -> int | None:
        """How many in a hundred training graphs are less similar to the prototype, 0 to 100; 100 where all are."""
        return None if self.scale is None else max(bisect_left(self.scale, similarity - ROUNDING) - 1, 0)


@dataclass(frozen=True, eq=False)
class Prototypes:
    """The K cards and, in the same order, the K subgraphs themselves."""

    cards: tuple[PrototypeCard, ...]
    subgraphs: GraphSet


def describe_prototypes(
    model: ProtGNN, train: Instances, sources: list[dict[str, Any]], similar: Tensor | None = None
) -> Prototypes:
    """Cards and subgraphs of a trained model's prototypes, given where in the training graphs each comes from.

    ``similar [G, K]`` are the similarities of the training graphs, where they are known already.
    """
    head = model.head
    similar = similarities(model, train) if similar is None else similar
    nearest = similar.max(1)
    support = torch.bincount(nearest.indices[nearest.values >= VISIBLE], minlength=len(head.classes))
    names = train[[source["graph"] for source in sources]].names
    cards = []
    weights = head.last.weight.detach()
    for number, source in enumerate(sources):
        label, graph = int(head.classes[number]), source["graph"]
        name = None if names is None else names[number]
        weight = float(weights[label, number])
        scale = scale_of(similar[:, number])
        cards.append(PrototypeCard(label, graph, name, list(source["nodes"]), weight, int(support[number]), scale))
    return Prototypes(tuple(cards), cut_subgraphs(train, sources))


def scale_of(similar: Tensor) -> list[float]:
    """The 101 similarities at 0, 1, …, 100 per cent of those of the training graphs, ``[G] → [101]``, ascending."""
    steps = torch.linspace(0, len(similar) - 1, 101).ceil().long()
    return [round(value, 4) for value in similar.sort().values[steps].tolist()]
