"""A reasoning in the terminal: what the rows look like, what they add, and who won by how much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from protgnn.explain.composition_rows import VISIBLE
from protgnn.explain.describe import class_said, count
from protgnn.explain.explanation import LOOKS_ALIKE, UNFAMILIAR, ReasoningRow
from protgnn.io.printable import printable

if TYPE_CHECKING:
    from protgnn.explain.explanation import Reasoning

_WIDTH = 110
_UNBOUNDED = 10_000
_NEGLIGIBLE = 0.02  # rows whose share of the largest is less than this are added up in one line
_OPPOSED = 0.1  # of what speaks most for a prediction: from here on what speaks against it is named
_MOST = 10
_LEAST = (13, 14, 6)  # widths of the class, the likeness and each contribution
_NARROW, _NARROWEST = (13, 14, 7), (8, 10, 6)  # the same where a terminal has no room for more

_AROUND = {"node": "the neighbourhood of the node", "pair": "the neighbourhood of the two nodes"}

LIKENESS = (
    (0.995, "looks the same"),
    (0.7, "looks alike"),
    (LOOKS_ALIKE, "a little alike"),
    (-math.inf, "hardly alike"),
)
"""What to call a resemblance, from which on."""
ELSEWHERE, OTHER_SURROUNDINGS = 0.5, "same part, other surroundings"
"""Parts that look the same and have less than this share of the highest similarity are in other surroundings."""


class ReasoningTable:
    """The reasoning as something Rich prints.

    A row shows what was compared and what came of it; where the terminal is too narrow for both, there are two tables.
    The last column is what decided: what a row adds to the lead of the predicted class over the runner-up.
    """

    def __init__(self, why: Reasoning) -> None:
        self.why = why
        self.shown, self.rest = chosen_rows(why)
        self.with_evidence = any(row.evidence is not None for row in why.rows)
        self.with_words = any(likeness(why, row) for row in self.shown)
        self.with_scale = any(why.percentile(row) is not None for row in self.shown)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield _text(headline(self.why), style="bold")
        for card in self.why.node_cards(self.why.target_nodes) or ():
            yield _text(str(card), style="dim")
        for warning in warnings(self.why):
            yield _text(f"! {warning}", style="bold yellow")
        if not self.with_evidence:
            yield Text(f"each row compares {whole_of(self.why)} with a prototype", style="dim")
        together = self._table(looks=True, sums=True)
        wanted = Measurement.get(console, options.update(max_width=_UNBOUNDED), together).maximum
        if wanted <= options.max_width:
            yield together
        else:
            yield self._sums(console, options)
            if self.shown:
                yield ""
                yield self._table(looks=True, sums=False)
        yield _text(difference(self.why))
        yield _text(self._legend(), style="dim")

    def _sums(self, console: Console, options: ConsoleOptions) -> Table:
        """What the rows add, with words broken so that no number is cut off at the edge of the terminal."""
        found = self._table(looks=False, sums=True)
        if _widest(console, options, found) <= options.max_width:
            return found
        for narrow in (_NARROW, _NARROWEST):
            found = self._table(looks=False, sums=True, narrow=narrow)
            if _widest(console, options, found) <= options.max_width:
                break
        return found

    def _legend(self) -> str:
        """What the columns mean."""
        why, noun = self.why, noun_of(self.why)
        said = f"similarity: {similarity_scale(why, self.shown)}"
        if meaning := surroundings_said(why, self.shown):
            said += f"; {OTHER_SURROUNDINGS}: {meaning}"
        if self.with_scale:
            said += f"; above: how many of 100 training {noun}s are less similar"
        if why.composition:
            lines = "size, polarity and the like" if why.composition[0].theme else "counts, shares and the like"
            said += f"; {lines}: properties of the whole {noun}"
        if why.beside:
            said += "; base: the bias of each class"
        return f"{said}; lead: → {why.class_names[why.predicted]} minus → {why.class_names[why.runner_up]}"

    def _table(self, looks: bool, sums: bool, narrow: tuple[int, int, int] | None = None) -> Table:
        """The rows: what they look like, what they add, or both; ``narrow`` is how wide the class, the likeness and
        each contribution may be at most."""
        why, names = self.why, self.why.class_names
        both = (why.predicted, why.runner_up)
        table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)
        table.add_column("no.", no_wrap=True)
        if looks and self.with_evidence:
            table.add_column("this part", overflow="fold")  # a SMILES has no place to break, and none of it may be lost
        if looks:
            table.add_column(f"{compared_as(why)} prototype", overflow="fold")
        if sums:
            most = narrow or (None, None, None)
            least = [min(pair) for pair in zip(_LEAST, narrow or _LEAST, strict=True)]
            table.add_column("of class", overflow="fold", min_width=least[0], max_width=most[0])
            table.add_column("similarity", justify="right", no_wrap=True)
            if self.with_words:
                table.add_column("", min_width=least[1], max_width=most[1])
            if self.with_scale:
                table.add_column("above", justify="right", no_wrap=True)
            for label in both:
                head = _text(f"→ {names[label]}")
                table.add_column(head, justify="right", overflow="fold", min_width=least[2], max_width=most[2])
            table.add_column("lead", justify="right", no_wrap=True)
        for row in self.shown:
            cells: list[RenderableType] = [str(row.prototype)]
            if looks and self.with_evidence:
                cells.append(_text(part_of(why, row)))
            if looks:
                cells.append(_text(why.describe(row)))
            if sums:
                cells += [_text(names[row.label]), similarity_said(row)]
                if self.with_words:
                    cells.append(likeness(why, row) or "")
                if self.with_scale:
                    percentile = why.percentile(row)
                    cells.append("" if percentile is None else f"{percentile} %")
                cells += [signed(row.contribution(label)) if row.weights[label] else "" for label in both]
                cells.append(signed(why.gain(row)))
            table.add_row(*cells)
        if sums:
            self._add_sums(table, both)
        return table

    def _add_sums(self, table: Table, both: tuple[int, int]) -> None:
        """What is not in the rows, and the totals."""
        why = self.why
        after = [""] * (1 + self.with_scale + self.with_words)
        blank = [""] * (len(table.columns) - len(after) - 4)
        if self.rest:
            adds = [sum(row.contribution(label) for row in self.rest) for label in both]
            nothing = all(abs(row.contribution(label)) < VISIBLE for row in self.rest for label in both)
            found = "nothing found" if nothing else "hardly alike"
            said = f"and {len(self.rest)} more" if self.shown else f"{count(len(self.rest), 'prototype')}, {found}"
            table.add_row(*blank, said, *after, *map(signed, adds), signed(adds[0] - adds[1]), style="dim")
        for line in why.beside_lines("base"):
            adds = [line.contributions[label] for label in both]
            table.add_row(*blank, line.name, *after, *map(signed, adds), signed(adds[0] - adds[1]))
        logits = [why.logits[label] for label in both]
        table.add_row(*blank, "sum (logit)", *after, *map(signed, logits), signed(why.margin), style="bold")


def noun_of(why: Reasoning) -> str:
    """What is predicted: a molecule, a sentence, a graph, or a node or pair of a network."""
    among = why.among
    return "graph" if among is None else {1: "node", 2: "pair"}.get(among.num_targets, among.schema.kind)


def whole_of(why: Reasoning) -> str:
    """What is compared where there is no evidence: ``the whole molecule``, or what is around a node or pair."""
    noun = noun_of(why)
    return _AROUND.get(noun, f"the whole {noun}")


def compared_as(why: Reasoning) -> str:
    """How a row is put: a part looks like a prototype, a whole graph can only be close to it, in the model's eyes."""
    return "looks like" if any(row.evidence is not None for row in why.rows) else "close to"


def likeness(why: Reasoning, row: ReasoningRow) -> str | None:
    """In a word, how alike two parts are that are compared by how they look; nothing where only the model can say."""
    highest, alike = why.context.highest_similarity, row.resemblance
    if alike is None:
        return None
    word = next(word for least, word in LIKENESS if alike >= least)
    if word != LIKENESS[0][1] or highest is None:
        return word
    return word if row.similarity / places_counted(row) / highest >= ELSEWHERE else OTHER_SURROUNDINGS


def surroundings_said(why: Reasoning, shown: Sequence[ReasoningRow]) -> str | None:
    """What it means that a part is in other surroundings; nothing where that is said of no ``shown`` row."""
    if all(likeness(why, row) != OTHER_SURROUNDINGS for row in shown):
        return None
    half = f"less than half of {why.context.highest_similarity:.1f}"
    return f"the two look the same, but what they are attached to differs, so the similarity is {half}"


def places_counted(row: ReasoningRow) -> int:
    """Over how many places a similarity is summed."""
    return len(row.places) if row.counts and row.places else 1


def similarity_said(row: ReasoningRow, digits: int = 2) -> str:
    """``1.25``, or of a sum over places ``2 × 1.25``: their number, and what each has on average."""
    places = places_counted(row)
    each = f"{row.similarity / places:.{digits}f}"
    return each if places == 1 else f"{places} × {each}"


def similarity_scale(why: Reasoning, shown: Sequence[ReasoningRow]) -> str:
    """From where to where similarities go, and how those of ``shown`` rows are written that count places."""
    highest = why.context.highest_similarity
    said = "0 for nothing in common" + ("" if highest is None else f", {highest:.1f} for the same part")
    counting = next((row for row in shown if places_counted(row) > 1), None)
    if counting is None:
        return said
    places, text = places_counted(counting), similarity_said(counting)
    return f"{said}, per place ({text}: in {places} places, {text.partition(' × ')[2]} each on average)"


def signed(value: float) -> str:
    """A number with its sign; what is 0 in print has none."""
    return f"{value:+.2f}" if abs(value) >= VISIBLE else "0.00"


def part_of(why: Reasoning, row: ReasoningRow) -> str:
    """What part of the graph was compared, and how often it was found."""
    shown = why.describe_evidence(row) or "whole graph"
    return f"{shown}, found {len(row.places)} times" if len(row.places) > 1 else shown


def _text(text: str, style: str = "") -> Text:
    """Text as a terminal may show it, whatever names are in it."""
    return Text(printable(text), style=style)


def _widest(console: Console, options: ConsoleOptions, table: Table) -> int:
    """How wide a table is in print, before what is beyond the edge is cut off."""
    lines = Segment.split_lines(console.render(table, options))
    return max(Segment.get_line_length(line) for line in lines)


def plain_text(why: Reasoning) -> str:
    """The reasoning without colours, for `print` and logs."""
    console = Console(file=StringIO(), width=_WIDTH, color_system=None, highlight=False)
    with console.capture() as captured:
        console.print(ReasoningTable(why))
    return "\n".join(line.rstrip() for line in captured.get().rstrip().splitlines())


def headline(why: Reasoning) -> str:
    """What is predicted, of what, and whether that is so."""
    predicted, chance = class_said(why.class_names[why.predicted]), why.probabilities[why.predicted]
    text = f"{why.title}: {predicted}, probability {chance:.2f}"
    if why.truth is None:
        return text
    truth = class_said(why.class_names[why.truth])
    return f"{text} ({'correct' if why.truth == why.predicted else f'wrong: its label is {truth}'})"


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
        f"and 99 of 100 validation {noun_of(why)}s reach {why.context.familiarity:.2f}"
    )


def difference(why: Reasoning) -> str:
    """The lead, what speaks most for it and, where it matters, what speaks most against it; numbers are those of the
    column ``lead``, which is what a row adds to the one class less what it adds to the other."""
    first, second = (class_said(why.class_names[label]) for label in (why.predicted, why.runner_up))
    text = f"{first} is ahead of {second} by {why.margin:.2f}"
    parts = [(why.gain(row), _named(why, row)) for row in why.rows if row.looks_alike]
    for line in why.beside_lines("the base"):
        gain = line.contributions[why.predicted] - line.contributions[why.runner_up]
        parts.append((gain, f"{line.name} {signed(gain)}{_split(why, line.contributions)}"))
    parts.sort(key=lambda part: -part[0])
    largest = max(parts[0][0], 0.0) if parts else 0.0
    for_it = [said for gain, said in parts if gain >= max(VISIBLE, _NEGLIGIBLE * largest)][:3]
    least = max(VISIBLE, _OPPOSED * largest)
    against = [said for gain, said in reversed(parts) if gain <= -least][: 2 if why.beside else 1]
    if for_it:
        text += ". Most in favour: " + ", ".join(for_it)
    if against:
        text += ("; most against: " if for_it else ". Most against: ") + ", ".join(against)
    return text


def _named(why: Reasoning, row: ReasoningRow) -> str:
    known = why.context.descriptions and not why.target_nodes  # the nodes of a network would fill the line
    description = f" ({why.describe(row)})" if known else ""
    return f"prototype {row.prototype}{description} {signed(why.gain(row))}"


def _split(why: Reasoning, values: Sequence[float]) -> str:
    """How a difference comes about."""
    said = [f"{class_said(why.class_names[one])} {signed(values[one])}" for one in (why.predicted, why.runner_up)]
    return f" ({', '.join(said)})"


def chosen_rows(why: Reasoning) -> tuple[list[ReasoningRow], list[ReasoningRow]]:
    """The rows worth a line, in the order of what they add to the lead, and the rest: a row that adds 0.00, or whose
    parts hardly look alike, is none."""
    ordered = sorted(why.rows, key=lambda row: (not row.looks_alike, -abs(why.gain(row))))
    largest = abs(why.gain(ordered[0])) if ordered else 0.0
    worth = max(VISIBLE, _NEGLIGIBLE * largest)
    kept = [row for row in ordered[:_MOST] if row.looks_alike and abs(why.gain(row)) >= worth]
    rest = ordered[len(kept) :]
    # A line that says "one more" is no shorter than the line.
    if len(rest) == 1 and rest[0].looks_alike and abs(why.gain(rest[0])) >= VISIBLE:
        kept, rest = ordered, []
    return sorted(kept, key=why.gain, reverse=True), rest
