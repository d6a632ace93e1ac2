"""Files that are tables, by how their names end. Needs no PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from protgnn.io.parquet import read_parquet
from protgnn.io.sheets import read_sheet
from protgnn.io.structure_files import read_sdf, read_smiles_lines, smiles_table
from protgnn.io.tables import Table, csv_table, read_table
from protgnn.io.text import ending
from protgnn.io.text_stream import LineStream, is_long

CSV_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
SHEET_SUFFIXES = (".xlsx",)
SDF_SUFFIXES = (".sdf", ".sdf.gz")
LINES_SUFFIXES = (".smi", ".smi.gz")
PARQUET_SUFFIXES = (".parquet",)

_OPENERS: dict[str, Callable[[Path], Table]] = {
    **dict.fromkeys(CSV_SUFFIXES, read_table),
    **dict.fromkeys(SHEET_SUFFIXES, read_sheet),
    **dict.fromkeys(SDF_SUFFIXES, read_sdf),
    **dict.fromkeys(LINES_SUFFIXES, read_smiles_lines),
    **dict.fromkeys(PARQUET_SUFFIXES, read_parquet),
}


def is_table(path: Path) -> bool:
    """Whether a file is a table by its name."""
    return ending(path) in _OPENERS


def open_table(path: str | Path) -> Table:
    """The table of a file; what is no table by its name is read as a CSV."""
    path = Path(path)
    return _OPENERS.get(ending(path), read_table)(path)


def stream_table(path: Path) -> Table:
    """The table of a file, of which rows are read as they are asked for if it is long and its format allows that; what
    is no table by its name has a SMILES in each line."""
    kind = ending(path)
    if kind in CSV_SUFFIXES and is_long(path):
        lines = LineStream(path)
        table = csv_table(path, lines, [])
    elif (kind in LINES_SUFFIXES or not is_table(path)) and is_long(path):
        lines = LineStream(path)
        table = smiles_table(path, lines, [])
    else:
        return open_table(path) if is_table(path) else read_smiles_lines(path)
    table.share_read = lines.share_read
    return table
