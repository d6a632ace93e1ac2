"""Predictions as rows: one per graph, with what decided it, ready for CSV or JSON."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.datasets.new_input import existing_path
from protgnn.datasets.readers.open_table import is_table, open_table
from protgnn.errors import DataError
from protgnn.explain.explanation import Reasoning, RunContext, explain
from protgnn.explain.unknown_words import UnknownWords, unknown_words
from protgnn.io.tables import columns_by_line
from protgnn.model.classifier import GraphClassifier, ProtGNN
from protgnn.training.evaluate import check_outputs, predict_logits


def predictions(model: GraphClassifier, graphs: Instances, context: RunContext) -> list[dict[str, Any]]:
    """Number, line in the file, name, predicted class, the probability of every class, and by what: see
    :func:`_decided_by`.

    A plain model has no prototypes, and its rows end with the probabilities; of sentences, with the share of words that
    no training sentence contains.
    """
    lines = graphs.lines if isinstance(graphs, GraphSet) else None
    if isinstance(model, ProtGNN):
        return [
            _row(why.number, lines, why.name, why.class_names, why.probabilities, why)
            for why in explain(model, graphs, context)
        ]
    names, classes = graphs.names, graphs.schema.class_names
    logits = predict_logits(model, graphs)
    check_outputs(logits)
    rows = []
    for number, chance in enumerate(logits.softmax(1).tolist()):
        name = None if names is None else names[number]
        unknown = _unknown(unknown_words(name, context.vocabulary))
        rows.append(_row(number, lines, name, classes, tuple(chance)) | unknown)
    return rows


def with_errors(rows: list[dict[str, Any]], skipped: list[tuple[int, str]]) -> list[dict[str, Any]]:
    """A row for every row of the input: those that were skipped in their places, with what is wrong in ``error``.

    Args:
        rows: Predictions of the rows that could be read, in the order of the file.
        skipped: Line and fault of each row that could not.

    Returns:
        All rows by line, numbered over all of them; where there is no prediction its cells are empty (None).
    """
    made = [{**row, "error": ""} for row in rows]
    if skipped and rows:
        blank = dict.fromkeys(made[0])
        made += [{**blank, "line": line, "error": fault} for line, fault in skipped]
        made.sort(key=lambda row: row["line"])
    return [{**row, "row": number} for number, row in enumerate(made)]


def with_columns(rows: list[dict[str, Any]], source: str, names: list[str]) -> list[dict[str, Any]]:
    """The rows with some columns of the CSV that they were predicted from, before what was predicted."""
    path = existing_path(source)
    if path is None or not is_table(path):
        raise DataError(f"{source}: leave --keep out, which is for the columns of a table")
    taken = [name for name in names if name in rows[0]]
    if taken:
        raise DataError(f"{source}: the output has a column {taken[0]!r} of its own: rename yours, or leave it out")
    kept, empty = columns_by_line(open_table(path), names), dict.fromkeys(names, "")
    return [{"row": row["row"], "line": row["line"], **kept.get(row["line"], empty), **row} for row in rows]


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


def _unknown(found: UnknownWords | None) -> dict[str, Any]:
    """The share of the words of a sentence that no training sentence contains, and its language where that is
    clear."""
    if found is None:
        return {}
    return {"unknown words": round(found.share, 3), "language": found.language or ""}


def _decided_by(why: Reasoning) -> dict[str, Any]:
    """Whether the graph is familiar, and the prototype that adds most to the predicted class: its number, what it
    shows, the similarity to it, and the nodes of the graph that were compared with it (empty for the whole graph); of a
    network they are given by name.
    """
    row = why.winning()
    names = why.evidence_names(row)
    return {
        "familiar": "" if why.familiar is None else "yes" if why.familiar else "no",
        **_unknown(why.unknown_words),
        "prototype": row.prototype,
        "looks like": why.describe(row),
        "similarity": round(row.similarity, 6),
        "evidence": " ".join(map(str, row.evidence or ())) if names is None else "; ".join(names),
    }
