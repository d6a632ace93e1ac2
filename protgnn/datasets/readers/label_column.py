"""The label column of a table: what its cells mean, which rows say nothing, and what is wrong with which row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from protgnn.data.label_texts import (
    Ranges,
    ambiguous_comma,
    folded,
    merged_spellings,
    missing_labels,
    number,
    ranges_of,
)
from protgnn.data.labels import known_numbers, may_be_numbered, to_classes, unknown_class
from protgnn.datasets.readers.options import Labels, ReadOptions
from protgnn.errors import DataError

_SHOWN = 5  # lines named in a note


@dataclass
class LabelColumn:
    """The labels of the rows of a file.

    Attributes:
        texts: The labels, in one spelling each; those of ranges are their names.
        names: The classes, where they are known before rows are chosen: those of a model, or ranges.
        wrong: What is wrong with the column as a whole.
        faults: What is wrong with single rows, by their place.
        left_out: Places of rows that say nothing that could be learned from or scored against.
        has_labels: Whether there are labels at all.
        settled: Ranges as they were cut, to be used for other files.
    """

    texts: list[str]
    names: tuple[str, ...] = ()
    wrong: str | None = None
    faults: dict[int, str] = field(default_factory=dict)
    left_out: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    has_labels: bool = True
    settled: dict[str, str] = field(default_factory=dict)


def no_labels(count: int, names: tuple[str, ...]) -> LabelColumn:
    """For rows whose labels do not matter, or that have none."""
    return LabelColumn([""] * count, names, has_labels=False)


def labels_to_learn(path: Path, texts: Sequence[str], lines: Sequence[int], options: ReadOptions) -> LabelColumn:
    """Labels that say what the classes are."""
    column = LabelColumn(list(texts))
    _leave_out_missing(column, path, lines)
    told = [place for place in range(len(texts)) if place not in column.left_out]
    if not told:
        column.wrong = f"{path}: none of its {len(texts)} rows has a label: choose another label column"
        return column
    given = [texts[place] for place in told]
    marks = sorted({texts[place].strip() for place in column.left_out} - {""})
    if marks and len({folded(text) for text in given}) == 1:
        column.wrong = (
            f"{path}: all its labels are {given[0].strip()!r}, but for {len(column.left_out)} rows that have none or "
            f"say {', '.join(map(repr, marks[:_SHOWN]))}, which counts as none: write it out if it is a class"
        )
        return column
    try:
        ranges = ranges_of(options.threshold, options.bins, lambda: given)
        doubtful = ambiguous_comma(given)
        if doubtful is not None:
            raise DataError(
                f"{path} line {lines[told[doubtful]]}: {given[doubtful].strip()!r} may have a decimal comma or one "
                "between thousands: write it with a decimal point or without a comma"
            )
        if ranges is not None:
            _cut(column, ranges, told, path, lines)
            return column
        merged, notes = merged_spellings(given)
        to_classes(merged, lambda place: f"{path} line {lines[told[place]]}")
    except DataError as error:
        column.wrong = str(error)
        return column
    for place, text in zip(told, merged, strict=True):
        column.texts[place] = text
    column.notes += notes
    return column


def labels_of_model(
    path: Path,
    texts: Sequence[str],
    lines: Sequence[int],
    names: tuple[str, ...],
    options: ReadOptions,
    labels: Labels,
    surely: bool,
) -> LabelColumn:
    """Labels that must be classes of a model; where it was only a guess that they are labels, they may be nothing."""
    column = LabelColumn(list(texts), names)
    _leave_out_missing(column, path, lines)
    if column.left_out and (labels != "needed" or len(column.left_out) == len(texts)):
        return no_labels(len(texts), names)
    told = [place for place in range(len(texts)) if place not in column.left_out]
    found = known_numbers([texts[place] for place in told], names)
    ranges = _ranges_of_model(options, names)
    if ranges is not None and any(
        one is None or number(texts[place]) is not None for one, place in zip(found, told, strict=True)
    ):
        _cut(column, ranges, told, path, lines)
    else:
        for place, one in zip(told, found, strict=True):
            if one is None:
                column.faults[place] = unknown_class(texts[place], names)
            else:
                column.texts[place] = names[one]
    if column.faults and not surely:
        return no_labels(len(texts), names)
    if ranges is None and may_be_numbered(names) and not {text.strip() for text in texts} & set(names):
        taken = sorted({(one, names[one]) for one in found if one is not None and number(texts[0]) is not None})
        if taken:
            said = ", ".join(f"{one} as {name}" for one, name in taken)
            column.notes.append(
                f"The labels of {path.name} are numbers, and were taken for classes of the model: {said}"
            )
    return column


def lines_named(lines: Sequence[int], what: str = "line") -> str:
    """The first of some lines, or of ``what`` else is numbered, as a note names them: ``lines 3, 7, …``."""
    shown = ", ".join(map(str, lines[:_SHOWN])) + (", …" if len(lines) > _SHOWN else "")
    return f"{what}{'' if len(lines) == 1 else 's'} {shown}"


def _ranges_of_model(options: ReadOptions, names: tuple[str, ...]) -> Ranges | None:
    """The ranges that a model was trained on, if its classes are such."""
    threshold, bins = options.threshold, options.bins
    if threshold is None and bins is None:
        known = options.remembered
        threshold, bins = (str(known[key]) if known.get(key) else None for key in ("threshold", "bins"))
    ranges = ranges_of(threshold, bins, lambda: ())
    return ranges if ranges is not None and ranges.names == names else None


def _leave_out_missing(column: LabelColumn, path: Path, lines: Sequence[int]) -> None:
    missing = [place for place, nothing in enumerate(missing_labels(column.texts)) if nothing]
    if missing:
        column.left_out.update(missing)
        marks = sorted({column.texts[place].strip() for place in missing} - {""})
        how = f" or {', '.join(map(repr, marks[:_SHOWN]))} for one" if marks else ""
        column.notes.append(
            f"Left out {len(missing)} of {len(column.texts)} rows of {path.name} that have no label{how} "
            f"({lines_named([lines[place] for place in missing])})"
        )


def _cut(column: LabelColumn, ranges: Ranges, told: Sequence[int], path: Path, lines: Sequence[int]) -> None:
    """Measured values become the names of their ranges."""
    open_ended = []
    counts: Counter[str] = Counter()
    for place in told:
        try:
            found = ranges.place(column.texts[place])
        except ValueError:
            column.faults[place] = f"the label {column.texts[place][:60]!r} is no number, so that it is in no range"
            continue
        if found is None:
            open_ended.append(place)
        else:
            column.texts[place] = ranges.names[found]
            counts[column.texts[place]] += 1
    column.names = ranges.names
    column.settled = {"threshold": ranges.to_text()} if len(ranges.edges) == 1 else {"bins": ranges.to_text()}
    said = ", ".join(f"{counts[name]} of {name}" for name in ranges.names)
    column.notes.append(f"The values of {path.name} are cut into ranges: {said}")
    if open_ended:
        column.left_out.update(open_ended)
        column.notes.append(
            f"Left out {len(open_ended)} row{'' if len(open_ended) == 1 else 's'} of {path.name} whose value may be in "
            f"several ranges, such as "
            f"{column.texts[open_ended[0]].strip()!r} ({lines_named([lines[place] for place in open_ended])})"
        )
    empty = [name for name in ranges.names if not counts[name]]
    if empty and not column.faults:
        column.wrong = f"{path}: no value is {' or '.join(empty)}: cut elsewhere"
