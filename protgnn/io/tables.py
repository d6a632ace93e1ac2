"""Tables as text: a header and rows that know the line they stand in."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

from protgnn.errors import DataError
from protgnn.io.limits import check_limit
from protgnn.io.text import read_text

_SHOWN, _LETTERS = 20, 30  # columns, and letters of each, in a message
_HEAD = 30  # rows that are looked at to find the separator and the header
_DELIMITERS = ",;\t"

TableRows = Iterator[tuple[int, list[str]]]


@dataclass(eq=False)
class Table:
    """A table that is being read: its header, its rows with their lines, which can be gone through once, and notes on
    how it was read."""

    path: Path
    header: list[str]
    rows: TableRows
    notes: list[str] = field(default_factory=list)
    header_line: int = 1
    share_read: Callable[[], float] | None = None
    """How much of the file has been read, from 0 to 1, where that is known."""

    def peek(self, count: int) -> list[list[str]]:
        """The cells of the first rows, which are still to come."""
        first = list(islice(self.rows, count))
        self.rows = chain(first, self.rows)
        return [cells for _, cells in first]

    def without_header(self) -> Table:
        """The table with its first line as a row, and columns named by their numbers."""
        names = [f"column {number}" for number in range(1, len(self.header) + 1)]
        rows = chain([(self.header_line, list(self.header))], self.rows)
        note = f"{self.path.name} has no header: its columns are called {', '.join(names[:_SHOWN])}"
        return Table(self.path, names, rows, [*self.notes, note], self.header_line, self.share_read)


def read_table(path: Path) -> Table:
    """A CSV (separated by comma, semicolon or tab).

    Blank lines at the end are no rows; others are rows without cells. A first line ``sep=;``, by which Excel knows the
    separator, blank lines and titles above the header are passed over, as are columns without name and content at the
    right.
    """
    notes: list[str] = []
    text = read_text(path, False, notes).rstrip("\n")
    return csv_table(path, io.StringIO(text, newline=""), notes)


def csv_table(path: Path, lines: Iterable[str], notes: list[str]) -> Table:
    """The table of the lines of a CSV, as :func:`read_table` reads them; only the first are read before rows are."""
    lines = iter(lines)
    head = list(islice(lines, _HEAD + 1))
    said = re.fullmatch(r'"?sep=([,;\t])"?[,;\t]*', head[0].strip(" \r\n")) if head else None
    if said:
        head = head[1:]
    delimiter = said[1] if said else _delimiter(head[:_HEAD])
    reader = csv.reader(chain(head, lines), delimiter=delimiter, strict=True)
    return table_of(path, _rows(path, reader, 1 if said else 0), notes)


def table_of(path: Path, rows: TableRows, notes: list[str]) -> Table:
    """A table of rows, among whose first ones the header is found."""
    head = list(islice(rows, _HEAD))
    place = _header_place([cells for _, cells in head])
    line, cells = head[place] if head else (1, [])
    header = [name.strip() for name in cells]
    if header:
        header[0] = header[0].removeprefix("#").strip()
    while header and not header[-1]:
        header.pop()
    check_limit("name_chars", max(map(len, header), default=0), f"{path} line {line}: a column")
    if not header:
        raise DataError(f"{path} line {line}: expected a header with the column names (got an empty line)")
    if place + 1 == len(head):
        raise DataError(f"{path} has a header ({', '.join(header[:_SHOWN])}) but no rows: add some")
    titles = [
        " ".join(cell for cell in cells if cell.strip()) for _, cells in head[:place] if any(map(str.strip, cells))
    ]
    if titles:
        notes.append(f"The header of {path.name} is in line {line}, below {titles[0][:60].strip()!r}")
    return Table(path, header, _fitted(chain(head[place + 1 :], rows), len(header)), notes, line)


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


def option(name: str) -> str:
    """How a user gives an option, on the command line and in Python."""
    return f"--{name} ({name}= in Python)"


def listed(header: Sequence[str]) -> str:
    """The columns as a message names them."""
    shown = [repr(name if len(name) <= _LETTERS else name[: _LETTERS - 1] + "…") for name in header[:_SHOWN]]
    return ", ".join(shown) + (", …" if len(header) > _SHOWN else "")


def _rows(path: Path, reader: Any, before: int) -> TableRows:
    try:
        for cells in reader:
            yield before + reader.line_num, cells
    except csv.Error as error:
        line = before + reader.line_num
        raise DataError(f"{path} line {line}: not a proper CSV row ({error}): correct its quotes or fields") from None


def _delimiter(lines: list[str]) -> str:
    """The separator of the first line, unless the lines below it are not cut alike by it: then the one that cuts most
    lines alike."""
    usual = max(_DELIMITERS, key=lines[0].count) if lines else ","
    share = {}
    for delimiter in _DELIMITERS:
        try:
            widths = [len(cells) for cells in csv.reader(lines, delimiter=delimiter) if cells]
        except csv.Error:  # told later, with its line
            return usual
        width, count = Counter(widths).most_common(1)[0] if widths else (0, 0)
        if delimiter == usual and widths and width == widths[0] > 1:
            return usual
        share[delimiter] = (count if width > 1 else 0, width)
    best = max(_DELIMITERS, key=share.__getitem__)
    return best if share[best][0] > 1 and share[usual][0] < share[best][0] else usual


def _header_place(head: list[list[str]]) -> int:
    """Which of the first rows is the header: the first below blank lines, titles and comments."""
    filled = [sum(bool(cell.strip()) for cell in cells) for cells in head]
    for place, (cells, count) in enumerate(zip(head, filled, strict=True)):
        usual = Counter(other for other in filled[place + 1 :] if other).most_common(1)
        below = usual[0][0] if usual else 0
        if count and not (count < below and _is_title(cells, count, [row for row in head[place + 1 :] if any(row)])):
            return place if count > 1 or below <= 1 else 0
    return 0


def _is_title(cells: list[str], count: int, rows: list[list[str]]) -> bool:
    """Whether a row with fewer cells than those below it is none of names: a comment, one cell of words, or several
    above a row that has a name for a column of numbers."""
    if cells[0].startswith("#") or (count == 1 and (len(cells) > 1 or not cells[0].strip().isidentifier())):
        return True
    names, *values = rows
    if any(map(_is_number, names)):
        return False
    return any(
        values and all(place < len(row) and _is_number(row[place]) for row in values if len(row) == len(names))
        for place in range(len(names))
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _fitted(rows: TableRows, width: int) -> TableRows:
    """Rows without the empty cells that stand to the right of all columns."""
    for line, cells in rows:
        if len(cells) > width and not any(map(str.strip, cells[width:])):
            cells = cells[:width]
        yield line, cells
