"""Tables as text: a header and rows that know the line they stand in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from protgnn.errors import DataError
from protgnn.graphs.text_files import read_text

_SHOWN, _LETTERS = 20, 30  # columns, and letters of each, in a message


def read_table(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header of a CSV (separated by comma, semicolon or tab), and its rows with their line numbers as they come.

    Blank lines at the end are no rows; others are rows without cells.
    """
    text = read_text(path).rstrip("\n")
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    rows = _rows(path, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    line, cells = next(rows)
    header = [name.strip() for name in cells]
    if not any(header):
        raise DataError(f"{path} line 1: expected a header with the column names (got an empty line)")
    if text.count("\n") < line:
        raise DataError(f"{path} has a header ({', '.join(header)}) but no rows: add some")
    return header, rows


def named_column(path: Path, header: list[str], name: str, option: str) -> int:
    """Where a column of that name stands; ``option`` is how another one can be chosen."""
    if name not in header:
        raise DataError(f"{path} has no column {name!r}: its columns are {listed(header)}. Choose one with `{option}`")
    return unique_column(path, header, name)


def unique_column(path: Path, header: list[str], name: str) -> int:
    """Where the one column of that name stands."""
    if header.count(name) > 1:
        raise DataError(f"{path} line 1: {header.count(name)} columns are named {name!r}: rename all but one")
    return header.index(name)


def listed(header: list[str]) -> str:
    """The columns as a message names them."""
    shown = [repr(name if len(name) <= _LETTERS else name[: _LETTERS - 1] + "…") for name in header[:_SHOWN]]
    return ", ".join(shown) + (", …" if len(header) > _SHOWN else "")


def _rows(path: Path, reader: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    try:
        for cells in reader:
            yield reader.line_num, cells  # type: ignore[attr-defined]
    except csv.Error as error:
        raise DataError(
            f"{path} line {reader.line_num}: not a proper CSV row ({error}): mend quotes or field"  # type: ignore[attr-defined]
        ) from None
