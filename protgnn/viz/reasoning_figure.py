"""The reasoning figure: the input, what it looks like, and similarity × weight = contribution, class by class.

It is the case-study figure of the paper with nothing left out: the totals of the classes are the logits, and rows that
are not drawn are counted with what they add. ``figure_overview`` and ``figure_rows`` draw its parts on a
``figure_canvas``.
"""

from __future__ import annotations

from protgnn.explain.explanation import Reasoning
from protgnn.explain.render_text import difference
from protgnn.viz.figure_canvas import WIDTH, FigureCanvas
from protgnn.viz.figure_overview import draw_header, draw_legend, draw_overview
from protgnn.viz.figure_rows import draw_section
from protgnn.viz.picture import Sheet, svg
from protgnn.viz.theme import LIGHT, Theme

_ROWS = 3


def reasoning_svg(why: Reasoning, theme: Theme = LIGHT, rows: int = _ROWS, arcs: bool = False) -> str:
    """Draw the figure as one SVG file.

    Args:
        why: The reasoning.
        theme: The colours.
        rows: How many of the most telling prototypes to draw for each class.
        arcs: Draw the dependencies of sentences above their words.

    Returns:
        The SVG, which needs nothing else.
    """
    sheet = Sheet(theme)
    content, height = reasoning_figure(why, sheet, rows, arcs)
    return svg(WIDTH, height, content, title_of(why), theme, sheet.defs())


def reasoning_figure(why: Reasoning, sheet: Sheet, rows: int = _ROWS, arcs: bool = False) -> tuple[list[str], float]:
    """Draw the figure for a page: its content and height, with its pictures placed on the sheet of the page."""
    figure = FigureCanvas(why, sheet, rows, arcs)
    draw_header(figure)
    draw_overview(figure)
    for label in figure.classes:
        draw_section(figure, label)
    draw_legend(figure)
    return figure.svg, figure.y + 10


def title_of(why: Reasoning) -> str:
    """Say the figure in one sentence, for those who listen to it."""
    predicted = why.class_names[why.predicted]
    return (
        f"Explanation of {why.title}: {predicted} with probability "
        f"{why.probabilities[why.predicted]:.2f}. {difference(why)}"
    )
