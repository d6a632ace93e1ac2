"""Columns of text as feature columns: numbers, and kinds one-hot under names such as ``colour=red``.

Empty cells among numbers get the mean of the others, and a column such as ``missing=age`` says where they are. The
names, and how numbers were scaled, are all that a trained model needs to read another file into the same columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import torch
from torch import Tensor

from protgnn.data.label_texts import is_missing, number
from protgnn.data.schema import Scale
from protgnn.errors import DataError
from protgnn.io.limits import check_limit

CONSTANT = "constant"
"""The column of things that have no feature at all."""

FLAG = "missing="
"""What the name of a column begins with that says where cells of another one were empty."""

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
                blocks.append(self._filled(column, numbers))
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
        twice = [name for name in names if names.count(name) > 1] if len(names) < MAX_KINDS else []
        if twice:
            raise DataError(f"{self._path}: two columns would be called {twice[0]!r}: rename the column 'missing'")
        return torch.cat([values for values, _ in blocks], dim=1), names

    def _filled(self, column: str, numbers: Tensor) -> tuple[Tensor, tuple[str, ...]]:
        """A column of numbers ``[R, 1]`` with the mean in place of NaN, and a column that says where that is so."""
        empty = numbers.isnan()
        if not bool(empty.any()):
            return numbers.to(torch.float32), (column,)
        mean = float(numbers[~empty].mean())
        self.notes.append(
            f"{int(empty.sum())} empty cells in column {column!r} of {self._path.name} got the mean of the others, "
            f"{mean:g}; the column {FLAG + column!r} says which"
        )
        filled = torch.where(empty, mean, numbers).to(torch.float32)
        return torch.cat([filled, empty.to(torch.float32)], dim=1), (column, FLAG + column)

    def features_of(self, names: tuple[str, ...], scale: Scale = ()) -> Tensor:
        """Features ``[R, C]`` in the columns that a trained model knows by ``names``; empty cells among numbers get
        what ``scale`` says was taken off them, the mean that they had in training."""
        if names == (CONSTANT,) and CONSTANT not in self._columns:
            return torch.ones(len(self._lines), 1)
        flagged = {name.removeprefix(FLAG) for name in names if name.startswith(FLAG)} & set(names)
        groups: dict[str, list[str]] = {}  # a column's kinds, none for numbers
        for name in names:
            column, equals, kind = name.partition("=")
            if not (name.startswith(FLAG) and kind in flagged):
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
        centre = {name: scale[place] for place, name in enumerate(names)} if scale else {}
        blocks = [
            self._one_hot(column, self._columns[column], known)
            if known
            else self._known_numbers(column, centre.get(column, (0.0, 1.0)), column in flagged)
            for column, known in groups.items()
        ]
        return torch.cat(blocks, dim=1)

    def _known_numbers(self, column: str, centre: tuple[float, float], flagged: bool) -> Tensor:
        """A column of numbers as a trained model knows it, ``[R, 1]``, or ``[R, 2]`` with a flag for empty cells."""
        numbers = self._numbers(column, self._columns[column], may_be_kinds=False)
        assert numbers is not None
        empty = numbers.isnan()
        if bool(empty.any()):
            if centre == (0.0, 1.0) and not flagged:
                self._refuse_number(column, self._columns[column], int(empty.nonzero()[0, 0]))
            self.notes.append(
                f"{int(empty.sum())} empty cells in column {column!r} of {self._path.name} got the mean that the "
                f"column had in training, {centre[0]:g}" + ("" if flagged else "; there, no cell was empty")
            )
        filled = torch.where(empty, centre[0], numbers).to(torch.float32)
        return torch.cat([filled, empty.to(torch.float32)], dim=1) if flagged else filled

    def _numbers(self, column: str, cells: list[str], may_be_kinds: bool) -> Tensor | None:
        """A column of numbers ``[R, 1]`` in double precision, NaN where a cell is empty, or nothing if it holds kinds;
        a few odd cells among numbers are an error."""
        try:
            numbers = list(map(float, cells))
        except ValueError:
            numbers = []
        if not numbers or not all(map(math.isfinite, numbers)):
            read = [math.nan if is_missing(cell) else number(cell) for cell in cells]
            given = [value for value in read if value is None or not math.isnan(value)]
            if may_be_kinds and (not given or 2 * sum(map(_is_none, given)) > len(given)):
                return None
            if any(map(_is_none, given)):
                self._refuse_number(column, cells, read.index(None), may_be_kinds)
            numbers = [value for value in read if value is not None]
        values = torch.tensor(numbers, dtype=torch.float64)[:, None]
        large = values.abs() > _LARGEST
        if bool(large.any()):
            self._refuse_number(column, cells, int(large.nonzero()[0, 0]), may_be_kinds)
        return values

    def _refuse_number(self, column: str, cells: Sequence[str], row: int, may_be_kinds: bool = False) -> NoReturn:
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


def scale_of(values: Tensor, names: Sequence[str] = ()) -> Scale:
    """Mean and spread of each column ``[R, C]``; 0 and 1, which change nothing, where a column is zeros and ones alone
    or is the same everywhere. A column with a flag for empty cells is centred in any case: they get its mean.

    Encoders take numbers as they are: among ages and incomes a kind, which is 0 or 1, would not be seen.
    """
    found = []
    for place, column in enumerate(values.to(torch.float64).unbind(1)):
        spread = float(column.std(correction=0))
        as_it_is = not spread or bool(((column == 0) | (column == 1)).all())
        if names and FLAG + names[place] in names:
            found.append((float(column.mean()), spread or 1.0))
        else:
            found.append((0.0, 1.0) if as_it_is else (float(column.mean()), spread))
    return tuple(found)


def scaled(values: Tensor, scale: Scale) -> Tensor:
    """Columns ``[R, C]`` centred and divided as ``scale`` says; without one they stay as they are."""
    if not scale:
        return values
    centre, spread = torch.tensor(scale, dtype=torch.float64).unbind(1)
    return ((values.to(torch.float64) - centre) / spread).to(values.dtype)


def _is_none(value: float | None) -> bool:
    return value is None
