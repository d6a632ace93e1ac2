"""The reasoning behind a prediction: a row per prototype, and sums that are the logits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from protgnn.errors import ProtGNNError
from protgnn.graphs.packed import GraphSet
from protgnn.model.classifier import GraphClassifier
from protgnn.model.prototypes import PrototypeHead, similarity
from protgnn.training.evaluate import EVALUATION_BATCH


@dataclass(frozen=True)
class Row:
    """What one prototype says: similarity times weight is its contribution to each class.

    ``evidence`` are the nodes of the part of the graph that was compared with the prototype, with all edges between
    them; ``None`` where that was the whole graph.
    """

    prototype: int
    label: int
    similarity: float
    weights: tuple[float, ...]
    evidence: tuple[int, ...] | None = None

    def contribution(self, label: int) -> float:
        """What this row adds to the logit of a class."""
        return self.similarity * self.weights[label]


@dataclass(frozen=True)
class Reasoning:
    """Why a graph is predicted to be of a class: its logits are the sums of the rows' contributions."""

    name: str | None
    class_names: tuple[str, ...]
    logits: tuple[float, ...]
    probabilities: tuple[float, ...]
    rows: tuple[Row, ...]

    @property
    def predicted(self) -> int:
        """The class with the highest logit."""
        return max(range(len(self.logits)), key=self.logits.__getitem__)

    @property
    def runner_up(self) -> int:
        """The class with the second highest logit."""
        return max((label for label in range(len(self.logits)) if label != self.predicted), key=self.logits.__getitem__)

    @property
    def margin(self) -> float:
        """How far the predicted class is ahead of the runner-up."""
        return self.logits[self.predicted] - self.logits[self.runner_up]

    def decisive(self) -> list[Row]:
        """The rows, those first that made most of the difference between the predicted class and the runner-up."""
        first, second = self.predicted, self.runner_up
        return sorted(self.rows, key=lambda row: row.contribution(second) - row.contribution(first))

    def __str__(self) -> str:
        names, first, second = self.class_names, self.predicted, self.runner_up
        lines = [f"{self.name or 'graph'}: {names[first]} (probability {self.probabilities[first]:.2f})"]
        for row in self.decisive():
            shares = "  ".join(f"{row.contribution(label):+.2f} {names[label]}" for label in (first, second))
            lines.append(
                f"  prototype {row.prototype} of {names[row.label]}, similarity {row.similarity:.2f}: {shares}"
            )
        sums = "  ".join(f"{self.logits[label]:+.2f} {names[label]}" for label in (first, second))
        return "\n".join([*lines, f"  sum: {sums}"])

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        names = self.class_names
        return {
            "name": self.name,
            "predicted": names[self.predicted],
            "probabilities": dict(zip(names, self.probabilities, strict=True)),
            "logits": dict(zip(names, self.logits, strict=True)),
            "runner_up": names[self.runner_up],
            "margin": self.margin,
            "rows": [
                {
                    "prototype": row.prototype,
                    "class": names[row.label],
                    "similarity": row.similarity,
                    "weights": dict(zip(names, row.weights, strict=True)),
                    "contributions": {name: row.contribution(label) for label, name in enumerate(names)},
                    "evidence": None if row.evidence is None else list(row.evidence),
                }
                for row in self.rows
            ],
        }


@torch.no_grad()
def explain(model: GraphClassifier, graphs: GraphSet) -> list[Reasoning]:
    """The reasoning for every graph, by the prototypes of the model."""
    head = model.head
    if not isinstance(head, PrototypeHead):
        raise ProtGNNError("A plain model has no prototypes to explain by: train one with --set head=prototypes")
    model.eval()
    classes, weights = head.classes.tolist(), [tuple(column) for column in head.last.weight.t().tolist()]
    found: list[Reasoning] = []
    for batch in graphs.batches(EVALUATION_BATCH):
        distance = head.distances(model.embed(batch))
        similar, logits = similarity(distance, head.epsilon).tolist(), head.logits(distance)
        for shown, logit, chance in zip(similar, logits.tolist(), logits.softmax(1).tolist(), strict=True):
            name = None if graphs.names is None else graphs.names[len(found)]
            rows = (Row(number, classes[number], value, weights[number]) for number, value in enumerate(shown))
            found.append(Reasoning(name, graphs.schema.class_names, tuple(logit), tuple(chance), tuple(rows)))
    return found
