"""Tables of molecules, whatever file they come from: parsed, standardised and counted once if the user wants that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.datasets.readers.label_column import lines_named
from protgnn.datasets.readers.options import SMILES, Labels, Option, ReadOptions
from protgnn.datasets.readers.reader import Loaded, Source
from protgnn.datasets.readers.rows import Row, SoundRows, check_takes_smiles, on_lines, sound_rows
from protgnn.errors import DataError
from protgnn.featurizers.molecule import (
    MoleculeGraphs,
    from_molecules,
    parse,
    parse_anew,
    quiet,
    shorten,
    why_unreadable,
)
from protgnn.featurizers.standardise import has_carbon, standardised_smiles
from protgnn.io.limits import over_limit
from protgnn.io.structure_files import MOLBLOCK
from protgnn.io.tables import Table

if TYPE_CHECKING:
    from rdkit.Chem import Mol


OPTIONS: frozenset[Option] = frozenset({"smiles", "label", "skip-bad", "threshold", "bins", "standardise", "dedupe"})
"""What a user may say of a table of molecules."""


@dataclass(frozen=True)
class Molecule:
    """A molecule and the SMILES that it is named by."""

    mol: Mol
    smiles: str


Make: TypeAlias = Callable[[str], Molecule | None]
Parse: TypeAlias = "Callable[[str], Mol | None]"


@dataclass(frozen=True)
class MoleculeRows:
    """Graphs of the molecules of a table, notes, and what was settled of columns and ranges."""

    graphs: GraphSet
    notes: list[str]
    settled: dict[str, str]


def read_molecules(
    table: Table,
    options: ReadOptions,
    classes: tuple[str, ...] | None = None,
    labels: Labels = "welcome",
    truth: Mol | None = None,
) -> MoleculeRows:
    """Graphs of a table of molecules; see ``sound_rows`` for the arguments.

    ``truth`` is a SMARTS query whose matches become ``node_mask``.
    """
    of_blocks = MOLBLOCK in table.header and options.smiles is None
    read, fault = (_from_block, _why_no_block) if of_blocks else (_from_smiles, _why_no_smiles)
    parsed = parse if classes is None else parse_anew

    def make(text: str) -> Molecule | None:
        molecule = read(text, parsed)
        return _standard(molecule, parsed) if options.standardise else molecule

    with quiet():
        if classes is None:
            found = _read_to_learn(table, options, make, fault, truth)
        else:
            found = _read_to_predict(table, options, make, fault, labels, classes, truth)
    if not options.standardise:
        return found
    return replace(found, graphs=replace(found.graphs, schema=replace(found.graphs.schema, standardise=True)))


def _read_to_learn(
    table: Table, options: ReadOptions, make: Make, fault: Callable[[str], str], truth: Mol | None
) -> MoleculeRows:
    """Molecules are held until all rows were read, since copies are looked for among them."""
    rows = sound_rows(table, SMILES, options, make, fault)
    notes = list(rows.notes)
    if options.standardise:
        notes += _changed(rows.rows, [(one.smiles, has_carbon(one.mol)) for one in rows.made])
    if rows.y is not None:
        rows, about = _deduped(rows) if options.dedupe else (rows, _repeated(rows))
        notes += about
    mols, names = [one.mol for one in rows.made], [one.smiles for one in rows.made]
    graphs = from_molecules(mols, names, rows.y, rows.class_names, truth)
    return MoleculeRows(on_lines(graphs, rows.lines), notes, rows.settled)


def _read_to_predict(
    table: Table,
    options: ReadOptions,
    make: Make,
    fault: Callable[[str], str],
    labels: Labels,
    classes: tuple[str, ...],
    truth: Mol | None,
) -> MoleculeRows:
    """Each molecule is read right after it was parsed, and let go: see ``MoleculeReader``."""
    names: list[str] = []

    def again(number: int) -> Mol:
        mol = parse_anew(names[number])
        assert mol is not None  # it was read before
        return mol

    graphs = MoleculeGraphs(again, truth)

    def add(text: str) -> tuple[str, bool] | None:
        """What ``_changed`` asks for. No row of which something was made is left out afterwards."""
        molecule = make(text)
        if molecule is None:
            return None
        names.append(molecule.smiles)
        organic = not options.standardise or has_carbon(molecule.mol)
        graphs.add(molecule.mol)
        return molecule.smiles, organic

    rows = sound_rows(table, SMILES, options, add, fault, labels, classes)
    notes = rows.notes + (_changed(rows.rows, rows.made) if options.standardise else [])
    return MoleculeRows(on_lines(graphs.finished(names, rows.y, rows.class_names), rows.lines), notes, rows.settled)


def load_molecules(source: Source) -> Loaded:
    """Molecules to learn from."""
    read = read_molecules(source.table, source.options)
    return Loaded(read.graphs, read.notes, settled=read.settled)


def load_new_molecules(source: Source, schema: Schema, labels: Labels) -> tuple[GraphSet, list[str]]:
    """Molecules for a trained model, standardised if its own were."""
    check_takes_smiles(str(source.path), schema)
    options = replace(source.options, standardise=schema.standardise)
    read = read_molecules(source.table, options, schema.class_names, labels)
    return read.graphs, read.notes


def _from_smiles(text: str, parsed: Parse) -> Molecule | None:
    smiles = text.strip()
    mol = parsed(smiles)
    return None if mol is None else Molecule(mol, smiles)


def _why_no_smiles(text: str) -> str:
    return why_unreadable(text.strip())


def _from_block(text: str, parsed: Parse) -> Molecule | None:
    """A structure of an SDF, named by its canonical SMILES and numbered as that is."""
    from rdkit.Chem import MolToSmiles

    mol = _parsed_block(text)
    if mol is None or over_limit("atoms", mol.GetNumAtoms()):
        return None
    return _from_smiles(MolToSmiles(mol), parsed)


def _parsed_block(text: str) -> Mol | None:
    from rdkit.Chem import MolFromMolBlock

    try:
        mol = MolFromMolBlock(text) if text.strip() else None
    except (RuntimeError, ValueError):
        return None
    return mol if mol is not None and mol.GetNumAtoms() else None


def _why_no_block(text: str) -> str:
    title, mol = text.split("\n", 1)[0].strip(), _parsed_block(text)
    called = f"the structure{f' {shorten(title)}' if title else ''}"
    fault = None if mol is None else over_limit("atoms", mol.GetNumAtoms())
    return f"{called} has {fault}" if fault else f"RDKit cannot read {called}"


def _standard(molecule: Molecule | None, parsed: Parse) -> Molecule | None:
    """A molecule in its standard form; as it is where it has none."""
    smiles = None if molecule is None else standardised_smiles(molecule.mol)
    return molecule if smiles is None else _from_smiles(smiles, parsed)


def _changed(rows: Sequence[Row], made: Sequence[tuple[str, bool]]) -> list[str]:
    """Notes on molecules from which something was taken off, and on those that stayed as they are, by the SMILES made
    of each row and whether it has carbon."""
    lost = sum("." in row.text and "." not in smiles for row, (smiles, _) in zip(rows, made, strict=True))
    notes = [f"Standardised {len(made)} molecules: {lost} lost salts or solvents, charges are neutralised"]
    lines = [row.line for row, (_, organic) in zip(rows, made, strict=True) if not organic]
    if lines:
        notes.append(f"Of these, {len(lines)} without carbon stayed as written ({lines_named(lines)})")
    return notes


def _groups(rows: SoundRows[Molecule]) -> list[list[int]]:
    """Places of the rows of each molecule, however it is written."""
    from rdkit.Chem import MolToSmiles

    found: dict[str, list[int]] = {}
    for place, one in enumerate(rows.made):
        found.setdefault(MolToSmiles(one.mol), []).append(place)
    return list(found.values())


def _repeated(rows: SoundRows[Molecule]) -> list[str]:
    """A note on molecules that occur more than once."""
    assert rows.y is not None
    several = [group for group in _groups(rows) if len(group) > 1]
    if not several:
        return []
    disputed = sum(len(set(rows.y[group].tolist())) > 1 for group in several)
    return [
        f"{len(several)} molecule{'s occur' if len(several) > 1 else ' occurs'} more than once "
        f"({sum(map(len, several))} rows), "
        f"{disputed or 'none'} of them with different labels: copies stay in one part of a split"
    ]


def _deduped(rows: SoundRows[Molecule]) -> tuple[SoundRows[Molecule], list[str]]:
    """Each molecule once: the first row of those that agree; those of which rows disagree are left out, unless more
    than half of the rows are of one class."""
    assert rows.y is not None
    kept: list[int] = []
    outvoted = left_out = copies = 0
    for group in _groups(rows):
        (label, votes), *others = Counter(rows.y[group].tolist()).most_common()
        if others and 2 * votes <= len(group):
            left_out += 1
            continue
        outvoted += bool(others)
        copies += len(group) - 1
        kept.append(next(place for place in group if int(rows.y[place]) == label))
    if len(kept) == len(rows.rows):
        return rows, []
    if not kept:
        raise DataError(f"{rows.path}: all of its molecules have rows with different labels: correct these")
    kept.sort()
    note = f"Each molecule counts once: dropped {copies} {'copy' if copies == 1 else 'copies'}"
    if left_out:
        note += f", left out {left_out} {'molecule' if left_out == 1 else 'molecules'} whose rows disagree on the label"
    if outvoted:
        note += f", gave {outvoted} the label of most of {'its' if outvoted == 1 else 'their'} rows"
    made: Sequence[Molecule] = [rows.made[place] for place in kept]
    fewer = replace(rows, rows=[rows.rows[place] for place in kept], made=list(made), y=rows.y[kept])
    return fewer, [note]
