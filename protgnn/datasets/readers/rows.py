"""Files of raw inputs, SMILES or sentences, with or without labels: finding columns, and the rows that are sound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.labels import LABEL_COLUMNS, is_missing, may_be_numbered, to_classes, to_known_classes
from protgnn.data.schema import Schema
from protgnn.datasets.readers.reader import Labels, OnSkip, RawKind, Table
from protgnn.errors import DataError
from protgnn.io.tables import listed, named_column, option, unique_column
from protgnn.io.text import read_text

_SHOWN = 5  # skipped rows named in a note

Read = TypeVar("Read")


@dataclass(frozen=True)
class Row:
    """One row of a file: where it is, what it says, and what is wrong with it if anything is."""

    line: int
    text: str
    label: str | None = None
    fault: str | None = None


@dataclass(frozen=True)
class Rows:
    """All rows of a file, whether their labels stand in a column that is surely one of labels, and notes on that."""

    path: Path
    rows: list[Row]
    labelled: bool = False
    surely: bool = False
    notes: tuple[str, ...] = ()

    def sound(
        self,
        read: Callable[[str], Read | None],
        fault: Callable[[str], str],
        skip_bad: bool,
        on_skip: OnSkip | None = None,
    ) -> tuple[list[Row], list[Read], list[str]]:
        """The rows that can be used, what ``read`` makes of them, and notes; the first that cannot is an error unless
        such rows may be skipped; ``on_skip`` is then told of each."""
        kept: list[Row] = []
        found: list[Read] = []
        bad: list[int] = []
        for row in self.rows:
            made = None if row.fault else read(row.text)
            if made is not None:
                kept.append(row)
                found.append(made)
            elif skip_bad:
                bad.append(row.line)
                if on_skip is not None:
                    on_skip(row.line, row.fault or fault(row.text))
            else:
                raise DataError(
                    f"{self.path} line {row.line}: {row.fault or fault(row.text)}. Correct or remove the row, "
                    "or skip all such rows with --skip-bad (skip_bad=True in Python)"
                )
        if not kept:
            total = len(self.rows)
            raise DataError(
                f"{self.path}: none of its {total} rows can be used: check that the right columns were chosen"
            )
        return kept, found, [*self.notes, *([skipped(self.path, "rows", len(self.rows), bad)] if bad else [])]

    def classes(
        self, kept: Sequence[Row], classes: tuple[str, ...] | None, notes: list[str]
    ) -> tuple[Tensor | None, tuple[str, ...]]:
        """Classes ``[G]`` of the rows that are kept, and their names; with ``classes`` they must be among those.
        ``notes`` gets one where numbers are taken for them."""
        texts = [row.label or "" for row in kept]

        def where(place: int) -> str:
            return f"{self.path} line {kept[place].line}"

        if self.labelled and classes is None:
            return to_classes(texts, where)
        names = classes or ()
        if not self.labelled or any(map(is_missing, texts)):
            return None, names
        try:
            y = to_known_classes(texts, names, where)
        except DataError:
            if self.surely:
                raise
            return None, names  # it was only a guess that this column holds labels
        if may_be_numbered(names) and not {text.strip() for text in texts} & set(names):
            taken = sorted({(int(number), names[int(number)]) for number in y})
            said = ", ".join(f"{number} as {name}" for number, name in taken)
            notes.append(f"The labels of {self.path.name} are numbers, and were taken for classes of the model: {said}")
        return y, names


def on_lines(graphs: GraphSet, lines: Iterable[int]) -> GraphSet:
    """The graphs, and on which lines of their file they were."""
    return replace(graphs, lines=torch.tensor(list(lines)))


def csv_rows(table: Table, kind: RawKind, column: str | None, label: str | None, labels: Labels) -> Rows:
    """The rows of a CSV, but for empty ones; ``column`` and ``label`` name its columns, and without them they are
    guessed."""
    path, header, body = table.path, table.header, table.rows
    text_at, needed = _text_column(path, header, kind, column), labels == "needed"
    label_at = None if labels == "ignored" else _label_column(path, header, text_at, label, needed)
    rows = [
        _row(line, cells, len(header), text_at, label_at, needed) for line, cells in body if any(map(str.strip, cells))
    ]
    if not rows:
        raise DataError(f"{path} has a header ({', '.join(header)}) but no rows: add some")
    labelled = label_at is not None
    surely = needed or label is not None or (labelled and header[label_at or 0].strip().lower() in LABEL_COLUMNS)
    guessed = label is None and label_at is not None and len(header) > 2
    notes = (f"The labels of {path.name} are those of its column {header[label_at or 0]!r}",) if guessed else ()
    return Rows(path, rows, labelled, surely, notes)


def line_rows(path: Path, kind: RawKind) -> Rows:
    """The lines of a text, each a row without a label; blank ones are passed over."""
    rows = [Row(number, text) for number, text in enumerate(read_text(path).split("\n"), 1) if text.strip()]
    if not rows:
        raise DataError(f"{path} has no {kind.what}: write one per line")
    return Rows(path, rows)


def check_takes_smiles(source: str, schema: Schema) -> None:
    """Refuse SMILES for a model that was not trained on molecules read from SMILES."""
    if schema.kind == "sentence":
        raise DataError(f"{source}: this model was trained on sentences, and takes no SMILES")
    if schema.featurizer != "molecule":
        raise DataError(
            f"{source}: this model was trained on graphs whose features came with them, and SMILES have none: "
            "give it a JSONL file or a TU folder made like its training data"
        )


def check_takes_sentences(source: str, schema: Schema) -> None:
    """Refuse sentences for a model that was not trained on them, or whose features came with them."""
    if schema.kind != "sentence":
        raise DataError(f"{source}: this model was trained on {schema.kind}s, and takes no sentences")
    if schema.featurizer == "given":
        raise DataError(
            f"{source}: this model was trained on sentences whose features came with them: "
            "give it a JSONL file made like its training data"
        )


def skipped(path: Path, what: str, total: int, bad: Sequence[int]) -> str:
    """The note on what was skipped, by the lines where it begins."""
    shown = ", ".join(str(line) for line in bad[:_SHOWN])
    more = ", …" if len(bad) > _SHOWN else ""
    return f"Skipped {len(bad)} of {total} {what} of {path.name} that cannot be used (lines {shown}{more})"


def _text_column(path: Path, header: list[str], kind: RawKind, name: str | None) -> int:
    if name is not None:
        return named_column(path, header, name, option(kind.option))
    for known in kind.columns:
        found = [column for column in header if column.lower() == known]
        if found:
            return unique_column(path, header, found[0])
    raise DataError(
        f"{path} line 1: which column holds the {kind.what}? Expected a header with a column `{kind.columns[0]}` "
        f"(got the columns {listed(header)}): choose one with {option(kind.option)}"
    )


def _label_column(path: Path, header: list[str], text_at: int, name: str | None, required: bool) -> int | None:
    if name is not None:
        return named_column(path, header, name, option("label"))
    others = [column for place, column in enumerate(header) if place != text_at]
    found = [column for column in others if column.lower() in LABEL_COLUMNS]
    if len(set(found)) == 1:
        return unique_column(path, header, found[0])
    if len(others) == 1:
        return header.index(others[0])
    if not required:
        return None
    if not others:
        raise DataError(
            f"{path} line 1: which column holds the label? With one column there are no labels to score against or "
            "learn from: add a column `label`"
        )
    raise DataError(
        f"{path} line 1: which column holds the label? Its columns are {listed(header)}: "
        f"choose one with {option('label')}"
    )


def _row(line: int, cells: list[str], width: int, text_at: int, label_at: int | None, label_needed: bool) -> Row:
    if len(cells) != width:
        return Row(line, "", fault=f"expected {width} cells as in the header (got {len(cells)})")
    label = None if label_at is None else cells[label_at]
    fault = "the label is missing" if label is not None and label_needed and is_missing(label) else None
    return Row(line, cells[text_at].strip(), label, fault)
