"""Tables as text: a header and rows that know the line they stand in."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from protgnn.errors import DataError
from protgnn.io.limits import check_limit
from protgnn.io.text import read_text

_SHOWN, _LETTERS = 20, 30  # columns, and letters of each, in a message


def read_table(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header of a CSV (separated by comma, semicolon or tab), and its rows with their line numbers as they come.

    Blank lines at the end are no rows; others are rows without cells. A first line ``sep=;``, by which Excel knows the
    separator, is passed over.
    """
    text = read_text(path).rstrip("\n")
    first, _, rest = text.partition("\n")
    said = re.fullmatch(r'"?sep=([,;\t])"?', first.strip(" \r"))
    if said:
        text = rest
    delimiter = said[1] if said else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = _rows(path, reader, 1 if said else 0)
    _, cells = next(rows, (1, []))
    header = [name.strip() for name in cells]
    check_limit("name_chars", max(map(len, header), default=0), f"{path} line 1: a column")
    if not any(header):
        raise DataError(f"{path} line 1: expected a header with the column names (got an empty line)")
    if text.count("\n") < reader.line_num:
        raise DataError(f"{path} has a header ({', '.join(header[:_SHOWN])}) but no rows: add some")
    return header, rows


def named_column(path: Path, header: list[str], name: str, chosen_by: str) -> int:
    """Where a column of that name stands; ``chosen_by`` says how another one can be chosen."""
    if name not in header:
        raise DataError(f"{path} has no column {name!r}: its columns are {listed(header)}. Choose one with {chosen_by}")
    return unique_column(path, header, name)


def unique_column(path: Path, header: list[str], name: str) -> int:
    """Where the one column of that name stands."""
    if header.count(name) > 1:
        raise DataError(f"{path} line 1: {header.count(name)} columns are named {name!r}: rename all but one")
    return header.index(name)


def columns_by_line(path: Path, names: Sequence[str]) -> dict[int, dict[str, str]]:
    """Some columns of a CSV as they stand there, by the lines of its rows."""
    header, rows = read_table(path)
    places = {name: named_column(path, header, name, "--keep") for name in names}
    return {
        line: {name: cells[place] for name, place in places.items()}
        for line, cells in rows
        if len(cells) == len(header)
    }


def option(name: str) -> str:
    """How a user gives an option, on the command line and in Python."""
    return f"--{name} ({name}= in Python)"


def listed(header: list[str]) -> str:
    """The columns as a message names them."""
    shown = [repr(name if len(name) <= _LETTERS else name[: _LETTERS - 1] + "…") for name in header[:_SHOWN]]
    return ", ".join(shown) + (", …" if len(header) > _SHOWN else "")


def _rows(path: Path, reader: Any, before: int) -> Iterator[tuple[int, list[str]]]:
    try:
        for cells in reader:
            yield before + reader.line_num, cells
    except csv.Error as error:
        line = before + reader.line_num
        raise DataError(f"{path} line {line}: not a proper CSV row ({error}): correct its quotes or fields") from None
