"""What a reasoning figure is drawn on: the SVG so far, how far down it reaches, and how text, bars and panels look."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from protgnn.explain.explanation import Reasoning, ReasoningRow
from protgnn.explain.render_text import noun_of
from protgnn.viz.dispatch import MarkedPicture, draw_prototype, draw_why
from protgnn.viz.picture import Picture, Sheet
from protgnn.viz.svg_text import write
from protgnn.viz.theme import Theme

WIDTH, MARGIN = 960.0, 28.0
INNER = WIDTH - 2 * MARGIN
CELL_WIDTH, CELL_HEIGHT = 287.0, 150.0


@dataclass
class FigureCanvas:
    """A reasoning, the SVG that is drawn of it so far with the rows ``shown`` in it, and ``y``, how far down that
    reaches; with ``arcs`` sentences have their dependencies."""

    why: Reasoning
    sheet: Sheet
    rows: int
    arcs: bool = False
    svg: list[str] = field(default_factory=list)
    shown: list[ReasoningRow] = field(default_factory=list)
    drawn: dict[int, MarkedPicture] = field(default_factory=dict)
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
        compared = sorted({node for row in self.why.rows for node in row.evidence or ()})
        return draw_why(self.why, compared, self.arcs)

    @cached_property
    def what(self) -> str:
        """A molecule, a sentence, a graph, or a node or pair of a network."""
        return noun_of(self.why)

    @property
    def wide(self) -> bool:
        """Whether pictures are lines of text, which want the whole width."""
        return self.what == "sentence"

    @cached_property
    def with_evidence(self) -> bool:
        return self.input is not None and any(row.evidence is not None for row in self.why.rows)

    @cached_property
    def largest_logit(self) -> float:
        return max(max(abs(logit) for logit in self.why.logits), 1e-9)

    @cached_property
    def largest_contribution(self) -> float:
        return max(max(abs(row.contribution(label)) for row in self.why.rows for label in self.classes), 1e-9)

    @property
    def numbers_x(self) -> float:
        """Where the arithmetic begins."""
        return MARGIN + 2 * (CELL_WIDTH + 16) + 10

    @property
    def sum_x(self) -> float:
        """Where contributions end, one under the other."""
        return self.numbers_x + 262

    def prototype(self, number: int) -> MarkedPicture | None:
        if self.why.context.prototypes is None:
            return None
        if number not in self.drawn:
            self.drawn[number] = draw_prototype(self.why.context, number, self.arcs)
        return self.drawn[number]

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
        self.svg.append(write(x, y, text, self.theme, size, bold, muted, anchor))

    def panel(self, x: float, y: float, width: float, height: float) -> None:
        self.svg.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="8" '
            f'fill="{self.theme.panel}" stroke="{self.theme.line}"/>'
        )

    def bar(self, x: float, y: float, width: float, value: float, largest: float, label: int, height: float) -> None:
        """A bar to the right of the zero line for what adds, to the left and hollow for what takes away."""
        theme = self.theme
        zero = x + 0.3 * width
        length = abs(value) / largest * (0.7 * width if value >= 0 else 0.3 * width)
        left = zero if value >= 0 else zero - length
        colour = theme.of_class(label)
        fill = colour if value >= 0 else "none"
        self.svg.append(
            f'<rect x="{left:.1f}" y="{y:.1f}" width="{length:.1f}" height="{height:g}" fill="{fill}" '
            f'stroke="{colour}" stroke-width="1.5"/>'
            f'<path d="M{zero:.1f} {y - 3:.1f}v{height + 6:g}" stroke="{theme.ink}"/>'
        )
