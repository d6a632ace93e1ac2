"""A reasoning in the terminal: what the rows look like, what they add, and who won by how much."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from protgnn.explain.reasoning import UNFAMILIAR, Row

if TYPE_CHECKING:
    from protgnn.explain.reasoning import Reasoning

_WIDTH = 110
_NEGLIGIBLE = 0.02  # rows whose share of the largest is less than this are added up in one line
_FEWEST, _MOST = 3, 10


def reasoning_table(why: Reasoning) -> RenderableType:
    """The reasoning as something Rich prints."""
    names, first, second = why.class_names, why.predicted, why.runner_up
    shown, rest = chosen_rows(why)
    with_evidence = any(row.evidence is not None for row in why.rows)
    columns = [*(["this part"] if with_evidence else []), "looks like prototype", "no.", "of class", "similarity"]
    table = Table(*columns, f"→ {names[first]}", f"→ {names[second]}", box=None, header_style="bold")
    table.padding = (0, 2, 0, 0)
    for column in table.columns:
        column.overflow = "fold"  # a SMILES has no place to break, and nothing of it may be lost
    for column in table.columns[len(columns) - 1 :]:
        column.justify = "right"
        column.no_wrap = True
    for column in table.columns[len(columns) - 3 : len(columns) - 1]:
        column.no_wrap = True  # in a narrow terminal it is the SMILES that fold
    for row in shown:
        evidence = [Text(why.evidence_shows(row) or "whole graph")] if with_evidence else []
        adds = [f"{row.contribution(label):+.2f}" for label in (first, second)]
        table.add_row(
            *evidence,
            Text(why.shows(row)),
            str(row.prototype),
            Text(names[row.label]),
            f"{row.similarity:.2f}",
            *adds,
        )
    if rest:
        adds = [f"{sum(row.contribution(label) for row in rest):+.2f}" for label in (first, second)]
        blank = [""] * (len(columns) - 1)
        table.add_row(f"and {len(rest)} more", *blank, *adds, style="dim")
    table.add_row(
        "sum (logit)",
        *[""] * (len(columns) - 1),
        *(f"{why.logits[label]:+.2f}" for label in (first, second)),
        style="bold",
    )
    parts: list[RenderableType] = [Text(headline(why), style="bold")]
    parts += [Text(f"! {warning}", style="bold yellow") for warning in warnings(why)]
    if not with_evidence:
        parts.append(Text("each row compares the whole graph with a prototype", style="dim"))
    return Group(*parts, table, Text(difference(why)))


def plain_text(why: Reasoning) -> str:
    """The same without colours, for `print` and logs."""
    console = Console(file=StringIO(), width=_WIDTH, color_system=None, highlight=False)
    with console.capture() as captured:
        console.print(reasoning_table(why))
    return "\n".join(line.rstrip() for line in captured.get().rstrip().splitlines())


def headline(why: Reasoning) -> str:
    """What is predicted, of what, and whether that is so."""
    predicted, chance = why.class_names[why.predicted], why.probabilities[why.predicted]
    text = f"{why.title}: {predicted}, probability {chance:.2f}"
    if why.truth is None:
        return text
    return f"{text} ({'right' if why.truth == why.predicted else f'wrong, it is {why.class_names[why.truth]}'})"


def warnings(why: Reasoning) -> list[str]:
    """What a reader must know before trusting the sum."""
    found = list(why.notes)
    if why.familiar is False:
        found.insert(0, unfamiliar(why))
    return found


def unfamiliar(why: Reasoning) -> str:
    """The warning for a graph that no prototype resembles, with the figures behind it."""
    return (
        f"{UNFAMILIAR}: the largest similarity is {why.largest_similarity:.2f}, "
        f"and 99 in 100 validation graphs reach {why.known.familiarity:.2f}"
    )


def difference(why: Reasoning) -> str:
    """The margin, and which rows made it."""
    names, second = why.class_names, why.runner_up
    made = [row for row in why.decisive() if why.gain(row) > _NEGLIGIBLE * max(why.margin, 1e-9)][:3]
    text = f"{names[why.predicted]} is ahead of {names[second]} by {why.margin:.2f}"
    if made:
        text += ", most of it from " + ", ".join(_named(why, row) for row in made)
    return text


def _named(why: Reasoning, row: Row) -> str:
    shows = f" ({why.shows(row)})" if why.known.shows else ""
    return f"prototype {row.prototype}{shows} {why.gain(row):+.2f}"


def chosen_rows(why: Reasoning) -> tuple[list[Row], list[Row]]:
    """The rows worth a line, those first that made the difference, and the rest."""
    ordered = sorted(why.rows, key=lambda row: -abs(why.gain(row)))
    largest = abs(why.gain(ordered[0])) if ordered else 0.0
    kept = [
        row
        for place, row in enumerate(ordered)
        if place < _FEWEST or (place < _MOST and abs(why.gain(row)) > _NEGLIGIBLE * largest)
    ]
    rest = ordered[len(kept) :]
    if len(rest) == 1:  # a line that says "one more" is no shorter than the line itself
        kept, rest = ordered, []
    return sorted(kept, key=why.gain, reverse=True), rest


def count(number: int, what: str) -> str:
    """``1 row``, ``2 rows``."""
    return f"{number} {what}{'' if number == 1 else 's'}"
