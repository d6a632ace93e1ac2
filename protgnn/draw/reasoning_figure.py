"""The reasoning figure: the input, what it looks like, and similarity × weight = contribution, class by class.

It is the case-study figure of the paper with nothing left out: the totals of the classes are the logits, and rows that
are not drawn are counted with what they add.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from protgnn.draw.lettering import shortened, signed, text_width, wrapped, write
from protgnn.draw.picture import Picture, Sheet, svg
from protgnn.draw.subjects import Shown, draw_input, draw_prototype, shows_sources
from protgnn.draw.theme import LIGHT, Theme, class_shape
from protgnn.explain.fragments import count
from protgnn.explain.reasoning import Reasoning, Row
from protgnn.explain.terminal import difference, warnings

WIDTH, MARGIN = 960.0, 28.0
_INNER = WIDTH - 2 * MARGIN
_CELL_WIDTH, _CELL_HEIGHT = 287.0, 150.0
_SMALLEST = 0.5  # of its own size; a larger source is shown in part
_ROWS = 3
_NEGLIGIBLE = 0.02  # rows that add less than this share of the largest are not worth a picture
_MOST_CLASSES = 8


def reasoning_svg(why: Reasoning, theme: Theme = LIGHT, rows: int = _ROWS) -> str:
    """The figure as one SVG file; ``rows`` of the most telling prototypes are drawn for each class."""
    sheet = Sheet(theme)
    content, height = reasoning_figure(why, sheet, rows)
    return svg(WIDTH, height, content, title_of(why), theme, sheet.defs())


def reasoning_figure(why: Reasoning, sheet: Sheet, rows: int = _ROWS) -> tuple[list[str], float]:
    """The figure's content and height, its pictures placed on a sheet."""
    figure = _Figure(why, sheet, rows)
    figure.header()
    figure.overview()
    for label in figure.classes:
        figure.section(label)
    figure.legend()
    return figure.parts, figure.y + 10


def title_of(why: Reasoning) -> str:
    """The figure in one sentence, for those who listen to it."""
    predicted = why.class_names[why.predicted]
    return (
        f"Reasoning for {why.title}: {predicted} with probability "
        f"{why.probabilities[why.predicted]:.2f}. {difference(why)}"
    )


def telling_rows(why: Reasoning, label: int, most: int) -> tuple[list[Row], list[Row]]:
    """The rows worth a picture for a class, those first that move its logit most, and the rest.

    One of them is a prototype of the class itself, however little it adds: a reader asks what the class looks like.
    """
    ordered = sorted(why.rows, key=lambda row: -abs(row.contribution(label)))
    least = _NEGLIGIBLE * abs(ordered[0].contribution(label))
    telling = [row for row in ordered if abs(row.contribution(label)) > least] or ordered[:1]
    shown = telling if len(telling) <= most + 1 else telling[:most]
    own = [row for row in ordered if row.label == label]
    if own and own[0] not in shown:
        shown = [*shown[: most - 1], own[0]]
    return shown, [row for row in ordered if row not in shown]


@dataclass
class _Figure:
    """What is drawn so far, and how far down."""

    why: Reasoning
    sheet: Sheet
    rows: int
    parts: list[str] = field(default_factory=list)
    drawn: dict[int, Shown] = field(default_factory=dict)
    y: float = 0.0

    @property
    def theme(self) -> Theme:
        return self.sheet.theme

    @cached_property
    def classes(self) -> list[int]:
        """The classes with a section: all of a few, else the two that compete."""
        ordered = sorted(range(len(self.why.logits)), key=self.why.logits.__getitem__, reverse=True)
        return ordered if len(ordered) <= 3 else ordered[:2]

    @cached_property
    def input(self) -> Picture | None:
        graph = self.why.graph
        compared = sorted({node for row in self.why.rows for node in row.evidence or ()})
        return None if graph is None else draw_input(graph, focus=compared)

    @cached_property
    def what(self) -> str:
        """A molecule, a sentence or a graph."""
        return "graph" if self.why.among is None else self.why.among.schema.kind

    @property
    def wide(self) -> bool:
        """Whether pictures are lines of text, which want the whole width."""
        return self.what == "sentence"

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 13,
        bold: bool = False,
        muted: bool = False,
        anchor: str = "start",
    ) -> None:
        self.parts.append(write(x, y, text, self.theme, size, bold, muted, anchor))

    def header(self) -> None:
        why, theme = self.why, self.theme
        predicted = shortened(why.class_names[why.predicted], 520, 22)
        self.parts.append(class_shape(why.predicted, MARGIN + 9, 35, 17, theme))
        self.text(MARGIN + 28, 43, predicted, size=22, bold=True)
        said = f"predicted with probability {why.probabilities[why.predicted]:.2f}"
        self.text(WIDTH - MARGIN, 42, said, size=15, anchor="end")
        self.y = 66
        if not self.wide:  # a sentence is read below
            for line in wrapped(why.title, _INNER, 12, most=2):
                self.text(MARGIN, self.y, line, size=12, muted=True)
                self.y += 17
        if why.truth is not None:
            right = why.truth == why.predicted
            verdict = "right: it is labelled so" if right else f"wrong: it is labelled {why.class_names[why.truth]}"
            self.text(MARGIN, self.y, verdict, size=13, bold=not right)
            self.y += 18
        for warning in warnings(why):
            lines = wrapped(warning, _INNER - 48, 13)
            height = 18 * len(lines) + 14
            self.parts.append(
                f'<g class="warning"><rect x="{MARGIN}" y="{self.y - 6:.1f}" width="{_INNER}" height="{height}" rx="5" '
                f'fill="{theme.warning}" stroke="{theme.ink}" stroke-width="1"/>'
            )
            self.text(MARGIN + 15, self.y + 14, "!", size=17, bold=True)
            for number, line in enumerate(lines):
                self.text(MARGIN + 34, self.y + 13 + 18 * number, line, bold=number == 0)
            self.parts.append("</g>")
            self.y += height + 8

    def overview(self) -> None:
        """The input as it is, and the sums that decide."""
        self.y += 6
        if self.wide and self.input is not None:
            height = min(self.input.height, 220.0) + 34
            self.panel(MARGIN, self.y, _INNER, height)
            self.text(MARGIN + 12, self.y + 20, "the input", size=12, muted=True)
            self.parts.append(self.sheet.place(self.input, (MARGIN + 12, self.y + 24, _INNER - 24, height - 30)))
            self.y += height + 12
            self.y += self.sums(MARGIN, self.y, _INNER) + 8
            return
        left = 400.0 if self.input is not None else 0.0
        taken = self.sums(MARGIN + left + 24 if left else MARGIN, self.y, _INNER - left - (24 if left else 0))
        height = max(taken, 230.0)
        if self.input is not None:
            self.panel(MARGIN, self.y, left, height)
            self.text(MARGIN + 12, self.y + 20, "the input", size=12, muted=True)
            room = (MARGIN + 12, self.y + 28, left - 24, height - 40 - (14 if self.input.note else 0))
            self.parts.append(self.sheet.place(self.input, room, alt=self.why.title))
            if self.input.note:
                self.text(MARGIN + 12, self.y + height - 10, self.input.note, size=11, muted=True)
        self.y += height + 12

    def sums(self, x: float, y: float, width: float) -> float:
        """A bar per class, its length the logit; returns how much height they took."""
        why, theme = self.why, self.theme
        start = y
        self.text(x, y + 20, "sum of contributions to each class", size=12, muted=True)
        self.text(x + width, y + 20, "probability", size=12, muted=True, anchor="end")
        y += 32
        ordered = sorted(range(len(why.logits)), key=why.logits.__getitem__, reverse=True)
        names = min(max(text_width(why.class_names[label], 13) for label in ordered[:_MOST_CLASSES]) + 34, 0.38 * width)
        for label in ordered[:_MOST_CLASSES]:
            self.parts.append(class_shape(label, x + 7, y + 10, 12, theme))
            name = shortened(why.class_names[label], names - 30, 13)
            self.text(x + 22, y + 15, name, bold=label == why.predicted)
            self.bar(x + names, y + 2, width - names - 128, why.logits[label], self.largest_logit, label, 16)
            self.text(x + width - 66, y + 15, signed(why.logits[label]), size=14, bold=True, anchor="end")
            self.text(x + width, y + 15, f"{why.probabilities[label]:.2f}", anchor="end")
            y += 26
        left_out = ordered[_MOST_CLASSES:]
        if left_out:
            best = signed(why.logits[left_out[0]])
            self.text(
                x,
                y + 14,
                f"and {len(left_out)} more, each at {best} or below",
                muted=True,
            )
            y += 22
        y += 10
        for line in wrapped(difference(why), width, 13, most=6):
            self.text(x, y + 14, line)
            y += 19
        return y - start + 8

    @cached_property
    def largest_logit(self) -> float:
        return max(max(abs(logit) for logit in self.why.logits), 1e-9)

    @cached_property
    def largest_contribution(self) -> float:
        return max(max(abs(row.contribution(label)) for row in self.why.rows for label in self.classes), 1e-9)

    def bar(self, x: float, y: float, width: float, value: float, largest: float, label: int, height: float) -> None:
        """A bar to the right of the zero line for what adds, to the left and hollow for what takes away."""
        theme = self.theme
        zero = x + 0.3 * width
        length = abs(value) / largest * (0.7 * width if value >= 0 else 0.3 * width)
        left = zero if value >= 0 else zero - length
        colour = theme.of_class(label)
        fill = colour if value >= 0 else "none"
        self.parts.append(
            f'<rect x="{left:.1f}" y="{y:.1f}" width="{length:.1f}" height="{height:g}" fill="{fill}" '
            f'stroke="{colour}" stroke-width="1.5"/>'
            f'<path d="M{zero:.1f} {y - 3:.1f}v{height + 6:g}" stroke="{theme.ink}"/>'
        )

    def panel(self, x: float, y: float, width: float, height: float) -> None:
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="8" '
            f'fill="{self.theme.panel}" stroke="{self.theme.line}"/>'
        )

    def section(self, label: int) -> None:
        """One class: the rows that matter most to it, the rest in one line, and the total, which is its logit."""
        why, theme = self.why, self.theme
        shown, rest = telling_rows(why, label, self.rows)
        name = why.class_names[label]
        self.y += 14
        self.parts.append(f'<g class="class" data-class="{label}">')
        self.parts.append(f'<path d="M{MARGIN} {self.y:.1f}h{_INNER}" stroke="{theme.line}"/>')
        self.y += 28
        self.parts.append(class_shape(label, MARGIN + 8, self.y - 6, 14, theme))
        self.text(MARGIN + 24, self.y, shortened(f"What speaks for or against {name}", 520, 16), size=16, bold=True)
        self.y += 10
        self.headings()
        if self.wide:
            for row in shown:
                self.wide_row(row, label)
        elif self.with_evidence:
            for row in shown:
                self.row(row, label)
        else:
            self.cards(shown, label)
        if rest:
            adds = sum(row.contribution(label) for row in rest)
            self.text(MARGIN, self.y + 22, f"and {count(len(rest), 'more prototype')}, adding", muted=True)
            self.text(self.sum_x, self.y + 22, signed(adds), size=15, anchor="end")
            self.y += 30
        total = shortened(f"total, the logit of {name}", self.sum_x - MARGIN - 90, 14)
        self.parts.append(
            f'<path d="M{self.sum_x - 80:.1f} {self.y + 6:.1f}h84" stroke="{theme.ink}" stroke-width="1.2"/>'
        )
        self.text(MARGIN, self.y + 26, total, size=14, bold=True)
        self.text(self.sum_x, self.y + 26, signed(why.logits[label]), size=17, bold=True, anchor="end")
        self.parts.append("</g>")
        self.y += 36

    def legend(self) -> None:
        """What a reader who sees such a figure for the first time asks."""
        self.parts.append(f'<path d="M{MARGIN} {self.y + 10:.1f}h{_INNER}" stroke="{self.theme.line}"/>')
        self.y += 28
        compared = "Coloured: the parts that were compared" if self.with_evidence else "Coloured: the prototype"
        pale = "; pale: the rest of its source" if shows_sources(self.why.known) else ""
        highest = self.why.known.highest_similarity
        scale = "" if highest is None else f", up to {highest:.1f} for the same"
        said = (
            f"{compared}, in the colour of the prototype's class{pale}. Similarity: 0 for nothing alike{scale}. "
            "Weight: what similarity 1 adds to the class. A hollow bar takes away."
        )
        for line in wrapped(said, _INNER, 11):
            self.text(MARGIN, self.y, line, size=11, muted=True)
            self.y += 15

    @cached_property
    def with_evidence(self) -> bool:
        return self.input is not None and any(row.evidence is not None for row in self.why.rows)

    @property
    def numbers_x(self) -> float:
        """Where the arithmetic begins."""
        return MARGIN + 2 * (_CELL_WIDTH + 16) + 10

    @property
    def sum_x(self) -> float:
        """Where contributions end, one under the other."""
        return self.numbers_x + 262

    def headings(self) -> None:
        if self.wide:
            return
        self.y += 14
        if not self.with_evidence:
            said = (
                f"the whole input looks like these parts of training {self.what}s: similarity × weight = contribution"
            )
            self.text(MARGIN, self.y, said, size=12, muted=True)
            self.y += 8
            return
        self.text(MARGIN, self.y, "this part of the input", size=12, muted=True)
        said = f"looks like this part of a training {self.what}"
        self.text(MARGIN + _CELL_WIDTH + 16, self.y, said, size=12, muted=True)
        for at, word in ((66, "similarity"), (160, "weight"), (262, "contribution")):
            self.text(self.numbers_x + at, self.y, word, size=12, muted=True, anchor="end")
        self.y += 6

    def prototype(self, number: int) -> Shown | None:
        if self.why.known.prototypes is None:
            return None
        if number not in self.drawn:
            self.drawn[number] = draw_prototype(self.why.known, number)
        return self.drawn[number]

    def captions(self, row: Row) -> tuple[str, str]:
        """What a prototype is called and where it comes from."""
        known = self.why.known.prototypes
        first = f"prototype {row.prototype} of {self.why.class_names[row.label]}"
        if known is None:
            return first, ""
        card = known.cards[row.prototype]
        return first, f"from {card.name}" if card.name else f"from training {self.what} {card.graph}"

    def row(self, row: Row, label: int) -> None:
        x, y, height = MARGIN, self.y, _CELL_HEIGHT + 46
        self.parts.append(f'<g class="row" data-prototype="{row.prototype}">')
        if self.with_evidence and self.input is not None:
            self.panel(x, y, _CELL_WIDTH, _CELL_HEIGHT + 40)
            box = (x + 8, y + 6, _CELL_WIDTH - 16, _CELL_HEIGHT - 4)
            if row.evidence is None:
                self.parts.append(self.sheet.place(self.input, box, alt="the whole input"))
                self.text(x + 10, y + _CELL_HEIGHT + 18, f"the whole {self.what}", size=11, muted=True)
            else:
                shown = self.why.evidence_shows(row) or ""
                self.parts.append(self.sheet.place(self.input, box, row.evidence, row.label, shown, _SMALLEST))
                if self.what == "molecule":
                    shown = f"{count(len(row.evidence), 'atom')}: {shown}"
                for number, line in enumerate(wrapped(shown, _CELL_WIDTH - 20, 11, most=2)):
                    self.text(x + 10, y + _CELL_HEIGHT + 14 + 14 * number, line, size=11, muted=True)
            x += _CELL_WIDTH + 16
        self.prototype_cell(row, x, y, _CELL_HEIGHT + 40)
        self.arithmetic(row, label, self.numbers_x, y + _CELL_HEIGHT / 2 + 8)
        self.parts.append("</g>")
        self.y += height

    def cards(self, rows: list[Row], label: int) -> None:
        """Prototypes side by side, three in a line, each with its arithmetic: for when all of the input is compared."""
        for start in range(0, len(rows), 3):
            for place, row in enumerate(rows[start : start + 3]):
                x, y = MARGIN + place * (_CELL_WIDTH + 21), self.y
                self.parts.append(f'<g class="row" data-prototype="{row.prototype}">')
                self.prototype_cell(row, x, y, _CELL_HEIGHT + 94)
                self.arithmetic(row, label, x + 10, y + _CELL_HEIGHT + 58)
                self.parts.append("</g>")
            self.y += _CELL_HEIGHT + 102

    def prototype_cell(self, row: Row, x: float, y: float, height: float) -> None:
        """A prototype in its source, and under it what it is called and where it comes from."""
        self.panel(x, y, _CELL_WIDTH, height)
        self.prototype_in(row, (x + 8, y + 6, _CELL_WIDTH - 16, _CELL_HEIGHT - 4))
        first, second = self.captions(row)
        self.parts.append(class_shape(row.label, x + 14, y + _CELL_HEIGHT + 10, 9, self.theme))
        self.text(x + 24, y + _CELL_HEIGHT + 14, shortened(first, _CELL_WIDTH - 34, 11), size=11)
        self.text(x + 10, y + _CELL_HEIGHT + 29, shortened(second, _CELL_WIDTH - 20, 11), size=11, muted=True)

    def wide_row(self, row: Row, label: int) -> None:
        """Sentence under sentence, then the arithmetic."""
        self.parts.append(f'<g class="row" data-prototype="{row.prototype}">')
        self.y += 10
        if self.with_evidence and self.input is not None:
            height = min(self.input.height, 200.0)
            said = "these words" if row.evidence is not None else "the whole sentence"
            self.text(MARGIN, self.y + 12, said, size=11, muted=True)
            nodes = row.evidence or ()
            self.parts.append(self.sheet.place(self.input, self.line(self.input, height), nodes, row.label, said))
            self.y += height + 22
        shown = self.prototype(row.prototype)
        first, _ = self.captions(row)
        self.parts.append(class_shape(row.label, MARGIN + 5, self.y + 8, 9, self.theme))
        self.text(
            MARGIN + 16,
            self.y + 12,
            f"look like {first}:" if self.with_evidence else f"looks like {first}:",
            size=11,
            muted=True,
        )
        if shown is not None:
            height = min(shown.picture.height, 200.0)
            self.prototype_in(row, self.line(shown.picture, height))
            self.y += height + 20
        self.arithmetic(row, label, self.sum_x - 262, self.y + 18)
        self.parts.append("</g>")
        self.y += 52

    def line(self, picture: Picture, height: float) -> tuple[float, float, float, float]:
        """The box of a sentence, which begins at the left as the others do."""
        return MARGIN, self.y + 16, min(_INNER, picture.width * min(height / picture.height, 1.0)), height

    def prototype_in(self, row: Row, box: tuple[float, float, float, float]) -> None:
        shown = self.prototype(row.prototype)
        if shown is None:
            x, y, width, height = box
            self.text(x + width / 2, y + height / 2, f"prototype {row.prototype}", anchor="middle")
            return
        alt = f"prototype {row.prototype}: {self.why.shows(row)}"
        placed = self.sheet.place(shown.picture, box, shown.nodes, row.label, alt, _SMALLEST)
        self.parts.append(placed.replace('class="evidence"', 'class="prototype"'))

    def arithmetic(self, row: Row, label: int, x: float, y: float) -> None:
        """similarity × weight = contribution, and a bar for it."""
        value = row.contribution(label)
        self.text(x + 66, y, f"{row.similarity:.2f}", size=15, anchor="end")
        self.text(x + 82, y, "×", size=15, anchor="middle", muted=True)
        self.text(x + 160, y, f"{row.weights[label]:.2f}".replace("-", "−"), size=15, anchor="end")
        self.text(x + 178, y, "=", size=15, anchor="middle", muted=True)
        self.text(x + 262, y, signed(value), size=16, bold=True, anchor="end")
        self.bar(x + 24, y + 12, 238, value, self.largest_contribution, label, 9)
