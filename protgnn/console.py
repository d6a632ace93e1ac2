"""What the command line prints: scores, prototypes, notes, JSON."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from protgnn.training.recipe import Recipe
    from protgnn.training.run import Run

out, err = Console(highlight=False), Console(stderr=True, highlight=False)


def held_out(run: Run) -> str:
    """``held-out test graphs``, or what else a model classifies."""
    from protgnn.training.task import noun

    what = noun(run.recipe, run.schema)
    return f"held-out test {what if what in ('node', 'pair') else 'graph'}s"


def prototype_rows(run: Run) -> list[dict[str, Any]]:
    """Each prototype as a program would read it."""
    from protgnn.explain.reasoning import Known

    names, known = run.schema.class_names, Known.of(run)
    assert known.prototypes is not None
    return [
        {"class": names[card.label], "shows": shows, **vars(card)}
        for card, shows in zip(known.prototypes.cards, known.shows, strict=True)
    ]


def print_prototypes(run: Run) -> None:
    """The prototypes as a table."""
    table = Table("class", "weight", "support", "prototype", "in", box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in table.columns:
        column.overflow = "fold"  # a SMILES has no place to break, and none of it may be lost
    for row in prototype_rows(run):
        source = row["name"] or f"training graph {row['graph']}"
        cells = (row["class"], f"{row['weight']:.2f}", str(row["support"]), row["shows"], source)
        table.add_row(*(Text(cell) for cell in cells))
    out.print(table)
    out.print("\nweight: what similarity 1 adds to the logit of its class; support: training graphs it is nearest to.")


def print_scores(scores: dict[str, Any], title: str) -> None:
    """The figures of one part of the data, or of data of the user's."""
    table = Table("class", "n", "recall", "precision", box=None, header_style="bold")
    for name, figures in scores["per_class"].items():
        shown = ["-" if figures[key] is None else f"{figures[key]:.3f}" for key in ("recall", "precision")]
        table.add_row(escape(name), str(figures["n"]), *shown)
    out.print(table)
    out.print(
        f"accuracy {scores['accuracy']:.4f}  loss {scores['loss']:.4f}  on {scores['n']} {title}",
        markup=False,
        soft_wrap=True,
    )
    if scores.get("roc_auc") is not None:
        out.print(f"ROC AUC {scores['roc_auc']:.4f}  average precision {scores['average_precision']:.4f}")
    if "median_similarity" in scores:
        out.print(
            f"median similarity to the nearest prototype of the predicted class {scores['median_similarity']:.2f}"
        )
    if "evidence_size" in scores:
        out.print(
            f"evidence {scores['evidence_size']:.1f} edges on average; on whole graphs the same weights predict "
            f"the same class for {scores['agreement']:.1%}",
            soft_wrap=True,
        )
    if "certificate" in scores:
        figures = scores["certificate"]
        out.print(
            f"Theorem 1: assumptions hold for {figures['assumptions_hold']} of {figures['n']}, guaranteed to survive "
            f"{figures['certified']}, survived {figures['survived']}, guaranteed and yet flipped "
            f"{figures['certified_and_flipped']}",
            soft_wrap=True,
        )


def evidence_advice(recipe: Recipe, scores: dict[str, Any]) -> str | None:
    """What to try where a ProtGNN+ classifies clearly worse from evidence than it did from all of a graph."""
    before, now = scores.get("warm_up_accuracy", 0.0), scores["valid"]["accuracy"]
    if before - now < 0.05 or (before - now) * scores["valid"]["n"] < 1.5:  # one graph is chance
        return None
    edges = recipe.evidence_edges
    return (
        f"before evidence was learned {before:.1%} of the validation part were right, from evidence of up to {edges} "
        f"edges {now:.1%} are: larger evidence loses less, such as --set evidence_edges={edges + (edges + 1) // 2}"
    )


def short(value: Any) -> str:
    """A value in few letters."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def print_json(content: Any) -> None:
    """For programs: on standard output, and nothing else there."""
    sys.stdout.write(json.dumps(content, indent=2, allow_nan=False) + "\n")


def say(text: str) -> None:
    """A remark beside the output, for people."""
    err.print(f"note: {text}", markup=False, soft_wrap=True)
