"""Files of SMILES: a CSV with a header, or a text with one SMILES per line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.datasets.readers.reader import Labels, Loaded, OnSkip, RawKind, Reader, Source, Table
from protgnn.datasets.readers.rows import check_takes_smiles, csv_rows, line_rows, on_lines
from protgnn.featurizers.molecule import from_molecules, parse, quiet, why_unreadable

if TYPE_CHECKING:
    from rdkit.Chem import Mol

SMILES = RawKind(
    "SMILES",
    "smiles",
    ("smiles", "canonical_smiles", "isomeric_smiles", "smiles_string", "smi", "molecule", "mol", "structure"),
)


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
    table = source if isinstance(source, Table) else Table.of(source)
    rows = csv_rows(table, SMILES, smiles, label, "needed" if classes is None else labels)
    with quiet():
        kept, mols, notes = rows.sound(parse, why_unreadable, skip_bad, on_skip)
    y, names = rows.classes(kept, classes, notes)
    if classes is None and y is not None:
        notes += _repeated(mols, y.tolist())
    graphs = from_molecules(mols, [row.text for row in kept], y, names, truth)
    return on_lines(graphs, (row.line for row in kept)), notes


def _repeated(mols: Sequence[Mol], labels: Sequence[int]) -> list[str]:
    """A note on molecules that occur more than once, however they are written."""
    from rdkit.Chem import MolToSmiles

    found: dict[str, list[int]] = {}
    for mol, label in zip(mols, labels, strict=True):
        found.setdefault(MolToSmiles(mol), []).append(label)
    several = [one for one in found.values() if len(one) > 1]
    if not several:
        return []
    disputed = sum(len(set(one)) > 1 for one in several)
    return [
        f"{len(several)} molecules occur more than once ({sum(map(len, several))} rows), "
        f"{disputed or 'none'} of them with different labels: copies stay in one part of a split"
    ]


def read_smi(path: str | Path, skip_bad: bool = False, on_skip: OnSkip | None = None) -> tuple[GraphSet, list[str]]:
    """Graphs from a text with one SMILES per line (a title after a space is ignored), without labels."""
    with quiet():
        kept, mols, notes = line_rows(Path(path), SMILES).sound(
            _parse_first, lambda line: why_unreadable(_first(line)), skip_bad, on_skip
        )
    return on_lines(from_molecules(mols, [_first(row.text) for row in kept]), (row.line for row in kept)), notes


def _first(line: str) -> str:
    return line.split()[0]


def _parse_first(line: str) -> Mol | None:
    return parse(_first(line))


def _read(source: Source) -> Loaded:
    options = source.options
    return Loaded(*read_csv(source.table, options.smiles, options.label, options.skip_bad))


def _read_new(source: Source, schema: Schema, labels: Labels) -> tuple[GraphSet, list[str]]:
    check_takes_smiles(str(source.path), schema)
    options, classes = source.options, schema.class_names
    return read_csv(
        source.table,
        options.smiles,
        options.label,
        options.skip_bad,
        classes,
        labels=labels,
        on_skip=options.on_skip,
    )


def _read_new_lines(source: Source, schema: Schema, labels: Labels) -> tuple[GraphSet, list[str]]:
    check_takes_smiles(str(source.path), schema)
    return read_smi(source.path, source.options.skip_bad, source.options.on_skip)


READERS = (
    Reader(
        what="a CSV of molecules",
        suffixes=(".csv", ".tsv"),
        options=frozenset({"smiles", "label", "skip-bad"}),
        read=_read,
        read_new=_read_new,
        raw=SMILES,
        kind="molecule",
    ),
    Reader(
        what="a text of SMILES",
        suffixes=(".smi", ".txt"),
        options=frozenset({"skip-bad"}),
        read_new=_read_new_lines,
        kind="molecule",
    ),
)
