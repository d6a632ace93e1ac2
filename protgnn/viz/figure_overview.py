"""The top and the bottom of a reasoning figure: the verdict, the input, the sums that decide, and the legend."""

from __future__ import annotations

from protgnn.explain.describe import class_said
from protgnn.explain.mcts_evidence import SEARCHED
from protgnn.explain.render_text import OTHER_SURROUNDINGS, difference, similarity_scale, surroundings_said, warnings
from protgnn.viz.dispatch import draws_sources
from protgnn.viz.figure_canvas import INNER, MARGIN, WIDTH, FigureCanvas
from protgnn.viz.svg_text import shortened, signed, text_width, with_minus, wrapped
from protgnn.viz.theme import class_shape

_MOST_CLASSES = 8


def draw_header(figure: FigureCanvas) -> None:
    """What is predicted, of what, whether that is so, and what a reader must know before trusting it."""
    why, theme = figure.why, figure.theme
    predicted = shortened(class_said(why.class_names[why.predicted]), 520, 22, bold=True)
    figure.svg.append(class_shape(why.predicted, MARGIN + 9, 35, 17, theme))
    figure.text(MARGIN + 28, 43, predicted, size=22, bold=True)
    said = f"predicted with probability {why.probabilities[why.predicted]:.2f}"
    figure.text(WIDTH - MARGIN, 42, said, size=15, anchor="end")
    figure.y = 66
    if not figure.wide:  # a sentence is read below
        cards = why.node_cards(why.target_nodes)
        for said in [why.title] if cards is None else map(str, cards):
            for line in wrapped(said, INNER, 12, most=2):
                figure.text(MARGIN, figure.y, line, size=12, muted=True)
                figure.y += 17
    if why.truth is not None:
        right = why.truth == why.predicted
        label = class_said(why.class_names[why.truth])
        verdict = "correct: this is its label" if right else f"wrong: its label is {label}"
        figure.text(MARGIN, figure.y, verdict, size=13, bold=not right)
        figure.y += 18
    for warning in warnings(why):
        lines = wrapped(warning, INNER - 48, 13, bold=True)
        height = 18 * len(lines) + 14
        figure.svg.append(
            f'<g class="warning"><rect x="{MARGIN}" y="{figure.y - 6:.1f}" width="{INNER}" height="{height}" rx="5" '
            f'fill="{theme.warning}" stroke="{theme.ink}" stroke-width="1"/>'
        )
        figure.text(MARGIN + 15, figure.y + 14, "!", size=17, bold=True)
        for number, line in enumerate(lines):
            figure.text(MARGIN + 34, figure.y + 13 + 18 * number, line, bold=number == 0)
        figure.svg.append("</g>")
        figure.y += height + 8


def draw_overview(figure: FigureCanvas) -> None:
    """The input as it is, and the sums that decide."""
    why = figure.why
    figure.y += 6
    if figure.wide and figure.input is not None:
        height = min(figure.input.height, 220.0) + 34
        figure.panel(MARGIN, figure.y, INNER, height)
        figure.text(MARGIN + 12, figure.y + 20, "the input", size=12, muted=True)
        figure.svg.append(figure.sheet.place(figure.input, (MARGIN + 12, figure.y + 24, INNER - 24, height - 30)))
        figure.y += height + 12
        figure.y += _draw_sums(figure, MARGIN, figure.y, INNER) + 8
        return
    left = 400.0 if figure.input is not None else 0.0
    taken = _draw_sums(figure, MARGIN + left + 24 if left else MARGIN, figure.y, INNER - left - (24 if left else 0))
    height = max(taken, 230.0 if why.target_nodes is None else 330.0)  # a network is wide
    notes = [] if figure.input is None else wrapped(figure.input.note, left - 24, 11, most=2)
    if figure.input is not None:
        figure.panel(MARGIN, figure.y, left, height)
        figure.text(MARGIN + 12, figure.y + 20, "the input", size=12, muted=True)
        room = (MARGIN + 12, figure.y + 28, left - 24, height - 40 - (14 * len(notes) if figure.input.note else 0))
        figure.svg.append(figure.sheet.place(figure.input, room, alt=figure.why.title))
        for number, line in enumerate(reversed(notes)):
            figure.text(MARGIN + 12, figure.y + height - 10 - 14 * number, line, size=11, muted=True)
    figure.y += height + 12


def _draw_sums(figure: FigureCanvas, x: float, y: float, width: float) -> float:
    """A bar per class, its length the logit; returns how much height they took."""
    why, theme = figure.why, figure.theme
    start = y
    figure.text(x, y + 20, "sum of contributions to each class", size=12, muted=True)
    figure.text(x + width, y + 20, "probability", size=12, muted=True, anchor="end")
    y += 32
    ordered = sorted(range(len(why.logits)), key=why.logits.__getitem__, reverse=True)
    widest = max(text_width(why.class_names[label], 13, bold=True) for label in ordered[:_MOST_CLASSES])
    names = min(widest + 34, 0.38 * width)
    for label in ordered[:_MOST_CLASSES]:
        figure.svg.append(class_shape(label, x + 7, y + 10, 12, theme))
        name = shortened(why.class_names[label], names - 30, 13, bold=True)
        figure.text(x + 22, y + 15, name, bold=label == why.predicted)
        figure.bar(x + names, y + 2, width - names - 128, why.logits[label], figure.largest_logit, label, 16)
        figure.text(x + width - 66, y + 15, signed(why.logits[label]), size=14, bold=True, anchor="end")
        figure.text(x + width, y + 15, f"{why.probabilities[label]:.2f}", anchor="end")
        y += 26
    left_out = ordered[_MOST_CLASSES:]
    if left_out:
        best = signed(why.logits[left_out[0]])
        figure.text(
            x,
            y + 14,
            f"and {len(left_out)} more, each at {best} or below",
            muted=True,
        )
        y += 22
    y += 10
    for line in wrapped(with_minus(difference(why)), width, 13, most=6):
        figure.text(x, y + 14, line)
        y += 19
    return y - start + 8


def draw_legend(figure: FigureCanvas) -> None:
    """What a reader who sees such a figure for the first time asks."""
    figure.svg.append(f'<path d="M{MARGIN} {figure.y + 10:.1f}h{INNER}" stroke="{figure.theme.line}"/>')
    figure.y += 28
    why = figure.why
    compared = "Coloured: the parts that were compared" if figure.with_evidence else "Coloured: the prototype"
    if SEARCHED in why.notes:
        compared = "Coloured: the prototype, and the part that is most like it"
    pale = "; pale: the rest of its source" if draws_sources(why.context) else ""
    said = [f"{compared}, in the colour of the prototype's class{pale}"]
    if figure.what == "molecule":
        said.append("A wavy line crosses a bond that was cut")
    said.append(f"Similarity: {similarity_scale(why, figure.shown)}")
    if meaning := surroundings_said(why, figure.shown):
        said.append(f"{OTHER_SURROUNDINGS[0].upper()}{OTHER_SURROUNDINGS[1:]}: {meaning}")
    said.append("Weight: what a similarity of 1 adds to the class. Hollow bar: a negative contribution")
    if why.composition:
        said.append(f"Lines without a picture: properties of the whole {figure.what}")
    if why.beside:
        said.append("Base: the bias of each class")
    for line in wrapped(". ".join(said) + ".", INNER, 11, most=6):
        figure.text(MARGIN, figure.y, line, size=11, muted=True)
        figure.y += 15
