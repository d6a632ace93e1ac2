"""SDF: structures with coordinates, whose properties are columns."""

from __future__ import annotations

from protgnn.datasets.readers.molecule_rows import OPTIONS, load_molecules, load_new_molecules
from protgnn.datasets.readers.open_table import SDF_SUFFIXES
from protgnn.datasets.readers.reader import Reader

READERS = (
    Reader(
        what="an SDF",
        suffixes=SDF_SUFFIXES,
        options=OPTIONS,
        read=load_molecules,
        read_new=load_new_molecules,
        kind="molecule",
    ),
)
