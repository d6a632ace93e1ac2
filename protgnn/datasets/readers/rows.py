"""Files of raw inputs, SMILES or sentences, with or without labels: the rows that are sound, or all that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

import torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.labels import to_classes, to_known_classes
from protgnn.data.schema import Schema
from protgnn.datasets.readers.find_columns import FoundColumns, find_columns
from protgnn.datasets.readers.label_column import (
    LabelColumn,
    labels_of_model,
    labels_to_learn,
    lines_named,
    no_labels,
)
from protgnn.datasets.readers.options import Labels, RawKind, ReadOptions
from protgnn.errors import DataError
from protgnn.io.structure_files import MOLBLOCK
from protgnn.io.tables import Table
from protgnn.io.text import read_text

_SHOWN = 20  # problems of a file named in its message
_LOOKED_AT = 2000  # rows that are looked at when the label column is wrong anyway

Made = TypeVar("Made")


class NoSoundRows(DataError):
    """None of the rows of a file can be used; ``bad`` has the line and the fault of each."""

    def __init__(self, message: str, bad: list[tuple[int, str]]) -> None:
        super().__init__(message)
        self.bad = bad


@dataclass(frozen=True)
class Row:
    """One row of a file: where it is, what it says, and what is wrong with it if anything is."""

    line: int
    text: str
    label: str = ""
    fault: str | None = None


@dataclass(frozen=True)
class SoundRows(Generic[Made]):
    """The rows of a file that can be used, what was made of them, and their labels.

    ``settled`` are the columns and ranges that were found, by the names of the options that choose them.
    """

    path: Path
    rows: list[Row]
    made: list[Made]
    y: Tensor | None
    class_names: tuple[str, ...]
    notes: list[str]
    settled: dict[str, str] = field(default_factory=dict)

    @property
    def lines(self) -> list[int]:
        return [row.line for row in self.rows]


def sound_rows(
    table: Table,
    kind: RawKind,
    options: ReadOptions,
    make: Callable[[str], Made | None],
    fault: Callable[[str], str],
    labels: Labels = "welcome",
    classes: tuple[str, ...] | None = None,
) -> SoundRows[Made]:
    """The rows of a table, but for empty ones and such without the label that is needed.

    Args:
        table: The table.
        kind: What the column of raw input holds.
        options: What the user says of the file.
        make: Makes what is wanted of a cell, nothing where that is not possible; ``fault`` says why not.
        fault: See there.
        labels: What labels are for, where there are ``classes``.
        classes: Those of a trained model; without them, labels are learned from.

    Raises:
        DataError: Rows cannot be used and may not be skipped, or the label column cannot; it names all that is wrong,
            the label column first.
    """
    found = find_columns(table, kind, options, "needed" if classes is None else labels)
    rows = _rows(found)
    column = _labels(found, rows, options, labels, classes)
    kept, made, skipped = _made(rows, column, make, fault, options, found.table.path)
    y, names = _classes(found.table.path, kept, column, classes)
    notes = [*found.table.notes, *found.notes, *column.notes]
    notes += [skipped_note(found.table.path, "rows", len(rows), skipped)] if skipped else []
    return SoundRows(found.table.path, kept, made, y, names, notes, {**_settled(found, kind), **column.settled})


def sound_lines(
    path: Path, kind: RawKind, options: ReadOptions, make: Callable[[str], Made | None], fault: Callable[[str], str]
) -> SoundRows[Made]:
    """The lines of a text, each a row without a label; blank ones are passed over."""
    rows = [Row(number, text) for number, text in enumerate(read_text(path).split("\n"), 1) if text.strip()]
    if not rows:
        raise DataError(f"{path} has no {kind.what}: write one per line")
    kept, made, skipped = _made(rows, no_labels(len(rows), ()), make, fault, options, path)
    notes = [skipped_note(path, "rows", len(rows), skipped)] if skipped else []
    return SoundRows(path, kept, made, None, (), notes)


def on_lines(graphs: GraphSet, lines: Iterable[int]) -> GraphSet:
    """The graphs, and on which lines of their file they were."""
    return replace(graphs, lines=torch.tensor(list(lines)))


def skipped_note(path: Path, what: str, total: int, bad: Sequence[int]) -> str:
    """The note on what was skipped, by the lines where it begins."""
    return f"Skipped {len(bad)} of {total} {what} of {path.name} that cannot be used ({lines_named(bad)})"


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


def _rows(found: FoundColumns) -> list[Row]:
    table, width = found.table, len(found.table.header)
    rows = []
    for line, cells in table.rows:
        if not any(map(str.strip, cells)):
            continue
        if len(cells) != width:
            rows.append(Row(line, "", fault=wrong_width(width, len(cells))))
        else:
            rows.append(Row(line, cells[found.text_at], "" if found.label_at is None else cells[found.label_at]))
    if not rows:
        raise DataError(f"{table.path} has a header ({', '.join(table.header)}) but no rows: add some")
    return rows


def _labels(
    found: FoundColumns, rows: Sequence[Row], options: ReadOptions, labels: Labels, classes: tuple[str, ...] | None
) -> LabelColumn:
    """The labels of rows; those of rows that are not whole do not matter."""
    whole = [place for place, row in enumerate(rows) if row.fault is None]
    if found.label_at is None or not whole:
        return no_labels(len(rows), classes or ())
    path, texts, lines = found.table.path, [rows[place].label for place in whole], [rows[place].line for place in whole]
    if classes is None:
        column = labels_to_learn(path, texts, lines, options)
    else:
        column = labels_of_model(path, texts, lines, classes, options, labels, found.surely)
    by_place = dict(zip(whole, column.texts, strict=True))
    return replace(
        column,
        texts=[by_place.get(place, "") for place in range(len(rows))],
        faults={whole[place]: fault for place, fault in column.faults.items()},
        left_out={whole[place] for place in column.left_out},
    )


def _made(
    rows: Sequence[Row],
    column: LabelColumn,
    make: Callable[[str], Made | None],
    fault: Callable[[str], str],
    options: ReadOptions,
    path: Path,
) -> tuple[list[Row], list[Made], list[int]]:
    """The rows that can be used, with their labels, what was made of them, and the lines of those that were skipped."""
    kept: list[Row] = []
    made: list[Made] = []
    bad: list[tuple[int, str]] = []
    for place, row in enumerate(rows[: _LOOKED_AT if column.wrong else None]):
        if place in column.left_out:
            continue
        wrong = row.fault or column.faults.get(place)
        item = None if wrong else make(row.text)
        if item is None:
            bad.append((row.line, wrong or fault(row.text)))
        else:
            label = column.texts[place]
            kept.append(row if row.label == label else replace(row, label=label))
            made.append(item)
    if column.wrong or (bad and not options.skip_bad):
        raise DataError(refusal(path, column.wrong, bad))
    if not kept:
        raise NoSoundRows(none_usable(path, len(rows)), bad)
    for line, wrong in bad if options.on_skip is not None else ():
        assert options.on_skip is not None
        options.on_skip(line, wrong)
    return kept, made, [line for line, _ in bad]


def none_usable(path: Path, total: int) -> str:
    """What is said where all rows are bad."""
    return f"{path}: none of its {total} rows can be used: check that the right columns were chosen"


def wrong_width(width: int, cells: int) -> str:
    """What is wrong with a row that has more or fewer cells than there are columns."""
    return f"expected {width} cells as in the header (got {cells})"


def refusal(path: Path, wrong: str | None, bad: Sequence[tuple[int, str]]) -> str:
    """All that is wrong with a file in one message: its label column first, then its rows."""
    advice = "skip all such rows with --skip-bad (skip_bad=True in Python)"
    if not bad:
        return wrong or ""
    if not wrong and len(bad) == 1:
        return f"{path} line {bad[0][0]}: {bad[0][1]}. Correct or remove the row, or {advice}"
    listed = [f"  line {line}: {fault}" for line, fault in bad[:_SHOWN]]
    listed += [f"  … and {len(bad) - _SHOWN} more"] if len(bad) > _SHOWN else []
    rows = f"{len(bad)} rows of {path} cannot be used" if len(bad) > 1 else f"One row of {path} cannot be used"
    head = [wrong, f"And {rows[0].lower() + rows[1:]}:"] if wrong else [f"{rows}:"]
    return "\n".join([*head, *listed, f"Correct or remove them, or {advice}"])


def _classes(
    path: Path, kept: Sequence[Row], column: LabelColumn, classes: tuple[str, ...] | None
) -> tuple[Tensor | None, tuple[str, ...]]:
    """Classes ``[G]`` of the rows that are kept, and their names."""
    if not column.has_labels:
        return None, classes or ()
    texts = [row.label for row in kept]

    def where(place: int) -> str:
        return f"{path} line {kept[place].line}"

    if column.names:
        return to_known_classes(texts, column.names, where), column.names
    return to_classes(texts, where)


def _settled(found: FoundColumns, kind: RawKind) -> dict[str, str]:
    """The columns that were found, by name; one without a header has none."""
    header = found.table.header
    settled: dict[str, str] = {}
    if found.has_header and header[found.text_at] != MOLBLOCK:
        settled[kind.option] = header[found.text_at]
    if found.has_header and found.label_at is not None:
        settled["label"] = header[found.label_at]
    return settled
