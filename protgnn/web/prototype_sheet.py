"""The sheet of prototypes: what each is, where it comes from, what it weighs, and where it occurs."""

from __future__ import annotations

from typing import Any

from protgnn.viz.dispatch import draw_prototype
from protgnn.viz.picture import Sheet, svg
from protgnn.viz.theme import PAGE
from protgnn.web.answer import clean
from protgnn.web.opened_run import OpenedRun
from protgnn.web.row_set import RowSet

_CARD = (300.0, 170.0)
_NEAREST = 3


def prototype_sheet(opened: OpenedRun) -> dict[str, Any]:
    """Every prototype with its picture within the graph that it was cut from, and the bodies that pictures share."""
    context, sheet = opened.context, Sheet(PAGE)
    assert context.prototypes is not None
    cards = []
    for number, card in enumerate(context.prototypes.cards):
        shown = draw_prototype(context, number)
        wide = shown.picture.width > 3 * shown.picture.height
        width, height = (shown.picture.width + 12, shown.picture.height + 12) if wide else _CARD
        placed = sheet.place(shown.picture, (6, 6, width - 12, height - 12), shown.nodes, card.label, smallest=0.45)
        description = clean(context.descriptions[number])
        cards.append(
            {
                "number": number,
                "label": card.label,
                "description": description,
                "source": clean(card.name or f"training {opened.noun} {card.graph}"),
                "nodes": len(card.nodes),
                "weight": card.weight,
                "support": card.support,
                "picture": svg(width, height, [placed], f"Prototype {number}: {description}", PAGE),
            }
        )
    return {"prototypes": cards, "defs": sheet.defs()}


def occurrences(rows: RowSet, count: int) -> list[dict[str, Any]]:
    """Where each prototype decides among the rows of the table: how many rows it adds most to, how many of these are
    right, and those most like it."""
    found: list[dict[str, Any]] = []
    for number in range(count):
        own = [row for row in rows.rows if row["prototype"] == number]
        labelled = [row for row in own if row["truth"] is not None]
        nearest = sorted(own, key=lambda row: -row["similarity"])[:_NEAREST]
        found.append(
            {
                "wins": len(own),
                "right": sum(row["truth"] == row["predicted"] for row in labelled) if labelled else None,
                "nearest": [row["row"] for row in nearest],
            }
        )
    return found
