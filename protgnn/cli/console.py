"""What the command line prints: lines, tables, scores, prototypes, JSON.

Everything that is printed for people passes :func:`~protgnn.io.printable.printable`, so that a name from a file cannot
steer the terminal, and is never read as Rich's markup.
"""

from __future__ import annotations

import json
import math
import sys
from textwrap import indent
from typing import IO, TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from protgnn.io.printable import printable
from protgnn.io.torchrun import launched_rank

if TYPE_CHECKING:
    from protgnn.explain.explanation import Reasoning
    from protgnn.training.recipe import Recipe
    from protgnn.training.run import Run

_PRINTED_AT_ONCE = 2**20  # bytes
RANK = launched_rank()[0]
"""Of several processes that ``torchrun`` has started only the first, of rank 0, prints what all of them would."""
out, err = (Console(stderr=stderr, highlight=False, quiet=RANK > 0) for stderr in (False, True))


def print_line(text: str, bold: bool | int = False, wrap: bool = False) -> None:
    """Print for people on standard output; ``bold`` is all of the text, or how many of its first letters."""
    shown = cell(text, keep="\n")
    if bold:
        shown.stylize("bold", 0, None if bold is True else len(printable(text[:bold])))
    out.print(shown, soft_wrap=not wrap)


def say(text: str) -> None:
    """Print a remark beside the output, for people, on standard error."""
    print_error(f"note: {text}")


def warn(texts: list[str]) -> None:
    """Print what must not be missed, on standard error."""
    for text in texts:
        print_error(f"warning: {text}", style="bold")


def print_error(text: str, style: str = "") -> None:
    """Print on standard error, in a style where that is a terminal."""
    err.print(cell(text, keep="\n"), soft_wrap=True, style=style if err.is_terminal else None)


def print_mistake(text: str) -> None:
    """Print what a command ends with, on standard error; a process that is not the first says which it is."""
    if RANK:
        sys.stderr.write(printable(f"rank {RANK}: {text}\n", keep="\n"))
    else:
        print_error(text, style="red")


def print_json(content: Any) -> None:
    """Print for programs: on standard output, and nothing else there. What is no number is null, as JSON has no NaN."""
    if RANK:
        return
    sys.stdout.write(json.dumps(_without_nan(content), indent=2, allow_nan=False) + "\n")


def _without_nan(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _without_nan(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_without_nan(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def print_csv(text: str) -> None:
    """Print a CSV as it is for programs; on a terminal control characters within it are spelled out."""
    sys.stdout.write(printable(text, keep="\n\t") if sys.stdout.isatty() else text)


def show_csv(file: IO[bytes]) -> None:
    """Print a CSV that may be long."""
    for lines in iter(lambda: file.readlines(_PRINTED_AT_ONCE), []):
        print_csv(b"".join(lines).decode())


def show_json(file: IO[bytes]) -> None:
    """Print JSON lines, which may be many, as the one list that :func:`print_json` would print."""
    before = "[\n"
    for line in file:
        row = json.dumps(_without_nan(json.loads(line)), indent=2, allow_nan=False)
        sys.stdout.write(before + indent(row, "  "))
        before = ",\n"
    sys.stdout.write("\n]\n")


def print_reasoning(why: Reasoning) -> None:
    """Print a reasoning as a table."""
    out.print(why)


def table(*columns: str, padding: bool = True) -> Table:
    """Make an empty table without lines, with a header where there are columns."""
    space = (0, 2, 0, 0) if columns and padding else (0, 1)
    return Table(*columns, box=None, show_header=bool(columns), header_style="bold", padding=space)


def cell(text: str, keep: str = "") -> Text:
    """Text for a line or a table: no markup, and control characters spelled out."""
    return Text(printable(text, keep))


def print_table(shown: Table) -> None:
    """Print a table on standard output."""
    out.print(shown)


def said_of_known(known: int, of: str) -> str:
    """What is to be said of scores on labelled data that a model has seen some of."""
    verb = "was" if known == 1 else "were"
    return (
        f"{known} of {of} {verb} in the training or validation part, which makes scores look too good: leave them out"
    )


def noun_of(run: Run) -> str:
    """What a model classifies, in a word: a molecule, a node, a pair."""
    from protgnn.training.resolve import noun

    return noun(run.recipe, run.schema)


def prototype_rows(run: Run) -> list[dict[str, Any]]:
    """Each prototype as a program would read it."""
    from protgnn.explain.explanation import RunContext

    names, context = run.schema.class_names, RunContext.of(run)
    assert context.prototypes is not None
    kept = set() if run.edits is None else set(run.edits.required)
    return [
        {"number": number, "class": names[card.label], "description": description, "required": number in kept}
        | vars(card)
        for number, (card, description) in enumerate(zip(context.prototypes.cards, context.descriptions, strict=True))
    ]


def print_prototypes(run: Run) -> None:
    """Print the prototypes as a table."""
    noun = noun_of(run)
    shown = table("", "class", "weight", "support", "prototype", "from")
    for column in shown.columns:
        column.overflow = "fold"  # a SMILES has no place to break, and none of it may be lost
    for row in prototype_rows(run):
        source = row["name"] or f"training {noun} {row['graph']}"
        number = f"{row['number']}{' required' if row['required'] else ''}"
        cells = (number, row["class"], f"{row['weight']:.2f}", str(row["support"]), row["description"], source)
        shown.add_row(*map(cell, cells))
    print_table(shown)
    weight = "what a similarity of 1 adds to the logit of its class"
    print_line(f"\nweight: {weight}; support: how many training {noun}s it is nearest to.", wrap=True)


PER_CLASS = ("recall", "precision", "average_precision")
SCORES = {
    "accuracy": "accuracy",
    "majority_baseline": "  always predicting {majority}",
    "balanced_accuracy": "balanced accuracy",
    "roc_auc": "ROC AUC",
    "average_precision": "average precision",
    "mcc": "Matthews correlation",
    "brier": "Brier score",
    "ece": "calibration error (ECE)",
    "ece_by_chance": "  expected by chance",
    "loss": "cross-entropy",
}
"""Scores in the order and words in which they are printed."""


def print_scores(scores: dict[str, Any], run: Run, data: str | None = None) -> None:
    """Print the scores of a run on its test part, or on data of the user's."""
    from protgnn.explain.describe import count
    from protgnn.training.scores import majority_baseline

    noun, n = noun_of(run), scores["n"]
    print_line(f"{count(n, noun)} of {data}" if data else count(n, f"held-out test {noun}"), bold=True)
    shown = table("class", "n", "recall", "precision", "average precision", padding=False)
    for name, figures in scores["per_class"].items():
        rates = ["-" if figures.get(key) is None else f"{figures[key]:.3f}" for key in PER_CLASS]
        shown.add_row(cell(name), str(figures["n"]), *rates)
    print_table(shown)
    intervals, majority = scores.get("intervals", {}), majority_baseline(scores["per_class"])[0]
    shown = table("score", "", "95% interval" if intervals else "", padding=False)
    for key, said in SCORES.items():
        if scores.get(key) is not None:
            between = f"{intervals[key][0]:.3f} to {intervals[key][1]:.3f}" if key in intervals else ""
            shown.add_row(cell(said.format(majority=majority)), f"{scores[key]:.4f}", between)
    print_table(shown)
    _print_evidence(scores, noun)


def _print_evidence(scores: dict[str, Any], noun: str) -> None:
    """Print what is known of similarities and evidence of predictions."""
    if "median_similarity" in scores:
        similarity = scores["median_similarity"]
        print_line(f"median similarity to the nearest prototype of the predicted class {similarity:.2f}", wrap=True)
    if "evidence_size" in scores:
        whole = "neighbourhood" if noun in ("node", "pair") else noun
        print_line(
            f"evidence: {scores['evidence_size']:.1f} edges on average; "
            f"whole {whole}s get the same class in {scores['agreement']:.1%}",
            wrap=True,
        )
    if "without_evidence" in scores:
        print_line(
            f"parts decided {1 - scores['without_evidence']:.1%} of the predictions; "
            "the rest would be the same without them",
            wrap=True,
        )
    if "certificate" in scores:
        figures = scores["certificate"]
        print_line(
            f"Theorem 1: its assumptions hold for {figures['assumptions_hold']} of {figures['n']} {noun}s; ProtGNN+ is "
            f"guaranteed to predict the same class for {figures['certified']} and does for {figures['survived']}; "
            f"guarantees broken: {figures['certified_and_flipped']}",
            wrap=True,
        )


def print_folds(summary: dict[str, Any]) -> None:
    """Print the scores of a cross-validation: mean ± standard deviation, and every fold."""
    sizes = summary["n"]
    print_line(f"{summary['folds']} folds, tested on {min(sizes)} to {max(sizes)} each", bold=True)
    shown = table("score", "mean ± std", "each fold", padding=False)
    for key, found in summary["scores"].items():
        each = " ".join("-" if value is None else f"{value:.3f}" for value in found["folds"])
        name = SCORES[key] if key != "majority_baseline" else "  always predicting one class"
        shown.add_row(cell(name), f"{found['mean']:.4f} ± {found['std']:.4f}", each)
    print_table(shown)


def evidence_advice(recipe: Recipe, scores: dict[str, Any]) -> str | None:
    """What to try where a ProtGNN+ classifies clearly worse from evidence than it did from all of a graph."""
    before, now = scores.get("warm_up_accuracy", 0.0), scores["valid"]["accuracy"]
    if before - now < 0.05 or (before - now) * scores["valid"]["n"] < 1.5:  # a single graph may be noise
        return None
    edges = recipe.evidence_edges
    return (
        f"validation accuracy was {before:.1%} before evidence was learned and is {now:.1%} from evidence of up to "
        f"{edges} edges: try larger evidence, such as --set evidence_edges={edges + (edges + 1) // 2}"
    )


def short(value: Any) -> str:
    """A value in few letters."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
