"""Files that are tables, by how their names end. Needs no PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from protgnn.io.sheets import read_sheet
from protgnn.io.structure_files import read_sdf, read_smiles_lines
from protgnn.io.tables import Table, read_table
from protgnn.io.text import ending

CSV_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
SHEET_SUFFIXES = (".xlsx",)
SDF_SUFFIXES = (".sdf", ".sdf.gz")
LINES_SUFFIXES = (".smi", ".smi.gz")

_OPENERS: dict[str, Callable[[Path], Table]] = {
    **dict.fromkeys(CSV_SUFFIXES, read_table),
    **dict.fromkeys(SHEET_SUFFIXES, read_sheet),
    **dict.fromkeys(SDF_SUFFIXES, read_sdf),
    **dict.fromkeys(LINES_SUFFIXES, read_smiles_lines),
}


def is_table(path: Path) -> bool:
    """Whether a file is a table by its name."""
    return ending(path) in _OPENERS


def open_table(path: str | Path) -> Table:
    """The table of a file; what is no table by its name is read as a CSV."""
    path = Path(path)
    return _OPENERS.get(ending(path), read_table)(path)
