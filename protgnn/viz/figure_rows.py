"""The sections of a reasoning figure: for each class the rows that matter most to it, and their arithmetic."""

from __future__ import annotations

from protgnn.explain.composition_rows import BASE, VISIBLE
from protgnn.explain.describe import class_said, count
from protgnn.explain.explanation import Reasoning, ReasoningRow
from protgnn.explain.render_text import likeness, similarity_said, whole_of
from protgnn.viz.figure_canvas import CELL_HEIGHT, CELL_WIDTH, INNER, MARGIN, FigureCanvas
from protgnn.viz.picture import Picture
from protgnn.viz.svg_text import shortened, signed, wrapped
from protgnn.viz.theme import class_shape

_SMALLEST = 0.5  # of its own size; a larger source is shown in part
_NEGLIGIBLE = 0.02  # rows that add less than this share of the largest are not worth a picture


def telling_rows(why: Reasoning, label: int, most: int) -> tuple[list[ReasoningRow], list[ReasoningRow]]:
    """The rows worth a picture for a class, in the order of what they add to the lead that decided, and the rest.

    A row that adds 0.00 to the class, or whose parts hardly look alike, is no reason. Of the others one is a prototype
    of the class itself, however little it adds: a reader asks what the class looks like.
    """
    decided = label in (why.predicted, why.runner_up)
    ordered = sorted(why.rows, key=lambda row: -abs(why.gain(row) if decided else row.contribution(label)))
    adding = [row for row in ordered if row.looks_alike and abs(row.contribution(label)) >= VISIBLE]
    least = _NEGLIGIBLE * max((abs(row.contribution(label)) for row in adding), default=0.0)
    telling = [row for row in adding if abs(row.contribution(label)) > least]
    shown = telling if len(telling) <= most + 1 else telling[:most]
    own = [row for row in adding if row.label == label]
    if own and own[0] not in shown:
        shown = [*shown[: most - 1], own[0]]
    return shown, [row for row in ordered if row not in shown]


def draw_section(figure: FigureCanvas, label: int) -> None:
    """One class: the rows that matter most to it, the rest in one line, and the total, which is its logit."""
    why, theme = figure.why, figure.theme
    shown, rest = telling_rows(why, label, figure.rows)
    figure.shown += shown
    name = class_said(why.class_names[label])
    figure.y += 14
    figure.svg.append(f'<g class="class" data-class="{label}">')
    figure.svg.append(f'<path d="M{MARGIN} {figure.y:.1f}h{INNER}" stroke="{theme.line}"/>')
    figure.y += 28
    figure.svg.append(class_shape(label, MARGIN + 8, figure.y - 6, 14, theme))
    heading = shortened(f"What speaks for or against {name}", 520, 16, bold=True)
    figure.text(MARGIN + 24, figure.y, heading, size=16, bold=True)
    figure.y += 10
    if shown:
        _draw_headings(figure)
    if figure.wide:
        for row in shown:
            _draw_wide_row(figure, row, label)
    elif figure.with_evidence:
        for row in shown:
            _draw_row(figure, row, label)
    else:
        _draw_cards(figure, shown, label)
    if rest:
        adds = sum(row.contribution(label) for row in rest)
        more = f"and {count(len(rest), 'more prototype')}, adding"
        said = more if shown else _said_of_none(rest, label, adds)
        figure.text(MARGIN, figure.y + 22, said, muted=True)
        figure.text(figure.sum_x, figure.y + 22, signed(adds), size=15, anchor="end")
        figure.y += 30
    for line in why.beside_lines(f"the {BASE}"):
        figure.text(MARGIN, figure.y + 22, shortened(line.text, figure.sum_x - MARGIN - 90, 14))
        figure.text(figure.sum_x, figure.y + 22, signed(line.contributions[label]), size=15, anchor="end")
        figure.y += 30
    total = shortened(f"total, the logit of {name}", figure.sum_x - MARGIN - 90, 14, bold=True)
    figure.svg.append(
        f'<path d="M{figure.sum_x - 80:.1f} {figure.y + 6:.1f}h84" stroke="{theme.ink}" stroke-width="1.2"/>'
    )
    figure.text(MARGIN, figure.y + 26, total, size=14, bold=True)
    figure.text(figure.sum_x, figure.y + 26, signed(why.logits[label]), size=17, bold=True, anchor="end")
    figure.svg.append("</g>")
    figure.y += 36


def _said_of_none(rows: list[ReasoningRow], label: int, adds: float) -> str:
    """What stands in the place of rows that add so much where none of them is worth a picture."""
    if abs(adds) < VISIBLE:
        has_parts = any(row.evidence is not None for row in rows)
        return "no part looks like its prototypes" if has_parts else "not close to its prototypes"
    return f"its {count(sum(row.weights[label] != 0 for row in rows), 'prototype')}, hardly alike"


def _draw_headings(figure: FigureCanvas) -> None:
    if figure.wide:
        return
    figure.y += 14
    if not figure.with_evidence:
        said = f"to the model, {whole_of(figure.why)} is close to {_parts_of(figure, 'these parts')}s"
        said += ": similarity × weight = contribution"
        figure.text(MARGIN, figure.y, said, size=12, muted=True)
        figure.y += 8
        return
    figure.text(MARGIN, figure.y, "this part of the input", size=12, muted=True)
    said = f"looks like {_parts_of(figure, 'this part')}"
    figure.text(MARGIN + CELL_WIDTH + 16, figure.y, said, size=12, muted=True)
    for at, word in ((66, "similarity"), (160, "weight"), (262, "contribution")):
        figure.text(figure.numbers_x + at, figure.y, word, size=12, muted=True, anchor="end")
    figure.y += 6


def _parts_of(figure: FigureCanvas, parts: str) -> str:
    """Where prototypes are parts of: a training graph, or what is around a training node or pair."""
    around = "around" if figure.why.target_nodes else "of"
    return f"{parts} {around} {'training' if parts.startswith('these') else 'a training'} {figure.what}"


def _draw_row(figure: FigureCanvas, row: ReasoningRow, label: int) -> None:
    x, y, height = MARGIN, figure.y, CELL_HEIGHT + 46
    figure.svg.append(f'<g class="row" data-prototype="{row.prototype}">')
    if figure.with_evidence and figure.input is not None:
        figure.panel(x, y, CELL_WIDTH, CELL_HEIGHT + 40)
        box = (x + 8, y + 6, CELL_WIDTH - 16, CELL_HEIGHT - 4)
        if row.evidence is None:
            figure.svg.append(figure.sheet.place(figure.input, box, alt="the whole input"))
            figure.text(x + 10, y + CELL_HEIGHT + 18, whole_of(figure.why), size=11, muted=True)
        else:
            shown = figure.why.describe_evidence(row) or ""
            nodes = row.marked or row.evidence
            figure.svg.append(figure.sheet.place(figure.input, box, nodes, row.label, shown, _SMALLEST))
            if figure.what == "molecule":
                shown = f"{count(len(row.evidence), 'atom')}: {shown}"
            if len(row.places) > 1:
                shown += f", found {len(row.places)} times"
            for number, line in enumerate(wrapped(shown, CELL_WIDTH - 20, 11, most=2)):
                figure.text(x + 10, y + CELL_HEIGHT + 14 + 14 * number, line, size=11, muted=True)
        x += CELL_WIDTH + 16
    _draw_prototype_cell(figure, row, x, y, CELL_HEIGHT + 40)
    _draw_arithmetic(figure, row, label, figure.numbers_x, y + CELL_HEIGHT / 2 + 8)
    figure.svg.append("</g>")
    figure.y += height


def _draw_cards(figure: FigureCanvas, rows: list[ReasoningRow], label: int) -> None:
    """Prototypes side by side, three in a line, each with its arithmetic: for when all of the input is compared."""
    for start in range(0, len(rows), 3):
        for place, row in enumerate(rows[start : start + 3]):
            x, y = MARGIN + place * (CELL_WIDTH + 21), figure.y
            figure.svg.append(f'<g class="row" data-prototype="{row.prototype}">')
            _draw_prototype_cell(figure, row, x, y, CELL_HEIGHT + 126)
            _draw_arithmetic(figure, row, label, x + 10, y + CELL_HEIGHT + 58)
            figure.svg.append("</g>")
        figure.y += CELL_HEIGHT + 134


def _draw_wide_row(figure: FigureCanvas, row: ReasoningRow, label: int) -> None:
    """Sentence under sentence, then the arithmetic."""
    figure.svg.append(f'<g class="row" data-prototype="{row.prototype}">')
    figure.y += 10
    if figure.with_evidence and figure.input is not None:
        height = min(figure.input.height, 200.0)
        said = "these words" if row.evidence is not None else "the whole sentence"
        figure.text(MARGIN, figure.y + 12, said, size=11, muted=True)
        nodes = row.marked or ()
        figure.svg.append(
            figure.sheet.place(figure.input, _line_box(figure, figure.input, height), nodes, row.label, said)
        )
        figure.y += height + 22
    shown = figure.prototype(row.prototype)
    first, _ = _captions(figure, row)
    figure.svg.append(class_shape(row.label, MARGIN + 5, figure.y + 8, 9, figure.theme))
    figure.text(
        MARGIN + 16,
        figure.y + 12,
        f"look like {first}:" if figure.with_evidence else f"close to {first}:",
        size=11,
        muted=True,
    )
    if shown is not None:
        height = min(shown.picture.height, 200.0)
        _draw_prototype_in(figure, row, _line_box(figure, shown.picture, height))
        figure.y += height + 20
    _draw_arithmetic(figure, row, label, figure.sum_x - 262, figure.y + 18)
    figure.svg.append("</g>")
    figure.y += 78


def _draw_prototype_cell(figure: FigureCanvas, row: ReasoningRow, x: float, y: float, height: float) -> None:
    """A prototype in its source, and under it what it is called and where it comes from."""
    figure.panel(x, y, CELL_WIDTH, height)
    _draw_prototype_in(figure, row, (x + 8, y + 6, CELL_WIDTH - 16, CELL_HEIGHT - 4))
    first, second = _captions(figure, row)
    figure.svg.append(class_shape(row.label, x + 14, y + CELL_HEIGHT + 10, 9, figure.theme))
    figure.text(x + 24, y + CELL_HEIGHT + 14, shortened(first, CELL_WIDTH - 34, 11), size=11)
    figure.text(x + 10, y + CELL_HEIGHT + 29, shortened(second, CELL_WIDTH - 20, 11), size=11, muted=True)


def _captions(figure: FigureCanvas, row: ReasoningRow) -> tuple[str, str]:
    """What a prototype is called and where it comes from."""
    prototypes = figure.why.context.prototypes
    first = f"prototype {row.prototype} of {class_said(figure.why.class_names[row.label])}"
    if prototypes is None:
        return first, ""
    card = prototypes.cards[row.prototype]
    return first, f"from {card.name}" if card.name else f"from training {figure.what} {card.graph}"


def _draw_prototype_in(figure: FigureCanvas, row: ReasoningRow, box: tuple[float, float, float, float]) -> None:
    shown = figure.prototype(row.prototype)
    if shown is None:
        x, y, width, height = box
        figure.text(x + width / 2, y + height / 2, f"prototype {row.prototype}", anchor="middle")
        return
    alt = f"prototype {row.prototype}: {figure.why.describe(row)}"
    placed = figure.sheet.place(shown.picture, box, shown.nodes, row.label, alt, _SMALLEST)
    figure.svg.append(placed.replace('class="evidence"', 'class="prototype"'))


def _line_box(figure: FigureCanvas, picture: Picture, height: float) -> tuple[float, float, float, float]:
    """The box of a sentence, which begins at the left as the others do."""
    return MARGIN, figure.y + 16, min(INNER, picture.width * min(height / picture.height, 1.0)), height


def _draw_arithmetic(figure: FigureCanvas, row: ReasoningRow, label: int, x: float, y: float) -> None:
    """similarity × weight = contribution, a bar for it, how high the similarity is, and what the row decides."""
    value, why = row.contribution(label), figure.why
    figure.text(x + 66, y, similarity_said(row), size=15, anchor="end")
    figure.text(x + 82, y, "×", size=15, anchor="middle", muted=True)
    figure.text(x + 160, y, f"{row.weights[label]:.2f}".replace("-", "−"), size=15, anchor="end")
    figure.text(x + 178, y, "=", size=15, anchor="middle", muted=True)
    figure.text(x + 262, y, signed(value), size=16, bold=True, anchor="end")
    figure.bar(x + 24, y + 12, 238, value, figure.largest_contribution, label, 9)
    for line in _said_below(why, row, label, figure.what):
        figure.text(x + 262, y + 37, shortened(line, 262, 11), size=11, muted=True, anchor="end")
        y += 15


def _said_below(why: Reasoning, row: ReasoningRow, label: int, what: str) -> list[str]:
    """How high the similarity is among training graphs, and where a row moves both classes that compete, the lead."""
    percentile, word = why.percentile(row), likeness(why, row)
    lines = [] if word is None else [word]
    if percentile is not None:
        lines.append(f"above {percentile} of 100 training {what}s")
    if label in (why.predicted, why.runner_up) and abs(abs(why.gain(row)) - abs(row.contribution(label))) >= VISIBLE:
        lines.append(f"adds {signed(why.gain(row))} to the lead over {class_said(why.class_names[why.runner_up])}")
    return lines
