"""Reasonings as a table: one row for each graph and prototype."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from protgnn.errors import ProtGNNError
from protgnn.explain.explanation import Reasoning


def to_frame(reasons: Iterable[Reasoning]) -> Any:
    """A pandas ``DataFrame`` of reasonings.

    Its columns: ``graph`` (number) and ``name``; ``predicted``, ``truth`` (nothing where unknown), ``probability`` and
    ``familiar`` of the graph; ``prototype`` (number), ``class``, ``looks_like``, ``similarity``, ``weight`` and
    ``contribution`` (to the predicted class), ``gain`` (to the margin over the runner-up), ``evidence`` (nodes, nothing
    for the whole graph; empty where nothing is like the prototype) and ``part`` (the evidence in a few characters) of
    the row. What is added beside prototypes, by the composition and the base, has rows without a prototype, so
    contributions of a graph add up to the logit of the predicted class.

    Args:
        reasons: What ``model.explain`` gives; a single one in a list.

    Raises:
        ProtGNNError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise ProtGNNError("A table of reasonings needs pandas: pip install pandas, or use to_json()") from None
    columns = [
        *("graph", "name", "predicted", "truth", "probability", "familiar", "prototype", "class", "looks_like"),
        *("similarity", "weight", "contribution", "gain", "evidence", "part"),
    ]
    return pandas.DataFrame([row for why in reasons for row in _rows(why)], columns=columns)


def _rows(why: Reasoning) -> list[dict[str, Any]]:
    names, label = why.class_names, why.predicted
    graph = {
        "graph": why.number,
        "name": why.name,
        "predicted": names[label],
        "truth": None if why.truth is None else names[why.truth],
        "probability": why.probabilities[label],
        "familiar": why.familiar,
    }
    rows: list[dict[str, Any]] = [
        graph
        | {
            "prototype": row.prototype,
            "class": names[row.label],
            "looks_like": why.describe(row),
            "similarity": row.similarity,
            "weight": row.weights[label],
            "contribution": row.contribution(label),
            "gain": why.gain(row),
            "evidence": row.evidence if row.is_found else (),
            "part": why.describe_evidence(row),
        }
        for row in why.rows
    ]
    for line in why.beside_lines():
        contribution = line.contributions[label]
        gain = contribution - line.contributions[why.runner_up]
        rows.append(graph | {"looks_like": line.name, "contribution": contribution, "gain": gain})
    return rows
