"""Files of SMILES: a CSV with a header, or a text with one SMILES per line and perhaps a name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.datasets.readers.molecule_rows import OPTIONS, load_molecules, load_new_molecules, read_molecules
from protgnn.datasets.readers.open_table import CSV_SUFFIXES, LINES_SUFFIXES, open_table
from protgnn.datasets.readers.options import SMILES, Labels, OnSkip, ReadOptions
from protgnn.datasets.readers.reader import Reader, Source
from protgnn.io.structure_files import read_smiles_lines
from protgnn.io.tables import Table

if TYPE_CHECKING:
    from rdkit.Chem import Mol


def read_csv(
    source: str | Path | Table,
    smiles: str | None = None,
    label: str | None = None,
    skip_bad: bool = False,
    classes: tuple[str, ...] | None = None,
    truth: Mol | None = None,
    labels: Labels = "welcome",
    on_skip: OnSkip | None = None,
) -> tuple[GraphSet, list[str]]:
    """Graphs from a CSV of SMILES, and notes on what was skipped.

    ``smiles`` and ``label`` name the columns; without them they are guessed. With ``classes`` (those of a trained
    model) ``labels`` says what they are for, and they must be among them. ``truth`` is a SMARTS query whose matches
    become ``node_mask``. ``on_skip`` is told of each row that is skipped.
    """
    table = source if isinstance(source, Table) else open_table(source)
    options = ReadOptions(smiles=smiles, label=label, skip_bad=skip_bad, on_skip=on_skip)
    read = read_molecules(table, options, classes, labels, truth)
    return read.graphs, read.notes


def read_smi(path: str | Path, skip_bad: bool = False, on_skip: OnSkip | None = None) -> tuple[GraphSet, list[str]]:
    """Graphs from a text with one SMILES per line, without labels; a name behind it is passed over."""
    options = ReadOptions(skip_bad=skip_bad, on_skip=on_skip)
    read = read_molecules(read_smiles_lines(Path(path)), options, (), "ignored")
    return read.graphs, read.notes


def _read_new_lines(source: Source, schema: Schema, labels: Labels) -> tuple[GraphSet, list[str]]:
    """A ``.txt``, which is no table by its name."""
    lines = Source(source.path, source.options)
    lines.__dict__["table"] = read_smiles_lines(source.path)
    return load_new_molecules(lines, schema, "ignored")


READERS = (
    Reader(
        what="a CSV of molecules",
        suffixes=CSV_SUFFIXES,
        options=OPTIONS,
        read=load_molecules,
        read_new=load_new_molecules,
        raw=SMILES,
        kind="molecule",
    ),
    Reader(
        what="a text of SMILES with names",
        suffixes=LINES_SUFFIXES,
        options=OPTIONS,
        read=load_molecules,
        read_new=load_new_molecules,
        kind="molecule",
    ),
    Reader(
        what="a text of SMILES",
        suffixes=(".txt",),
        options=frozenset({"skip-bad"}),
        read_new=_read_new_lines,
        kind="molecule",
    ),
)
