"""Files of structures as tables: SDF, with its properties as columns, and lists of SMILES with names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from protgnn.errors import DataError
from protgnn.io.limits import check_limit
from protgnn.io.tables import Table
from protgnn.io.text import read_text

MOLBLOCK = "molblock"
"""The column of an SDF that holds the structures, each as its lines."""

TITLE = "title"
_PROPERTY = re.compile(r"^>.*?<([^<>]*)>")
_END = "$$$$"
_LOOKED_AT = 1000  # lines of a long file that tell its columns


def read_sdf(path: Path) -> Table:
    """The records of an SDF: the structure, the title as ``name``, and every property; lines are where records begin.

    Raises:
        DataError: It is no text, or no record has a structure.
    """
    notes: list[str] = []
    records = list(_records(read_text(path, False, notes)))
    if not any("M  END" in block for _, block, _ in records):
        raise DataError(f"{path} holds no structure: expected the records of an SDF, each with a line `M  END`")
    columns = dict.fromkeys(name for _, _, values in records for name in values)
    check_limit("name_chars", max(map(len, columns), default=0), f"{path}: a property")
    titled = TITLE not in columns and any(block.split("\n", 1)[0].strip() for _, block, _ in records)
    header = [MOLBLOCK, *([TITLE] if titled else []), *columns]

    def rows() -> Iterator[tuple[int, list[str]]]:
        for line, block, values in records:
            title = [block.split("\n", 1)[0].strip()] if titled else []
            yield line, [block, *title, *(values.get(name, "") for name in columns)]

    return Table(path, header, rows(), notes)


def _records(text: str) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Line, structure and properties of each record."""
    start, lines = 1, []
    for number, line in enumerate([*text.rstrip("\n").split("\n"), _END], 1):
        if line.rstrip() != _END:
            lines.append(line)
            continue
        if any(map(str.strip, lines)):
            yield start, *_parsed(lines)
        start, lines = number + 1, []


def _parsed(lines: list[str]) -> tuple[str, dict[str, str]]:
    end = next((place for place, line in enumerate(lines) if line.startswith("M  END")), len(lines) - 1)
    values: dict[str, list[str]] = {}
    name: str | None = None
    for line in lines[end + 1 :]:
        found = _PROPERTY.match(line)
        if found:
            name = found[1].strip()
            values[name] = []
        elif not line.strip():
            name = None
        elif name is not None:
            values[name].append(line.strip())
    return "\n".join(lines[: end + 1]), {name: " ".join(parts) for name, parts in values.items()}


def read_smiles_lines(path: Path) -> Table:
    """A text with a SMILES in each line, and perhaps a name and more behind spaces or tabs; a first line that says
    ``smiles`` names the columns."""
    notes: list[str] = []
    lines = read_text(path, False, notes).split("\n")
    return smiles_table(path, lines, notes, len(lines))


def smiles_table(path: Path, lines: Iterable[str], notes: list[str], looked_at: int = _LOOKED_AT) -> Table:
    """The table of such lines; the first ``looked_at`` tell how they are separated, and how many columns there are."""
    filled = ((number, line.rstrip("\n")) for number, line in enumerate(lines, 1) if line.strip())
    head = list(islice(filled, looked_at))
    has_tabs = sum("\t" in line for _, line in head) * 2 > len(head)

    def cells_of(line: str) -> list[str]:
        return [cell.strip() for cell in (line.split("\t") if has_tabs else line.split())]

    rows = [(number, cells_of(line)) for number, line in head]
    header: list[str] = []
    if rows and rows[0][1][0].lower().lstrip("#") in ("smiles", "smi"):
        header = [rows[0][1][0].lstrip("#"), *rows[0][1][1:]]
        rows = rows[1:]
    width = max((len(cells) for _, cells in rows), default=1)
    usual = ["smiles", TITLE, *(f"column {number}" for number in range(3, width + 1))]
    header += usual[len(header) : width]
    if not rows:
        raise DataError(f"{path} has a header but no SMILES: write one per line")
    width = len(header)
    more = ((number, cells_of(line)[:width]) for number, line in filled)
    every = chain(rows, more)
    return Table(path, header, ((number, cells + [""] * (width - len(cells))) for number, cells in every), notes)
