"""Columns of text as feature columns: numbers, and kinds one-hot under names such as ``colour=red``.

The names, and how numbers were scaled, are all that a trained model needs to read another file into the same columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from protgnn.data.labels import is_missing
from protgnn.data.schema import Scale
from protgnn.errors import DataError
from protgnn.io.limits import check_limit

CONSTANT = "constant"
"""The column of things that have no feature at all."""

MAX_KINDS = 100
_LARGEST = torch.finfo(torch.float32).max


class Columns:
    """The feature columns of one file while they are read: cells by column, and the line that each row stands in."""

    def __init__(self, path: Path, columns: Mapping[str, list[str]], lines: Sequence[int]) -> None:
        self._path, self._columns, self._lines = path, columns, lines
        self.notes: list[str] = []

    def features(self, kinds: Sequence[str] = ()) -> tuple[Tensor, tuple[str, ...]]:
        """Features ``[R, C]`` and their names. Columns named in ``kinds`` hold kinds even if they look like numbers."""
        blocks: list[tuple[Tensor, tuple[str, ...]]] = []
        for column, cells in self._columns.items():
            numbers = None if column in kinds else self._numbers(column, cells, may_be_kinds=True)
            if numbers is not None:
                blocks.append((numbers, (column,)))
                continue
            known = sorted({cell.strip() for cell in cells if not is_missing(cell)})
            if len(known) > MAX_KINDS:
                raise DataError(
                    f"{self._path}: column {column!r} holds {len(known)} different texts, more than the {MAX_KINDS} "
                    "that can be kinds: remove the column, or sort the texts into kinds"
                )
            check_limit("name_chars", max(map(len, known), default=0), f"{self._path}: a kind in column {column!r}")
            if known:
                blocks.append((self._one_hot(column, cells, known), tuple(f"{column}={kind}" for kind in known)))
            else:
                self.notes.append(f"Left out the column {column!r} of {self._path.name}: all its cells are empty")
        if not blocks:
            return torch.ones(len(self._lines), 1), (CONSTANT,)
        names = tuple(name for _, block in blocks for name in block)
        return torch.cat([values for values, _ in blocks], dim=1), names

    def features_of(self, names: tuple[str, ...]) -> Tensor:
        """Features ``[R, C]`` in the columns that a trained model knows by ``names``."""
        if names == (CONSTANT,) and CONSTANT not in self._columns:
            return torch.ones(len(self._lines), 1)
        groups: dict[str, list[str]] = {}  # a column's kinds, none for numbers
        for name in names:
            column, equals, kind = name.partition("=")
            groups.setdefault(column, []).extend([kind] if equals else [])
        missing = [column for column in groups if column not in self._columns]
        if missing:
            raise DataError(
                f"{self._path} has no column {missing[0]!r}, which the model was trained with: "
                "give it data made in the same way as its training data"
            )
        more = [column for column in self._columns if column not in groups]
        if more:
            self.notes.append(f"Left out columns of {self._path.name} that the model does not know: {', '.join(more)}")
        blocks = [
            self._one_hot(column, self._columns[column], known)
            if known
            else self._numbers(column, self._columns[column], may_be_kinds=False)
            for column, known in groups.items()
        ]
        return torch.cat([block for block in blocks if block is not None], dim=1)

    def _numbers(self, column: str, cells: list[str], may_be_kinds: bool) -> Tensor | None:
        """A column of numbers ``[R, 1]``, or nothing if it holds kinds; a few odd cells among numbers are an error."""
        try:
            numbers = list(map(float, cells))
        except ValueError:
            numbers = []
        if numbers and all(map(math.isfinite, numbers)):
            values = torch.tensor(numbers, dtype=torch.float64)
            if float(values.abs().max()) <= _LARGEST:
                return values.to(torch.float32)[:, None]
        odd = [row for row, cell in enumerate(cells) if not _is_number(cell)]
        texts = [row for row in odd if not is_missing(cells[row])]
        given = sum(not is_missing(cell) for cell in cells)
        if may_be_kinds and (not given or 2 * len(texts) > given):
            return None
        row = (texts or odd)[0]
        raise DataError(
            f"{self._path} line {self._lines[row]}: expected a number in column {column!r}, as in other rows "
            f"(got {cells[row]!r}): correct it"
            + (", or put a letter before the numbers if they are kinds" if may_be_kinds else "")
        )

    def _one_hot(self, column: str, cells: list[str], known: list[str]) -> Tensor:
        """Kinds one-hot, ``[R, K]``; an empty cell is of no kind."""
        place = {kind: number for number, kind in enumerate(known)}
        found = []
        for row, cell in enumerate(cells):
            kind = cell.strip()
            number = place.get(kind, -1)
            if number < 0 and not is_missing(cell):
                raise DataError(
                    f"{self._path} line {self._lines[row]}: {kind!r} in column {column!r} is unknown to the model, "
                    f"which knows {', '.join(known)}: correct it or leave it empty"
                )
            found.append(number)
        numbers = torch.tensor(found)
        empty = int((numbers < 0).sum())
        if empty:
            self.notes.append(f"{empty} cells in column {column!r} of {self._path.name} are empty: of no kind")
        return torch.cat([torch.eye(len(known)), torch.zeros(1, len(known))])[numbers]


def scale_of(values: Tensor) -> Scale:
    """Mean and spread of each column ``[R, C]``; 0 and 1, which change nothing, where a column is zeros and ones alone
    or is the same everywhere.

    Encoders take numbers as they are: among ages and incomes a kind, which is 0 or 1, would not be seen.
    """
    found = []
    for column in values.to(torch.float64).unbind(1):
        spread = float(column.std(correction=0))
        as_it_is = not spread or bool(((column == 0) | (column == 1)).all())
        found.append((0.0, 1.0) if as_it_is else (float(column.mean()), spread))
    return tuple(found)


def scaled(values: Tensor, scale: Scale) -> Tensor:
    """Columns ``[R, C]`` centred and divided as ``scale`` says; without one they stay as they are."""
    if not scale:
        return values
    centre, spread = torch.tensor(scale, dtype=torch.float64).unbind(1)
    return ((values.to(torch.float64) - centre) / spread).to(values.dtype)


def _is_number(cell: str) -> bool:
    try:
        number = float(cell)
    except ValueError:
        return False
    return math.isfinite(number) and abs(number) <= _LARGEST
