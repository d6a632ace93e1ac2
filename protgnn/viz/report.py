"""The report of a run: what the model is, how good, what it knows, and how it decides, on one page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from protgnn.data.network.instances import Instances
from protgnn.errors import ProtGNNError
from protgnn.explain.explain_run import explain_run
from protgnn.explain.explanation import Reasoning, RunContext
from protgnn.explain.metrics.removal import deciding_rows
from protgnn.explain.render_text import noun_of, similarity_said
from protgnn.explain.unseen_elements import unseen_among
from protgnn.model.classifier import GraphClassifier
from protgnn.training.recipe import is_mined
from protgnn.training.reliability import ReliabilityBin, reliability
from protgnn.training.resolve import noun
from protgnn.training.run import Run, read_rows
from protgnn.training.scores import majority_baseline, score, score_warnings
from protgnn.version import VERSION
from protgnn.viz.curves import draw_curves
from protgnn.viz.dispatch import draw_prototype, draw_why
from protgnn.viz.html import reasoning_entry, render
from protgnn.viz.picture import Sheet, svg
from protgnn.viz.reliability_plot import draw_reliability
from protgnn.viz.theme import PAGE

_PER_GALLERY = 6
_NEAREST = 3
_MOST_LISTED = 1000
_CARD, _THUMB = (300.0, 200.0), (150.0, 110.0)


@dataclass(frozen=True)
class Gallery:
    """Reasonings of one sort."""

    key: str
    title: str
    about: str
    chosen: list[Reasoning]
    none: str


def report_page(
    model: GraphClassifier,
    run: Run,
    folder: Path,
    graphs: Instances | None = None,
    of_what: str = "test",
    train: Instances | None = None,
) -> str:
    """Write the whole report as one page.

    Args:
        model: The model of the run.
        run: What the model was made from.
        folder: The run directory, for its name and its training curves.
        graphs: Graphs that the model was not trained on, best with labels; without them the report has prototypes and
            scores, and no reasonings.
        of_what: Which graphs these are, in a word.
        train: The training set, with which prototypes are drawn within the graphs that they come from.

    Returns:
        The page, which fetches nothing.

    Raises:
        ProtGNNError: The run holds a plain model, without prototypes to report on.
    """
    context = RunContext.of(run, train)
    if context.prototypes is None:
        raise ProtGNNError(
            f"{folder} holds a plain model, which has no prototypes to report on: train one with --set head=prototypes"
        )
    sheet = Sheet(PAGE)
    reasons = [] if graphs is None else explain_run(model, run, graphs, context)
    shelves = galleries(reasons) if reasons else []
    opened = {why.number: f"why-{shelf.key}-{why.number}" for shelf in shelves for why in shelf.chosen}
    content = {
        **_about(run, folder),
        **_quality(run, reasons, of_what),
        "unseen": None if graphs is None else unseen_among(graphs, run),
        "familiarity": context.familiarity,
        "prototypes": _cards(context, reasons, sheet, opened, noun(run.recipe, run.schema)),
        "galleries": [
            {"shelf": shelf, "entries": [reasoning_entry(why, sheet) | _thumb(why, sheet) for why in shelf.chosen]}
            for shelf in shelves
        ],
        "listed": [_line(why, opened) for why in reasons[:_MOST_LISTED]],
        "most_listed": _MOST_LISTED,
    }
    return render("report.html", **content, defs=sheet.defs())


def _about(run: Run, folder: Path) -> dict[str, Any]:
    """What the run is, what it was made from, and how its training went."""
    rows = read_rows(folder)
    log = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    best = run.scores.get("best_epoch")
    return {
        "title": folder.resolve().name,
        "run": str(folder),
        "version": VERSION,
        "schema": run.schema,
        "noun": noun(run.recipe, run.schema),
        "recipe": run.recipe.model_dump(),
        "data": run.data,
        "sizes": {part: run.scores[part]["n"] for part in ("train", "valid", "test") if part in run.scores},
        "scores": {part: run.scores[part] for part in ("train", "valid", "test") if part in run.scores},
        "median_similarity": _median_similarity(run),
        "epochs": run.scores.get("epochs"),
        "best_epoch": best,
        "curves": [curve for what in ("loss", "accuracy") if (curve := draw_curves(log, what, PAGE, best))],
    }


def _quality(run: Run, reasons: list[Reasoning], of_what: str) -> dict[str, Any]:
    """How good the model is on the graphs of the report, and how many of them it knows little about."""
    labelled = bool(reasons) and reasons[0].truth is not None
    found = _scores(run, reasons) if labelled else None
    weights = run.recipe.class_weight
    shown = run.scores if found is None else {**run.scores, "test": found} if of_what == "test" else found
    cautions = score_warnings(shown, weights) if found is not None or "valid" in run.scores else []
    return {
        "found": found,
        "reliability": draw_reliability(_reliability(reasons), PAGE) if labelled else "",
        "temperature": run.scores.get("temperature"),
        "majority": None if found is None else majority_baseline(found["per_class"])[0],
        "cautions": cautions,
        "own": labelled and of_what == "test",
        "graphs": len(reasons),
        "of_what": f"{of_what} {noun(run.recipe, run.schema)}s",
        "unseen_count": sum(bool(why.notes) for why in reasons),
        "strange_words": sum(bool(why.unknown_words and why.unknown_words.is_strange) for why in reasons),
        "has_vocabulary": run.vocabulary is not None,
        "decided": sum(bool(deciding_rows(why)) for why in reasons) if is_mined(run.recipe) else None,
        "weighs_amounts": any(why.composition for why in reasons),
        "unfamiliar": sum(why.familiar is False for why in reasons),
        "accuracy": None if found is None else found["accuracy"],
        "confusion": confusion(reasons, len(run.schema.class_names)) if labelled else None,
    }


def _scores(run: Run, reasons: list[Reasoning]) -> dict[str, Any]:
    """The scores of labelled graphs, with their intervals."""
    logits, y = torch.tensor([why.logits for why in reasons]), torch.tensor([why.truth for why in reasons])
    link = 1 if noun(run.recipe, run.schema) == "pair" else None
    return score(logits, y, run.schema.class_names, link, with_intervals=True)


def _reliability(reasons: list[Reasoning]) -> list[ReliabilityBin]:
    probabilities = torch.tensor([why.probabilities for why in reasons])
    return reliability(probabilities, torch.tensor([why.truth for why in reasons]))


def galleries(reasons: list[Reasoning]) -> list[Gallery]:
    """What is worth a look: where the model is confident and right, confident and wrong, and out of its depth."""

    def confidence(why: Reasoning) -> float:
        return why.probabilities[why.predicted]

    labelled, noun = reasons[0].truth is not None, noun_of(reasons[0])
    right = [why for why in reasons if not labelled or why.truth == why.predicted]
    wrong = [why for why in reasons if labelled and why.truth != why.predicted]
    strange = [why for why in reasons if why.familiar is False]
    shelves = [
        Gallery(
            "right",
            "Confident and right" if labelled else "Confident",
            "The highest probabilities of each class.",
            _from_every_class(right, confidence),
            f"The model predicted no {noun} correctly.",
        ),
        Gallery(
            "unfamiliar",
            "Unfamiliar",
            "Unlike anything the model knows: treat their predictions with caution.",
            sorted(strange, key=lambda why: why.largest_similarity)[:_PER_GALLERY],
            f"Every {noun} resembles something that the model knows."
            if reasons[0].familiar is not None
            else "This run does not tell what is unfamiliar.",
        ),
    ]
    if labelled:
        shelves.insert(
            1,
            Gallery(
                "wrong",
                "Confident and wrong",
                "The highest probabilities among the mistakes: what misled the model?",
                sorted(wrong, key=confidence, reverse=True)[:_PER_GALLERY],
                f"The model predicted every {noun} correctly.",
            ),
        )
    return shelves


def confusion(reasons: Iterable[Reasoning], classes: int) -> list[list[int]]:
    """How many graphs of each class (row) were predicted to be of each class (column)."""
    table = [[0] * classes for _ in range(classes)]
    for why in reasons:
        if why.truth is not None:
            table[why.truth][why.predicted] += 1
    return table


def _from_every_class(reasons: list[Reasoning], key: Callable[[Reasoning], float]) -> list[Reasoning]:
    """The best of each class in turn, until there are enough, and one of each class at least."""
    by_class: dict[int, list[Reasoning]] = {}
    for why in sorted(reasons, key=key, reverse=True):
        by_class.setdefault(why.predicted, []).append(why)
    chosen: list[Reasoning] = []
    for place in range(_PER_GALLERY):
        chosen += [own[place] for _, own in sorted(by_class.items()) if place < len(own)]
    return chosen[: max(_PER_GALLERY, len(by_class))]


def _cards(
    context: RunContext, reasons: list[Reasoning], sheet: Sheet, opened: dict[int, str], noun: str
) -> list[dict[str, Any]]:
    """The prototypes, each with its picture and the graphs that are most similar to it."""
    assert context.prototypes is not None
    least = 0.45 if context.network is None else 0.8  # names of nodes are small
    sentences = context.prototypes.subgraphs.schema.kind == "sentence"
    cards = []
    for number, card in enumerate(context.prototypes.cards):
        shown = draw_prototype(context, number)
        alt = f"Prototype {number}: {context.descriptions[number]}"
        width, height = (shown.picture.width + 12, shown.picture.height + 12) if sentences else _CARD
        placed = sheet.place(shown.picture, (6, 6, width - 12, height - 12), shown.nodes, card.label, smallest=least)
        nearest = sorted(reasons, key=lambda why: -why.rows[number].similarity)[:_NEAREST]
        cards.append(
            {
                "number": number,
                "class": card.label,
                "picture": svg(width, height, [placed], alt, PAGE),
                "description": context.descriptions[number],
                "source": card.name or f"training {noun} {card.graph}",
                "nodes": len(card.nodes),
                "weight": f"{card.weight:.2f}",
                "support": card.support,
                "nearest": [
                    {
                        "number": why.number,
                        "open": opened.get(why.number),
                        "similarity": similarity_said(why.rows[number]),
                        "name": why.title,
                        **_thumb(why, sheet, number),
                    }
                    for why in nearest
                ],
            }
        )
    return cards


def _thumb(why: Reasoning, sheet: Sheet, prototype: int | None = None) -> dict[str, str | None]:
    """A small picture of the graph, with its evidence for one prototype marked if there is any.

    A sentence has none: its words say more than they would in small.
    """
    assert why.among is not None
    if why.among.schema.kind == "sentence":
        return {"thumb": None}
    row = why.winning() if prototype is None else why.rows[prototype]
    nodes, label = ((), None) if row is None else (row.marked or (), row.label)
    picture = draw_why(why, nodes)
    assert picture is not None
    width, height = _THUMB
    placed = sheet.place(picture, (3, 3, width - 6, height - 6), nodes, label, smallest=0.3)
    return {"thumb": svg(width, height, [placed], why.title, PAGE)}


def _median_similarity(run: Run) -> float | None:
    """Whether similarities are alive, on the test set or, without one, on the validation set."""
    for part in ("test", "valid"):
        if part in run.scores:
            found: float | None = run.scores[part].get("median_similarity")
            return found
    return None


def _line(why: Reasoning, opened: dict[int, str]) -> dict[str, Any]:
    row = why.winning()
    return {
        "number": why.number,
        "open": opened.get(why.number),
        "name": why.title,
        "truth": why.truth,
        "predicted": why.predicted,
        "probability": f"{why.probabilities[why.predicted]:.2f}",
        "familiar": why.familiar,
        "notes": why.notes,
        "prototype": None if row is None else row.prototype,
        "description": "nothing found" if row is None else why.describe(row),
        "similarity": "–" if row is None else similarity_said(row),
    }
