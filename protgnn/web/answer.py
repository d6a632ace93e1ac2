"""A reasoning as the page shows it: numbers, and a picture for what was compared in each row."""

from __future__ import annotations

from typing import Any

from protgnn.data.network.instances import NetworkInstances
from protgnn.explain.describe import molecule_smiles
from protgnn.explain.explanation import Reasoning, ReasoningRow
from protgnn.explain.render_text import chosen_rows, difference, places_counted, similarity_scale, warnings, whole_of
from protgnn.io.printable import printable
from protgnn.viz.dispatch import draw_input
from protgnn.viz.picture import Picture, Sheet, svg
from protgnn.viz.theme import PAGE

_ROW, _INPUT, _THUMB = (300.0, 170.0), (520.0, 300.0), (150.0, 96.0)
_SMALLEST = 0.5  # of its own size; of a larger graph the surroundings of the evidence are shown


def answer(why: Reasoning) -> dict[str, Any]:
    """Everything that the page shows of a prediction.

    Args:
        why: The reasoning.

    Returns:
        Plain values. ``rows`` are those worth a picture, ``rest`` what the others add to each class, and ``all`` the
        contributions of every prototype, ``[K][C]``; with ``base`` they add up to ``logits``. Pictures are SVG that
        refer to the bodies in ``defs``.
    """
    shown, rest = chosen_rows(why)
    sheet = Sheet(PAGE)
    classes = range(len(why.class_names))
    focus = sorted({node for row in why.rows for node in row.evidence or ()})
    picture = None if why.graph is None else draw_input(why.graph, focus=focus)
    rows = [_row(why, row, sheet, picture) for row in shown]
    return {
        "title": clean(why.title),
        "text": typed_form(why),
        "predicted": why.predicted,
        "runner_up": why.runner_up,
        "truth": why.truth,
        "probabilities": why.probabilities,
        "logits": why.logits,
        "beside": why.beside or None,
        "beside_lines": [{"name": clean(line.text), "adds": line.contributions} for line in why.beside_lines()],
        "margin": why.margin,
        "familiar": why.familiar,
        "warnings": [clean(text) for text in warnings(why)],
        "difference": clean(difference(why)),
        "whole": whole_of(why),
        "scale": similarity_scale(why, shown),
        "with_evidence": any(row.evidence is not None for row in why.rows),
        "rows": rows,
        "rest": {
            "count": len(rest),
            "adds": [sum(row.contribution(label) for row in rest) for label in classes],
        },
        "all": [[row.contribution(label) for label in classes] for row in why.rows],
        "input": None if picture is None else input_picture(why, picture, sheet),
        "nodes": node_names(why),
        "note": "" if picture is None else picture.note,
        "defs": sheet.defs(),
    }


def typed_form(why: Reasoning) -> str | None:
    """What to type to ask the same: a SMILES, a sentence, ids of nodes; nothing for other graphs."""
    if why.among is None:
        return None
    kind = why.among.schema.kind
    if isinstance(why.among, NetworkInstances):
        return ", ".join(map(why.among.network.name, why.among.targets[why.number].tolist()))
    if kind == "molecule":
        featurized = why.among.schema.featurizer == "molecule"
        return why.name if featurized else None if why.graph is None else molecule_smiles(why.graph)
    return why.name if kind == "sentence" else None


def node_names(why: Reasoning) -> list[str] | None:
    """What to type to ask about each node of the picture of a network; nothing for other graphs."""
    if not isinstance(why.among, NetworkInstances) or why.graph is None or why.graph.n_id is None:
        return None
    return [clean(why.among.network.name(node)) for node in why.graph.n_id.tolist()]


def input_picture(why: Reasoning, picture: Picture, sheet: Sheet) -> str:
    """The whole input, with a spot on every node that the page can make a button of."""
    width, height = _box(picture, _INPUT)
    placed = sheet.place(picture, (4, 4, width - 8, height - 8), alt=clean(why.title))
    scale = min((width - 8) / picture.width, (height - 8) / picture.height, 1.0)
    left, top = (width - scale * picture.width) / 2, (height - scale * picture.height) / 2
    spots = "".join(
        f'<circle class="spot" data-node="{node}" cx="{left + scale * spot.x:.1f}" cy="{top + scale * spot.y:.1f}" '
        f'r="{max(scale * 13, 6):.1f}"/>'
        for node, spot in picture.spots.items()
    )
    return svg(width, height, [placed, f'<g class="spots">{spots}</g>'], clean(why.title), PAGE)


def thumb(why: Reasoning, sheet: Sheet) -> str | None:
    """The graph in small, with the evidence for the prototype that adds most, if any, marked; none of a sentence."""
    graph = why.graph
    if graph is None or graph.schema.kind == "sentence":
        return None
    row, (width, height) = why.winning(), _THUMB
    nodes, label = ((), None) if row is None else (row.marked or (), row.label)
    placed = sheet.place(draw_input(graph, focus=nodes), (3, 3, width - 6, height - 6), nodes, label)
    return svg(width, height, [placed], clean(why.title), PAGE)


def clean(text: str) -> str:
    """A text without control characters, which a page would hide."""
    return printable(text, keep="\n\t")


def _box(picture: Picture, largest: tuple[float, float]) -> tuple[float, float]:
    """The size of a picture with a little room, within the largest that there is place for; lines of text are wide."""
    if picture.width > 3 * picture.height:
        return picture.width + 12, picture.height + 12
    return min(picture.width + 12, largest[0]), min(picture.height + 12, largest[1])


def _row(why: Reasoning, row: ReasoningRow, sheet: Sheet, picture: Picture | None) -> dict[str, Any]:
    shown = why.describe_evidence(row)
    drawn = None
    if picture is not None and row.evidence is not None:
        wide = picture.width > 3 * picture.height
        width, height = (picture.width + 12, picture.height + 12) if wide else _ROW
        box = (6.0, 6.0, width - 12, height - 12)
        alt = f"The part that was compared with prototype {row.prototype}: {shown}"
        placed = sheet.place(picture, box, row.marked or row.evidence, row.label, "", _SMALLEST)
        drawn = svg(width, height, [placed], clean(alt), PAGE)
    return {
        "prototype": row.prototype,
        "label": row.label,
        "similarity": row.similarity,
        "weights": row.weights,
        "gain": why.gain(row),
        "places": len(row.places),
        "counted": places_counted(row),
        "evidence": None if shown is None else clean(shown),
        "picture": drawn,
    }
