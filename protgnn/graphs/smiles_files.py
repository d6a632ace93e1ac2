"""Files of SMILES: a CSV with a header, or a text with one SMILES per line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from protgnn.errors import DataError
from protgnn.graphs.labels import LABEL_COLUMNS, is_missing, to_classes, to_known_classes
from protgnn.graphs.molecules import from_molecules, parse, quiet, shorten
from protgnn.graphs.packed import GraphSet
from protgnn.graphs.tables import listed, named_column, read_table, unique_column
from protgnn.graphs.text_files import read_text

if TYPE_CHECKING:
    from rdkit.Chem import Mol
    from torch import Tensor

SMILES_COLUMNS = (
    "smiles",
    "canonical_smiles",
    "isomeric_smiles",
    "smiles_string",
    "smi",
    "molecule",
    "mol",
    "structure",
)
_SHOWN = 5  # skipped rows named in a note


@dataclass(frozen=True)
class _Row:
    """One row of a file: where it is, what it says, and what is wrong with it if anything is."""

    line: int
    smiles: str
    label: str | None = None
    fault: str | None = None


def read_csv(
    path: str | Path,
    smiles: str | None = None,
    label: str | None = None,
    skip_bad: bool = False,
    classes: tuple[str, ...] | None = None,
    truth: Mol | None = None,
) -> tuple[GraphSet, list[str]]:
    """Graphs from a CSV of SMILES, and notes on what was skipped.

    ``smiles`` and ``label`` name the columns; without them they are guessed. With ``classes`` (those of a trained
    model) labels are optional and must be among them. ``truth`` is a SMARTS query whose matches become ``node_truth``.
    """
    path = Path(path)
    header, body = read_table(path)
    smiles_at = _smiles_column(path, header, smiles)
    label_at = _label_column(path, header, smiles_at, label, required=classes is None)
    rows = [_row(line, cells, len(header), smiles_at, label_at, label_needed=classes is None) for line, cells in body]
    kept, mols, notes = _sound(path, rows, skip_bad)

    y: Tensor | None = None
    names: tuple[str, ...] = classes or ()
    texts = [row.label for row in kept]
    if label_at is not None and classes is None:
        y, names = to_classes([text or "" for text in texts], lambda place: f"{path} line {kept[place].line}")
    elif label_at is not None and not any(text is None or is_missing(text) for text in texts):
        try:
            y = to_known_classes([text or "" for text in texts], names, lambda place: f"{path} line {kept[place].line}")
        except DataError:
            if label is not None or header[label_at].strip().lower() in LABEL_COLUMNS:
                raise  # otherwise it was only a guess that this column holds labels
    return from_molecules(mols, [row.smiles for row in kept], y, names, truth), notes


def read_smi(path: str | Path, skip_bad: bool = False) -> tuple[GraphSet, list[str]]:
    """Graphs from a text with one SMILES per line (a title after a space is ignored), without labels."""
    path = Path(path)
    lines = read_text(path).split("\n")
    rows = [_Row(number, text.split()[0]) for number, text in enumerate(lines, 1) if text.strip()]
    if not rows:
        raise DataError(f"{path} has no SMILES: write one per line")
    kept, mols, notes = _sound(path, rows, skip_bad)
    return from_molecules(mols, [row.smiles for row in kept]), notes


def _smiles_column(path: Path, header: list[str], name: str | None) -> int:
    if name is not None:
        return named_column(path, header, name, "smiles")
    for known in SMILES_COLUMNS:
        found = [column for column in header if column.lower() == known]
        if found:
            return unique_column(path, header, found[0])
    raise DataError(
        f"{path} line 1: which column holds the SMILES? Expected a header with a column `smiles` "
        f"(got the columns {listed(header)}): choose one with `smiles`"
    )


def _label_column(path: Path, header: list[str], smiles_at: int, name: str | None, required: bool) -> int | None:
    if name is not None:
        return named_column(path, header, name, "label")
    others = [column for place, column in enumerate(header) if place != smiles_at]
    found = [column for column in others if column.lower() in LABEL_COLUMNS]
    if len(set(found)) == 1:
        return unique_column(path, header, found[0])
    if len(others) == 1:
        return header.index(others[0])
    if not required:
        return None
    raise DataError(
        f"{path} line 1: which column holds the label? Its columns are {listed(header)}: choose one with `label`"
    )


def _row(line: int, cells: list[str], width: int, smiles_at: int, label_at: int | None, label_needed: bool) -> _Row:
    if not any(cell.strip() for cell in cells):
        return _Row(line, "", fault="the row is empty")
    if len(cells) != width:
        return _Row(line, "", fault=f"expected {width} cells as in the header (got {len(cells)})")
    label = None if label_at is None else cells[label_at]
    fault = "the label is missing" if label is not None and label_needed and is_missing(label) else None
    return _Row(line, cells[smiles_at].strip(), label, fault)


def _sound(path: Path, rows: Sequence[_Row], skip_bad: bool) -> tuple[list[_Row], list[Mol], list[str]]:
    """The rows that can be used and their molecules; the first bad one is an error unless they may be skipped."""
    kept: list[_Row] = []
    mols: list[Mol] = []
    bad: list[int] = []
    with quiet():
        for row in rows:
            mol = None if row.fault else parse(row.smiles)
            if mol is not None:
                kept.append(row)
                mols.append(mol)
            elif skip_bad:
                bad.append(row.line)
            else:
                fault = row.fault or _smiles_fault(row.smiles)
                raise DataError(
                    f"{path} line {row.line}: {fault}. Mend or remove the row, "
                    "or skip all such rows with --skip-bad (skip_bad=True in Python)"
                )
    if not kept:
        raise DataError(f"{path}: none of its {len(rows)} rows can be used: check that the right columns were chosen")
    return kept, mols, [_skipped(path, len(rows), bad)] if bad else []


def _smiles_fault(smiles: str) -> str:
    return f"RDKit cannot read the SMILES {shorten(smiles)}" if smiles else "the SMILES is missing"


def _skipped(path: Path, total: int, bad: list[int]) -> str:
    shown = ", ".join(str(line) for line in bad[:_SHOWN])
    more = ", …" if len(bad) > _SHOWN else ""
    return f"Skipped {len(bad)} of {total} rows of {path.name} that cannot be used (lines {shown}{more})"
