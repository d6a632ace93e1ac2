"""Predictions as rows: one per graph, with what decided it, ready for CSV or JSON."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from protgnn.errors import DataError
from protgnn.explain.reasoning import Known, Reasoning, explain
from protgnn.graphs.instances import Instances
from protgnn.graphs.new_input import existing_path
from protgnn.graphs.packed import GraphSet
from protgnn.graphs.tables import columns_by_line
from protgnn.graphs.text_files import ending
from protgnn.model.classifier import GraphClassifier
from protgnn.model.prototypes import PrototypeHead
from protgnn.training.evaluate import predict_logits


def predictions(model: GraphClassifier, graphs: Instances, known: Known) -> list[dict[str, Any]]:
    """Number, line in the file, name, predicted class, the probability of every class, and by what: see
    :func:`_decided_by`.

    A plain model has no prototypes, and its rows end with the probabilities.
    """
    lines = graphs.lines if isinstance(graphs, GraphSet) else None
    if isinstance(model.head, PrototypeHead):
        return [
            _row(why.number, lines, why.name, why.class_names, why.probabilities, why)
            for why in explain(model, graphs, known)
        ]
    names, classes = graphs.names, graphs.schema.class_names
    chances = predict_logits(model, graphs).softmax(1).tolist()
    return [
        _row(number, lines, None if names is None else names[number], classes, tuple(chance))
        for number, chance in enumerate(chances)
    ]


def with_columns(rows: list[dict[str, Any]], source: str, names: list[str]) -> list[dict[str, Any]]:
    """The rows with some columns of the CSV that they were predicted from, before what was predicted."""
    path = existing_path(source)
    if path is None or ending(path) not in (".csv", ".tsv"):
        raise DataError(f"{source}: leave --keep out, which is for the columns of a CSV")
    taken = [name for name in names if name in rows[0]]
    if taken:
        raise DataError(f"{source}: the output has a column {taken[0]!r} of its own: rename yours, or leave it out")
    kept = columns_by_line(path, names)
    return [{"row": row["row"], "line": row["line"], **kept[row["line"]], **row} for row in rows]


def _row(
    number: int,
    lines: Tensor | None,
    name: str | None,
    classes: tuple[str, ...],
    chances: tuple[float, ...],
    why: Reasoning | None = None,
) -> dict[str, Any]:
    found: dict[str, Any] = {"row": number}
    if lines is not None:
        found["line"] = int(lines[number])
    if name is not None:
        found["name"] = name
    found["predicted"] = classes[max(range(len(chances)), key=chances.__getitem__)]
    found.update({f"p({label})": round(chance, 6) for label, chance in zip(classes, chances, strict=True)})
    return found if why is None else {**found, **_decided_by(why)}


def _decided_by(why: Reasoning) -> dict[str, Any]:
    """Whether the graph is familiar, and the prototype that adds most to the predicted class: its number, what it
    shows, the similarity to it, and the nodes of the graph that were compared with it (empty for the whole graph); of a
    network they are given by name.
    """
    row = why.winning()
    names = why.evidence_names(row)
    return {
        "familiar": "" if why.familiar is None else "yes" if why.familiar else "no",
        "prototype": row.prototype,
        "looks like": why.shows(row),
        "similarity": round(row.similarity, 6),
        "evidence": " ".join(map(str, row.evidence or ())) if names is None else "; ".join(names),
    }
