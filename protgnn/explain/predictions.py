"""Predictions as columns or rows: one row per graph, with what decided it, ready for CSV or JSON.

Nothing is made per graph but its cells: a reasoning is a hundred objects, and a million rows would have a million of
them. What is computed is that of :func:`~protgnn.explain.explanation.explain`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances, NetworkInstances
from protgnn.data.schema import Schema
from protgnn.errors import DataError
from protgnn.explain.comparison import compare
from protgnn.explain.composition_rows import VISIBLE
from protgnn.explain.explanation import LOOKS_ALIKE, Reasoning, ReasoningRow, RunContext, explain
from protgnn.explain.unknown_words import UnknownWords, unknown_words
from protgnn.explain.unseen_elements import rows_with_unseen
from protgnn.model.classifier import GraphClassifier, ProtGNN
from protgnn.training.evaluate import check_outputs, evaluation_batches, predict_logits

Columns = dict[str, list[Any]]

WITHOUT_EVIDENCE = "nothing: predicted without any evidence"
"""What stands in ``looks like`` where no prototype adds to the class: its base wins, or what the graph is made of."""

_DECIDED = ("prototype", "looks like", "similarity", "evidence")


def predictions(model: GraphClassifier, graphs: Instances, context: RunContext) -> list[dict[str, Any]]:
    """The rows of :func:`prediction_columns`."""
    columns = prediction_columns(model, graphs, context)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def prediction_columns(model: GraphClassifier, graphs: Instances, context: RunContext) -> Columns:
    """Number, line in the file, name, predicted class, the probability of every class, and by what: whether the graph
    is familiar (yes, no or unknown), and the prototype that adds most to the predicted class, with its number, what it
    shows, the similarity to it, and the nodes of the graph that were compared with it (empty for the whole graph; of a
    network by name).
    Where the class is predicted without any evidence, there is no such prototype: number and similarity are None.

    A plain model has no prototypes, and its rows end with the probabilities; of sentences, with the share of words that
    no training sentence contains.
    """
    names = list(graphs.names or ())
    unknown = [unknown_words(name, context.vocabulary) for name in names] if context.vocabulary is not None else []
    decided: Columns = {}
    if isinstance(model, ProtGNN):
        chances, decided = _decided_by(model, graphs, context)
        strange = [found is not None and found.is_strange for found in unknown] or [False] * len(graphs)
        for row in rows_with_unseen(graphs, context.seen) if isinstance(graphs, GraphSet) else ():
            strange[row] = True
        largest = decided.pop("largest")
        decided = {"familiar": _familiar(largest, strange, context.familiarity), **_unknown(unknown), **decided}
    else:
        logits = predict_logits(model, graphs)
        check_outputs(logits)
        chances, decided = logits.softmax(1), _unknown(unknown)
    columns: Columns = {"row": list(range(len(graphs)))}
    if isinstance(graphs, GraphSet) and graphs.lines is not None:
        columns["line"] = graphs.lines.tolist()
    if graphs.names is not None:
        columns["name"] = names
    classes = graphs.schema.class_names
    columns["predicted"] = [classes[label] for label in chances.numpy().argmax(1).tolist()]
    for label, values in zip(classes, chances.t().tolist(), strict=True):
        columns[f"p({label})"] = [round(value, 6) for value in values]
    return columns | decided


def prediction_names(model: GraphClassifier, schema: Schema, context: RunContext) -> list[str]:
    """The columns of :func:`prediction_columns` for graphs of a file that have names."""
    names = ["row", "line", "name", "predicted", *(f"p({label})" for label in schema.class_names)]
    words = [] if context.vocabulary is None else ["unknown words", "language"]
    if not isinstance(model, ProtGNN):
        return [*names, *words]
    return [*names, "familiar", *words, *_DECIDED]


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


def refuse_taken_columns(source: str, keep: list[str], names: list[str]) -> None:
    """Refuse to repeat columns of the input that are called as one of the output is."""
    taken = [name for name in keep if name in names]
    if taken:
        raise DataError(f"{source}: the output has a column {taken[0]!r} of its own: rename yours, or leave it out")


def prediction_row(why: Reasoning, number: int, line: int | None = None) -> dict[str, Any]:
    """One prediction as a row: see :func:`predictions`; ``number`` and ``line`` say where the graph stands."""
    words = [] if why.unknown_words is None else [why.unknown_words]
    return {
        "row": number,
        **({} if line is None else {"line": line}),
        **({} if why.name is None else {"name": why.name}),
        "predicted": why.class_names[why.predicted],
        **{f"p({label})": round(p, 6) for label, p in zip(why.class_names, why.probabilities, strict=True)},
        "familiar": familiar_text(why.familiar),
        **{name: column[0] for name, column in _unknown(list(words)).items()},
        **_decided(why, why.winning()),
    }


def _decided(why: Reasoning, row: ReasoningRow | None) -> dict[str, Any]:
    """The cells on the winning row of a reasoning."""
    if row is None:
        return {"prototype": None, "looks like": WITHOUT_EVIDENCE, "similarity": None, "evidence": ""}
    names = why.evidence_names(row)
    return {
        "prototype": row.prototype,
        "looks like": why.describe(row),
        "similarity": round(row.similarity, 6),
        "evidence": " ".join(map(str, row.evidence or ())) if names is None else "; ".join(names),
    }


@torch.no_grad()
def _decided_by(model: ProtGNN, graphs: Instances, context: RunContext) -> tuple[torch.Tensor, Columns]:
    """Probabilities ``[G, C]``, the largest similarity of each graph, and the columns on its winning prototype, which
    is that of :meth:`Reasoning.winning`."""
    if isinstance(graphs, NetworkInstances) and model.compares_evidence:
        return _by_reasonings(model, graphs, context)
    head = model.eval().head
    weights = head.last.weight.detach().cpu().numpy().astype(np.float64)
    chances: list[torch.Tensor] = []
    found: Columns = {name: [] for name in ("largest", *_DECIDED)}
    done = 0
    for batch in evaluation_batches(model, graphs):
        compared = compare(model, batch, reasons=False)
        logits = head.logits_of(compared.value) + compared.base
        check_outputs(logits, done)
        chances.append(logits.softmax(1))
        value = compared.value.numpy().astype(np.float64)
        added = value * weights[logits.numpy().argmax(1)]
        if compared.resemblance is not None:
            added[compared.resemblance.numpy() < LOOKS_ALIKE] = -math.inf
        least = VISIBLE if compared.has_base else -math.inf
        best = zip(added.argmax(1).tolist(), (added.max(1) >= least).tolist(), strict=True)
        winning = [k if enough else None for k, enough in best]
        found["largest"] += value.max(1).tolist()
        found["prototype"] += winning
        pairs = list(zip(value.tolist(), winning, strict=True))
        found["similarity"] += [None if k is None else round(row[k], 6) for row, k in pairs]
        evidence = (() if k is None else compared.evidence.get((graph, k), ()) for graph, k in enumerate(winning))
        found["evidence"] += [" ".join(map(str, nodes)) for nodes in evidence]
        done += len(winning)
    descriptions = context.descriptions
    found["looks like"] = [
        WITHOUT_EVIDENCE if k is None else descriptions[k] if descriptions else f"prototype {k}"
        for k in found["prototype"]
    ]
    return torch.cat(chances), found


def _by_reasonings(model: ProtGNN, graphs: NetworkInstances, context: RunContext) -> tuple[torch.Tensor, Columns]:
    """The same for evidence in a network, whose nodes a reasoning can name."""
    reasons = explain(model, graphs, context)
    decided = [{"largest": why.largest_similarity} | _decided(why, why.winning()) for why in reasons]
    columns: Columns = {name: [cells[name] for cells in decided] for name in ("largest", *_DECIDED)}
    return torch.tensor([why.probabilities for why in reasons]), columns


def _familiar(largest: list[float], strange: list[bool], threshold: float | None) -> list[str]:
    """Whether each graph is familiar, as :attr:`Reasoning.familiar` says."""
    known = [None if threshold is None else value >= threshold for value in largest]
    return [familiar_text(False if odd else one) for odd, one in zip(strange, known, strict=True)]


def familiar_text(familiar: bool | None) -> str:
    """:attr:`Reasoning.familiar` as a cell of a table."""
    return "unknown" if familiar is None else "yes" if familiar else "no"


def _unknown(found: list[UnknownWords | None]) -> Columns:
    """The share of the words of each sentence that no training sentence contains, and its language where that is
    clear."""
    if not found:
        return {}
    known = [one for one in found if one is not None]
    return {"unknown words": [round(one.share, 3) for one in known], "language": [one.language or "" for one in known]}
