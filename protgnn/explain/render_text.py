"""A reasoning in the terminal: what the rows look like, what they add, and who won by how much."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from protgnn.explain.explanation import UNFAMILIAR, ReasoningRow
from protgnn.io.printable import printable

if TYPE_CHECKING:
    from protgnn.explain.explanation import Reasoning

_WIDTH = 110
_UNBOUNDED = 10_000
_NEGLIGIBLE = 0.02  # rows whose share of the largest is less than this are added up in one line
_OPPOSED = 0.1  # of what speaks most for a prediction: from here on what speaks against it is named
_FEWEST, _MOST = 3, 10


SEEN = {0: "the whole graph", 1: "what is around the node", 2: "what is around the two nodes"}
"""What is compared where there is no evidence, by the number of target nodes."""


WITHOUT = "without any evidence"


class ReasoningTable:
    """The reasoning as something Rich prints.

    A row shows what was compared and what came of it; where the terminal is too narrow for both, there are two tables.
    """

    def __init__(self, why: Reasoning) -> None:
        self.why = why
        self.shown, self.rest = chosen_rows(why)
        self.with_evidence = any(row.evidence is not None for row in why.rows)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield _text(headline(self.why), style="bold")
        for warning in warnings(self.why):
            yield _text(f"! {warning}", style="bold yellow")
        if not self.with_evidence:
            seen = SEEN[0 if self.why.among is None else self.why.among.num_targets]
            yield Text(f"each row compares {seen} with a prototype", style="dim")
        together = self._table(looks=True, sums=True)
        wanted = Measurement.get(console, options.update(max_width=_UNBOUNDED), together).maximum
        if wanted <= options.max_width:
            yield together
        else:
            yield self._table(looks=False, sums=True)
            yield ""
            yield self._table(looks=True, sums=False)
        yield _text(difference(self.why))

    def _table(self, looks: bool, sums: bool) -> Table:
        """The rows: what they look like, what they add, or both."""
        why, names = self.why, self.why.class_names
        both = (why.predicted, why.runner_up)
        table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
        table.add_column("no.", no_wrap=True)
        if looks and self.with_evidence:
            table.add_column("this part", overflow="fold")  # a SMILES has no place to break, and none of it may be lost
        if looks:
            # A whole graph does not look like a part of another: it is close to it, in the model's eyes.
            table.add_column("looks like prototype" if self.with_evidence else "close to prototype", overflow="fold")
        if sums:
            table.add_column("of class", overflow="fold")
            table.add_column("similarity", justify="right", no_wrap=True)
            for label in both:
                table.add_column(_text(f"→ {names[label]}"), justify="right", overflow="fold")
        for row in self.shown:
            cells: list[RenderableType] = [str(row.prototype)]
            if looks and self.with_evidence:
                cells.append(_text(part_of(why, row)))
            if looks:
                cells.append(_text(why.describe(row)))
            if sums:
                cells += [_text(names[row.label]), f"{row.similarity:.2f}"]
                cells += [f"{row.contribution(label):+.2f}" for label in both]
            table.add_row(*cells)
        if sums:
            blank = [""] * (len(table.columns) - 4)
            if self.rest:
                adds = [f"{sum(row.contribution(label) for row in self.rest):+.2f}" for label in both]
                table.add_row(*blank, f"and {len(self.rest)} more", "", *adds, style="dim")
            if why.base:
                table.add_row(*blank, WITHOUT, "", *(f"{why.base[label]:+.2f}" for label in both), style="dim")
            total = [f"{why.logits[label]:+.2f}" for label in both]
            table.add_row(*blank, "sum (logit)", "", *total, style="bold")
        return table


def part_of(why: Reasoning, row: ReasoningRow) -> str:
    """What part of the graph was compared, and how often it was found."""
    shown = why.describe_evidence(row) or "whole graph"
    return f"{shown}, found {len(row.places)} times" if len(row.places) > 1 else shown


def _text(text: str, style: str = "") -> Text:
    """Text as a terminal may show it, whatever names are in it."""
    return Text(printable(text), style=style)


def plain_text(why: Reasoning) -> str:
    """The reasoning without colours, for `print` and logs."""
    console = Console(file=StringIO(), width=_WIDTH, color_system=None, highlight=False)
    with console.capture() as captured:
        console.print(ReasoningTable(why))
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
    """The warning for a graph that no prototype resembles, with the figures behind it, or for one whose words are
    strange, which a note explains."""
    if why.context.familiarity is None or why.largest_similarity >= why.context.familiarity:
        return f"{UNFAMILIAR}, whatever the similarities say"
    return (
        f"{UNFAMILIAR}: the largest similarity is {why.largest_similarity:.2f}, "
        f"and 99 in 100 validation graphs reach {why.context.familiarity:.2f}"
    )


def difference(why: Reasoning) -> str:
    """The margin, which rows speak most for it and, where it matters, which one speaks most against it."""
    names, second = why.class_names, why.runner_up
    made = [row for row in why.decisive() if why.gain(row) > _NEGLIGIBLE * max(why.margin, 1e-9)][:3]
    text = f"{names[why.predicted]} is ahead of {names[second]} by {why.margin:.2f}"
    for_it = [_named(why, row) for row in made]
    if why.base_gain > _OPPOSED * max(why.margin, 1e-9):
        first = not made or why.base_gain > why.gain(made[0])
        for_it.insert(0 if first else len(for_it), f"what the class has {WITHOUT} {why.base_gain:+.2f}")
    if for_it:
        text += ". Most for it: " + ", ".join(for_it[:3])
    if made:
        against = min(why.rows, key=why.gain)
        if why.gain(against) < -_OPPOSED * why.gain(made[0]):
            text += f"; most against it: {_named(why, against)}"
    return text


def _named(why: Reasoning, row: ReasoningRow) -> str:
    description = f" ({why.describe(row)})" if why.context.descriptions else ""
    return f"prototype {row.prototype}{description} {why.gain(row):+.2f}"


def chosen_rows(why: Reasoning) -> tuple[list[ReasoningRow], list[ReasoningRow]]:
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
