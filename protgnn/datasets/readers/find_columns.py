"""Which column of a table holds the molecules or sentences, and which the label: by name, or else by contents.

Needs no PyTorch, so that a wrong column is told at once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from protgnn.data.label_texts import LABEL_COLUMNS, is_missing, number
from protgnn.datasets.readers.options import SMILES, Labels, RawKind, ReadOptions
from protgnn.errors import DataError
from protgnn.featurizers.smiles_limits import smiles_fault
from protgnn.io.structure_files import MOLBLOCK
from protgnn.io.tables import Table, listed, named_column, option, unique_column

LOOKED_AT = 200  # rows by whose contents a column is guessed
_PARSED = 20  # of them, how many are given to RDKit
_FEWEST = 3  # rows of a class
_MOST_CLASSES = 10  # of a label column that nobody named


@dataclass(frozen=True)
class FoundColumns:
    """The table with its rows still to come, where its columns stand, whether the labels surely are labels, notes, and
    whether the columns have names."""

    table: Table
    text_at: int
    label_at: int | None
    surely: bool
    notes: tuple[str, ...]
    has_header: bool = True


def find_columns(table: Table, kind: RawKind, options: ReadOptions, labels: Labels) -> FoundColumns:
    """Where raw input and labels stand in a table.

    Raises:
        DataError: Names every column that is wrong, the label's first.
    """
    cells = [row for row in table.peek(LOOKED_AT) if len(row) == len(table.header)]
    notes: list[str] = []
    problems: list[str] = []
    text_at, has_header = None, True
    try:
        text_at = _text_column(table, kind, options, cells, notes)
        if kind == SMILES and options.column(kind) is None and _is_smiles(table.header[text_at]):
            cells.insert(0, list(table.header))
            table, has_header = table.without_header(), False
    except DataError as error:
        problems.append(str(error))
    label_at = None
    try:
        if labels != "ignored":
            label_at = _label_column(table, text_at, options, labels == "needed", cells, notes)
    except DataError as error:
        problems.insert(0, str(error))
    if problems or text_at is None:
        raise DataError("\n".join(problems))
    named = options.label is not None or options.recalled("label", table.header) is not None
    known = label_at is not None and table.header[label_at].lower() in LABEL_COLUMNS
    return FoundColumns(table, text_at, label_at, labels == "needed" or named or known, tuple(notes), has_header)


def guess_smiles(header: list[str], cells: list[list[str]]) -> int | None:
    """The one column whose cells are SMILES; nothing if there is none, the first if there are several."""
    for place in range(len(header)):
        texts = [row[place].strip() for row in cells if row[place].strip()]
        told = [text for text in texts if not is_missing(text)][:_PARSED]
        if told and sum(map(len, told)) >= 3 * len(told) and 5 * sum(map(_is_smiles, told)) >= 4 * len(told):
            return place
    return None


def _text_column(table: Table, kind: RawKind, options: ReadOptions, cells: list[list[str]], notes: list[str]) -> int:
    path, header, name = table.path, table.header, options.column(kind)
    if name is not None:
        return named_column(path, header, name, option(kind.option))
    if kind == SMILES and MOLBLOCK in header:
        return header.index(MOLBLOCK)
    recalled = options.recalled(kind.option, header)
    if recalled is not None:
        return header.index(recalled)
    for known in kind.columns:
        found = [column for column in header if column.lower() == known]
        if found:
            return unique_column(path, header, found[0])
    place = guess_smiles(header, cells) if kind == SMILES else None
    if place is not None:
        if not _is_smiles(header[place]):
            notes.append(f"The SMILES of {path.name} are those of its column {header[place]!r}")
        return place
    raise DataError(
        f"{path} line {table.header_line}: which column holds the {kind.what}? Expected a header with a column "
        f"`{kind.columns[0]}` (got the columns {listed(header)}): choose one with {option(kind.option)}"
    )


def _label_column(
    table: Table,
    text_at: int | None,
    options: ReadOptions,
    required: bool,
    cells: list[list[str]],
    notes: list[str],
) -> int | None:
    path, header = table.path, table.header
    if options.label is not None:
        return named_column(path, header, options.label, option("label"))
    recalled = options.recalled("label", header)
    if recalled is not None:
        return header.index(recalled)
    places = [place for place in range(len(header)) if place != text_at and header[place]]
    found = [place for place in places if header[place].lower() in LABEL_COLUMNS]
    if len({header[place] for place in found}) == 1:
        place = unique_column(path, header, header[found[0]])
    elif len(places) == 1:
        place = places[0]
    elif not required:
        return None
    else:
        place = _guess_label(path, table, places, cells)
    if len(header) > 2:
        notes.append(f"The labels of {path.name} are those of its column {header[place]!r}")
    return place


def _guess_label(path: Path, table: Table, places: list[int], cells: list[list[str]]) -> int:
    """The one column that looks like classes: few different texts, each several times."""
    where = f"{path} line {table.header_line}: which column holds the label?"
    if not places:
        raise DataError(
            f"{where} With one column there are no labels to score against or learn from: add a column `label`"
        )
    likely = [place for place in places if _are_classes([row[place] for row in cells])]
    if len(likely) == 1:
        return likely[0]
    asked = [table.header[place] for place in likely or places]
    said = f"{listed(asked)} may be it" if likely else f"Its columns are {listed(table.header)}"
    raise DataError(f"{where} {said}: choose one with {option('label')}")


def _are_classes(texts: list[str]) -> bool:
    counts = Counter(text.strip() for text in texts if not is_missing(text))
    numbers = [number(text) for text in counts]
    measured = any(value is not None and not value.is_integer() for value in numbers)
    return 2 <= len(counts) <= _MOST_CLASSES and min(counts.values()) >= _FEWEST and not measured


def _is_smiles(text: str) -> bool:
    """Whether RDKit reads a text as a molecule, and it is no mere number."""
    from rdkit import Chem, rdBase

    plain = text.strip()
    if not plain or number(plain) is not None or any(map(str.isspace, plain)) or smiles_fault(plain) is not None:
        return False
    block = rdBase.BlockLogs()
    try:
        mol = Chem.MolFromSmiles(plain)
    except (RuntimeError, ValueError):
        return False
    finally:
        del block
    return mol is not None and mol.GetNumAtoms() > 0
