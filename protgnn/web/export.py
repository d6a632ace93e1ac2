"""Predictions and explanations to take away: as CSV, or as a workbook with a picture in every row."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from protgnn.errors import ProtGNNError
from protgnn.explain.explanation import Reasoning
from protgnn.io.atomic_files import csv_text, spreadsheet_cell
from protgnn.viz.dispatch import draw_input
from protgnn.viz.picture import Sheet, svg
from protgnn.viz.png import to_png
from protgnn.viz.theme import LIGHT

_WIDTH, _HEIGHT = 210.0, 120.0
_MOST_CHARS = 32_000  # of a cell of a workbook


def as_csv(rows: Sequence[dict[str, Any]]) -> bytes:
    """Rows as CSV that no spreadsheet runs."""
    return csv_text(list(rows)).encode("utf-8")


def row_png(why: Reasoning) -> bytes | None:
    """The graph with the evidence of the prototype that adds most, if any, in light colours; none of a sentence."""
    graph = why.graph
    if graph is None or graph.schema.kind == "sentence":
        return None
    row, sheet = why.winning(), Sheet(LIGHT)
    nodes, label = ((), None) if row is None else (row.marked or (), row.label)
    box = (4.0, 4.0, _WIDTH - 8, _HEIGHT - 8)
    placed = sheet.place(draw_input(graph, focus=nodes), box, nodes, label)
    return to_png(svg(_WIDTH, _HEIGHT, [placed], why.title, LIGHT, sheet.defs()), zoom=1)


def as_workbook(rows: Sequence[dict[str, Any]], pictures: Sequence[bytes | None], title: str) -> bytes:
    """Rows as an Excel workbook.

    Args:
        rows: Rows of the same keys.
        pictures: A PNG for each row, or for the first of them; they stand in the first column.
        title: What the sheet is called.

    Raises:
        ProtGNNError: openpyxl, which writes it, is not installed.
    """
    try:
        import openpyxl
        from openpyxl.drawing.image import Image
        from openpyxl.styles import Alignment, Font
    except ImportError:
        raise ProtGNNError("Workbooks need openpyxl: pip install 'protgnn[xlsx]', or download CSV") from None
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "".join(letter for letter in title if letter not in r"\/*?:[]'")[:31] or "predictions"
    names = list(rows[0]) if rows else []
    sheet.append(["picture", *names])
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    for number, row in enumerate(rows, 2):
        sheet.append(["", *(_cell(row[name]) for name in names)])
        png = pictures[number - 2] if number - 2 < len(pictures) else None
        if png is not None:
            sheet.add_image(Image(io.BytesIO(png)), f"A{number}")
            sheet.row_dimensions[number].height = _HEIGHT * 0.75  # of points, of which 72 make an inch and pixels 96
            for cell in sheet[number]:
                cell.alignment = Alignment(vertical="center", wrap_text=True)
    sheet.column_dimensions["A"].width = _WIDTH / 7 if any(pictures) else 8
    for column, name in enumerate(names, 2):
        letter = openpyxl.utils.get_column_letter(column)
        sheet.column_dimensions[letter].width = 40 if name in ("name", "why", "evidence looks like") else 14
    sheet.freeze_panes = "B2"
    sheet.auto_filter.ref = sheet.dimensions
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _cell(value: Any) -> Any:
    """A cell that no spreadsheet runs and every workbook can hold."""
    if not isinstance(value, str):
        return value
    kept = "".join(letter for letter in value if letter >= " " or letter in "\n\t")
    return spreadsheet_cell(kept)[:_MOST_CHARS]
