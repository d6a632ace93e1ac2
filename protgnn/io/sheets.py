"""Excel workbooks as tables: the values of one sheet; nothing in them is computed or run."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from protgnn.errors import DataError
from protgnn.io.limits import check_limit
from protgnn.io.tables import Table, table_of
from protgnn.io.text import read_bytes

_DTD = (b"<!DOCTYPE", b"<!ENTITY")
_HEAD = 4096  # bytes of a part of a workbook in which a document type would be declared


def read_sheet(path: Path) -> Table:
    """The first sheet of an ``.xlsx`` workbook that holds anything; a formula counts with the value that was stored.

    Raises:
        DataError: openpyxl is not installed, the file is no workbook, or it is over a limit of ``io.limits``.
    """
    _check_packed(path)
    try:
        import openpyxl
    except ImportError:
        raise DataError(
            f"{path}: reading Excel workbooks needs openpyxl: pip install 'protgnn[xlsx]', or save the sheet as CSV"
        ) from None
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        sheets = [(sheet.title, list(_filled_rows(sheet))) for sheet in book.worksheets]
    except DataError:
        raise
    except Exception as error:  # what a damaged workbook raises within openpyxl is of every kind
        what = type(error).__name__
        raise DataError(
            f"{path} is no Excel workbook or a damaged one ({what}): save it again as .xlsx or CSV"
        ) from None
    used = [(title, rows) for title, rows in sheets if rows]
    if not used:
        raise DataError(f"{path} is empty: expected data in it")
    title, rows = used[0]
    notes = []
    if len(used) > 1:
        others = ", ".join(repr(other) for other, _ in used[1:6])
        notes.append(
            f"{path.name} was read from its sheet {title!r}, not from {others}: move that to the front to use it"
        )
    return table_of(path, iter(rows), notes)


def _check_packed(path: Path) -> None:
    """Refuse what is no archive, would unpack to too much, or declares a document type, by which XML can be made to
    grow."""
    check_limit("file_bytes", len(read_bytes(path)), str(path))
    try:
        with zipfile.ZipFile(path) as packed:
            check_limit("file_bytes", sum(part.file_size for part in packed.infolist()), f"{path}, unpacked")
            for part in packed.infolist():
                with packed.open(part) as file:
                    head = file.read(_HEAD).replace(b"\0", b"")
                if any(mark in head for mark in _DTD):
                    raise DataError(f"{path}: its part {part.filename!r} declares a document type: save it again")
    except (zipfile.BadZipFile, NotImplementedError, EOFError, RuntimeError, OSError, ValueError):
        raise DataError(f"{path} is no Excel workbook or a damaged one: save it again as .xlsx or CSV") from None


def _filled_rows(sheet: Any) -> Iterator[tuple[int, list[str]]]:
    """Rows of a sheet as texts, but for empty ones, with their numbers there."""
    for number, cells in enumerate(sheet.iter_rows(values_only=True), 1):
        texts = [_text(value) for value in cells]
        if any(texts):
            yield number, texts


def _text(value: Any) -> str:
    """A cell as it would stand in a CSV."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    return str(value).strip()
