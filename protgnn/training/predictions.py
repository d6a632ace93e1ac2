"""Predictions as rows: one per graph, ready for CSV or JSON."""

from __future__ import annotations

from typing import Any

from protgnn.graphs.packed import GraphSet
from protgnn.model.classifier import GraphClassifier
from protgnn.training.evaluate import predict_logits


def predictions(model: GraphClassifier, graphs: GraphSet) -> list[dict[str, Any]]:
    """Number, name, predicted class and the probability of every class."""
    chances = predict_logits(model, graphs).softmax(1)
    names = graphs.schema.class_names
    rows = []
    for number, row in enumerate(chances.tolist()):
        best = max(range(len(row)), key=row.__getitem__)
        found: dict[str, Any] = {"row": number}
        if graphs.names is not None:
            found["name"] = graphs.names[number]
        found["predicted"] = names[best]
        found.update({f"p({name})": round(chance, 6) for name, chance in zip(names, row, strict=True)})
        rows.append(found)
    return rows
