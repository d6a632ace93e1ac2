"""Molecules to graphs with RDKit: atoms are nodes, bonds are edges, and every column has a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.errors import DataError
from protgnn.featurizers.atom_columns import AtomColumns, BondColumns, MoleculeReader
from protgnn.featurizers.atom_properties import ATOM_PROPERTIES, property_columns
from protgnn.featurizers.smiles_limits import smiles_fault
from protgnn.io.limits import check_limit, limits
from protgnn.io.printable import printable

if TYPE_CHECKING:
    from rdkit.Chem import Mol

ELEMENTS = (
    *("C", "N", "O", "S", "F", "Cl", "Br", "I", "P", "B", "Si", "Se", "H", "Li", "Na", "K", "Mg", "Ca", "Ba", "Al"),
    *("Ti", "V", "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ge", "As", "Ru", "Rh", "Pd", "Ag", "Cd", "Sn", "Sb", "Te"),
    *("Gd", "Pt", "Au", "Hg", "Tl", "Pb", "Bi"),
)
_BLANK = re.compile(r"[\s\0]")
_HYBRIDS = ("S", "SP", "SP2", "SP3", "SP3D", "SP3D2")
_BONDS = ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")
_MOLECULES_KEPT = 4096  # parsed, at about ten kilobytes each
_READ_AT_ONCE = 4096  # molecules whose atoms are handled as one array

_ATOM_GROUPS: tuple[tuple[str, ...], ...] = (
    (*(f"element={element}" for element in ELEMENTS), "element=other"),
    tuple(f"degree={count}" for count in ("0", "1", "2", "3", "4", "5", "6+")),
    tuple(f"hydrogens={count}" for count in ("0", "1", "2", "3", "4+")),
    tuple(f"charge={charge}" for charge in ("-2", "-1", "0", "+1", "+2")),
    (*(f"hybrid={hybrid}" for hybrid in _HYBRIDS), "hybrid=other"),
    ("aromatic",),
    ("ring",),
    ("chirality=none", "chirality=R", "chirality=S"),
)
_BOND_GROUPS: tuple[tuple[str, ...], ...] = (
    (*(f"bond={bond.lower()}" for bond in _BONDS), "bond=other"),
    ("conjugated",),
    ("ring",),
    ("stereo=none", "stereo=E", "stereo=Z"),
)
ATOM_FEATURES: tuple[str, ...] = (*(name for group in _ATOM_GROUPS for name in group), *ATOM_PROPERTIES)
BOND_FEATURES: tuple[str, ...] = tuple(name for group in _BOND_GROUPS for name in group)


def molecule_schema(class_names: tuple[str, ...] = ()) -> Schema:
    """The schema of every graph made from SMILES."""
    return Schema("molecule", class_names, ATOM_FEATURES, BOND_FEATURES, "molecule")


@contextmanager
def quiet() -> Iterator[None]:
    """Keep RDKit's own complaints off the terminal: ours say which row and what to do."""
    from rdkit import rdBase

    block = rdBase.BlockLogs()
    try:
        yield
    finally:
        del block


@lru_cache(maxsize=_MOLECULES_KEPT)
def parse(smiles: str) -> Mol | None:
    """A sanitised molecule with at least one atom, or nothing.

    The last few thousand are kept, so that a molecule is parsed once to be read, named and drawn. Everyone gets the
    same object: change a copy, ``Chem.Mol(mol)``, never this one.
    """
    return parse_anew(smiles)


def parse_anew(smiles: str) -> Mol | None:
    """The same, and nothing is kept: for rows that are read once, of which more than fit into the cache would slow
    everything down."""
    from rdkit import Chem

    if not smiles or _BLANK.search(smiles):
        return None  # RDKit would read what follows a space as a title
    if smiles_fault(smiles) is not None:
        return None
    try:
        mol = Chem.MolFromSmiles(smiles)
    except (RuntimeError, ValueError):  # text that is no UTF-8, and RDKit's own failures
        return None
    return mol if mol is not None and mol.GetNumAtoms() else None


def why_unreadable(smiles: str) -> str:
    """Why :func:`parse` makes nothing of a text."""
    if not smiles:
        return "the SMILES is missing"
    if is_inchi(smiles):
        return f"{shorten(smiles)} is an InChI, not a SMILES: convert it by Chem.MolToSmiles(Chem.MolFromInchi(text))"
    fault = smiles_fault(smiles)
    if fault:
        return f"the SMILES {shorten(smiles)} has {fault}"
    problem = chemical_problem(smiles)
    return f"RDKit cannot read the SMILES {shorten(smiles)}" + (f" ({problem})" if problem else "")


def is_inchi(text: str) -> bool:
    """Whether a text is an InChI, which is refused: what could keep RDKit busy for long is known of SMILES alone."""
    return text.lstrip().lower().startswith("inchi=")


def chemical_problem(smiles: str) -> str | None:
    """What RDKit says is wrong with the chemistry of a SMILES; nothing where it is no SMILES at all."""
    from rdkit import Chem

    with quiet():
        try:
            mol = None if _BLANK.search(smiles) else Chem.MolFromSmiles(smiles, sanitize=False)
            problems = [] if mol is None else Chem.DetectChemistryProblems(mol)
        except (RuntimeError, ValueError):
            return None
    return problems[0].Message().strip() if problems else None


def pattern(smarts: str) -> Mol:
    """A SMARTS query."""
    from rdkit import Chem

    with quiet():
        query = Chem.MolFromSmarts(smarts)
    if query is None:
        raise DataError(f"RDKit cannot read the SMARTS pattern {shorten(smarts)}")
    return query


def from_smiles(
    smiles: Sequence[str], y: Tensor | None = None, class_names: tuple[str, ...] = (), truth: Mol | None = None
) -> GraphSet:
    """Graphs of SMILES, named by them; the nodes are numbered as RDKit numbers the atoms.

    ``truth`` is a SMARTS query: ``node_mask`` then marks the atoms of all its matches. Raises ``DataError`` for the
    first SMILES that cannot be read.
    """
    mols = []
    with quiet():
        for number, text in enumerate(smiles):
            mol = parse(text)
            if mol is None:
                raise DataError(f"Molecule {number}: {why_unreadable(text)}: fix or remove it")
            mols.append(mol)
    return from_molecules(mols, smiles, y, class_names, truth)


def from_molecules(
    mols: Sequence[Mol],
    names: Sequence[str],
    y: Tensor | None = None,
    class_names: tuple[str, ...] = (),
    truth: Mol | None = None,
) -> GraphSet:
    """Graphs of parsed molecules; ``names`` are the SMILES they were parsed from."""
    from rdkit import Chem

    check_limit("nodes", sum(mol.GetNumAtoms() for mol in mols), f"{len(mols)} molecules")
    graphs = MoleculeGraphs(mols.__getitem__, truth)
    for mol in mols:
        graphs.add(Chem.Mol(mol))  # molecules are shared: see `parse`
    return graphs.finished(names, y, class_names)


class MoleculeGraphs:
    """Makes graphs of molecules that are added one after another: nobody has to hold them.

    Args:
        again: Gives a molecule once more, by its number: for a few of them, RDKit has to be asked again.
        truth: A SMARTS query: ``node_mask`` marks the atoms of all its matches.
    """

    def __init__(self, again: Callable[[int], Mol], truth: Mol | None = None) -> None:
        self._again, self._truth, self._most = again, truth, limits().nodes
        self._read, self._added, self._atoms = MoleculeReader(), 0, 0
        self._blocks: list[GraphSet] = []
        self._marked: list[np.ndarray] = []

    def add(self, mol: Mol) -> None:
        """Read a molecule, in which RDKit stores what it computes. Those that are too many are counted alone."""
        self._added += 1
        self._atoms += mol.GetNumAtoms()
        if self._atoms > self._most:
            return
        if self._truth is not None:
            self._marked.append(matched_atoms(mol, self._truth))
        self._read.add(mol)
        if len(self._read) == _READ_AT_ONCE:
            self._finish_block()

    def finished(self, names: Sequence[str], y: Tensor | None = None, class_names: tuple[str, ...] = ()) -> GraphSet:
        """The graphs of all molecules that were added; ``names`` are the SMILES they were parsed from."""
        check_limit("nodes", self._atoms, f"{self._added} molecules")
        if len(self._read) or not self._blocks:
            self._finish_block()
        return replace(
            GraphSet.concatenate(self._blocks),
            y=y,
            node_mask=torch.from_numpy(np.concatenate(self._marked)) if self._marked else None,
            names=tuple(names),
            schema=molecule_schema(class_names),
        )

    def _finish_block(self) -> None:
        first = sum(map(len, self._blocks))
        self._blocks.append(_graphs(self._read, lambda number: self._again(first + number)))
        self._read = MoleculeReader()


def _graphs(read: MoleculeReader, again: Callable[[int], Mol]) -> GraphSet:
    """Graphs of the molecules that were read, without names and labels."""
    atoms, bonds = read.atoms(), read.bonds()
    # Both directions of every bond, in the canonical order of `data/canonical_edges.py`: by graph, target, source.
    source, target = np.concatenate([bonds.begin, bonds.end]), np.concatenate([bonds.end, bonds.begin])
    order = np.argsort(target * max(len(atoms.element), 1) + source)
    first = atoms.ptr[np.repeat(np.tile(np.arange(len(read)), 2), np.tile(np.diff(bonds.ptr), 2))]
    attributes = _one_hot(_BOND_GROUPS, _bond_choices(bonds))
    named = _one_hot(_ATOM_GROUPS, _atom_choices(atoms))
    return GraphSet(
        x=torch.from_numpy(np.concatenate([named, property_columns(atoms, bonds, again)], 1)),
        edge_index=torch.from_numpy(np.stack([(source - first)[order], (target - first)[order]])),
        node_ptr=torch.from_numpy(atoms.ptr),
        edge_ptr=torch.from_numpy(2 * bonds.ptr),
        edge_attr=torch.from_numpy(np.tile(attributes, (2, 1))[order]),
    )


def matched_atoms(mol: Mol, query: Mol) -> np.ndarray:
    """A bool per atom: whether it is part of any match of the query."""
    found = np.zeros(mol.GetNumAtoms(), dtype=bool)
    for match in mol.GetSubstructMatches(query, maxMatches=100_000):
        found[list(match)] = True
    return found


def shorten(text: str, limit: int = 60) -> str:
    """A text in quotation marks as a message shows it: backslashes are those of a SMILES, controls are spelled out."""
    return f"'{printable(text if len(text) <= limit else text[: limit - 1] + '…')}'"


def _one_hot(groups: Sequence[tuple[str, ...]], choices: Sequence[np.ndarray]) -> np.ndarray:
    """Choices ``[N]`` within each group of columns as ``[N, columns]``; a group of one column is a flag."""
    widths = [len(group) for group in groups]
    rows = np.arange(len(choices[0]))
    table = np.zeros((len(rows), sum(widths)), dtype=np.float32)
    for start, width, choice in zip(np.cumsum([0, *widths[:-1]]), widths, choices, strict=True):
        if width == 1:
            table[:, start] = choice
        else:
            table[rows, start + choice] = 1.0
    return table


def _atom_choices(atoms: AtomColumns) -> tuple[np.ndarray, ...]:
    """For each of ``_ATOM_GROUPS`` which of its columns is 1, ``[N]``."""
    return (
        _element_choices()[atoms.element],
        np.minimum(atoms.degree, 6),
        np.minimum(atoms.hydrogens, 4),
        np.clip(atoms.charge, -2, 2) + 2,
        _choices("HybridizationType", _HYBRIDS)[atoms.hybrid],
        atoms.aromatic,
        atoms.rings > 0,
        atoms.chirality,
    )


def _bond_choices(bonds: BondColumns) -> tuple[np.ndarray, ...]:
    """For each of ``_BOND_GROUPS`` which of its columns is 1, ``[E]``."""
    return _choices("BondType", _BONDS)[bonds.kind], bonds.conjugated, bonds.ring, bonds.stereo


@cache
def _element_choices() -> np.ndarray:
    """Position of every atomic number in ``ELEMENTS``; 0 (a dummy atom) and rare ones are *other*."""
    from rdkit import Chem

    table = Chem.GetPeriodicTable()
    choices = np.full(119, len(ELEMENTS))
    choices[[table.GetAtomicNumber(symbol) for symbol in ELEMENTS]] = np.arange(len(ELEMENTS))
    return choices


@cache
def _choices(kind: str, names: tuple[str, ...]) -> np.ndarray:
    """Position among ``names`` of every value of one of RDKit's enumerations; others come behind the last."""
    from rdkit import Chem

    known = getattr(Chem, kind).names
    choices = np.full(max(map(int, known.values())) + 1, len(names))
    choices[[int(known[name]) for name in names]] = np.arange(len(names))
    return choices
