"""Molecules to graphs with RDKit: atoms are nodes, bonds are edges, and every column has a name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from protgnn.data.batch import offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.errors import DataError
from protgnn.featurizers.atom_properties import ATOM_PROPERTIES, atom_properties
from protgnn.featurizers.smiles_limits import smiles_fault
from protgnn.io.limits import check_limit

if TYPE_CHECKING:
    from rdkit.Chem import Atom, Bond, Mol

ELEMENTS = (
    *("C", "N", "O", "S", "F", "Cl", "Br", "I", "P", "B", "Si", "Se", "H", "Li", "Na", "K", "Mg", "Ca", "Ba", "Al"),
    *("Ti", "V", "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ge", "As", "Ru", "Rh", "Pd", "Ag", "Cd", "Sn", "Sb", "Te"),
    *("Gd", "Pt", "Au", "Hg", "Tl", "Pb", "Bi"),
)
_HYBRIDS = ("S", "SP", "SP2", "SP3", "SP3D", "SP3D2")
_BONDS = ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")
_MOLECULES_KEPT = 4096  # parsed, at about ten kilobytes each
_STEREO = {"STEREOE": "E", "STEREOTRANS": "E", "STEREOZ": "Z", "STEREOCIS": "Z"}

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
    from rdkit import Chem

    if not smiles or any(character.isspace() or character == "\0" for character in smiles):
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
    fault = smiles_fault(smiles)
    return f"the SMILES {shorten(smiles)} has {fault}" if fault else f"RDKit cannot read the SMILES {shorten(smiles)}"


def pattern(smarts: str) -> Mol:
    """A SMARTS query."""
    from rdkit import Chem

    with quiet():
        query = Chem.MolFromSmarts(smarts)
    if query is None:
        raise DataError(f"RDKit cannot read the SMARTS pattern {smarts!r}")
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
    check_limit("nodes", sum(mol.GetNumAtoms() for mol in mols), f"{len(mols)} molecules")
    atoms, bonds = _Rows(_ATOM_GROUPS), _Rows(_BOND_GROUPS)
    atom_rows: list[int] = []
    bond_rows: list[int] = []
    begins: list[int] = []
    ends: list[int] = []
    marked: list[np.ndarray] = []
    properties = [np.zeros((0, len(ATOM_PROPERTIES)), np.float32)]
    elements = _element_choices()
    for mol in mols:
        properties.append(atom_properties(mol))
        # By index: the iterators of RDKit's Python layer cost more than all the features together.
        for number in range(mol.GetNumAtoms()):
            atom_rows.append(atoms.row(_atom_choices(mol.GetAtomWithIdx(number), elements)))
        for number in range(mol.GetNumBonds()):
            bond = mol.GetBondWithIdx(number)
            begins.append(bond.GetBeginAtomIdx())
            ends.append(bond.GetEndAtomIdx())
            bond_rows.append(bonds.row(_bond_choices(bond)))
        if truth is not None:
            marked.append(matched_atoms(mol, truth))
    node_counts = np.fromiter((mol.GetNumAtoms() for mol in mols), np.int64, len(mols))
    bond_counts = np.fromiter((mol.GetNumBonds() for mol in mols), np.int64, len(mols))

    # Both directions of every bond, in the canonical order of `checks`: by graph, target, source.
    owner = np.tile(np.repeat(np.arange(len(mols)), bond_counts), 2)
    source = np.array(begins + ends, dtype=np.int64)
    target = np.array(ends + begins, dtype=np.int64)
    order = np.lexsort((source, target, owner))
    attributes = bonds.table()[np.tile(np.array(bond_rows, dtype=np.int64), 2)[order]]
    named = atoms.table()[np.array(atom_rows, dtype=np.int64)]
    return GraphSet(
        x=torch.from_numpy(np.concatenate([named, np.concatenate(properties)], 1)),
        edge_index=torch.from_numpy(np.stack([source[order], target[order]])),
        node_ptr=offsets(torch.from_numpy(node_counts)),
        edge_ptr=offsets(torch.from_numpy(2 * bond_counts)),
        edge_attr=torch.from_numpy(attributes),
        y=y,
        node_mask=torch.from_numpy(np.concatenate(marked)) if marked else None,
        names=tuple(names),
        schema=molecule_schema(class_names),
    )


def matched_atoms(mol: Mol, query: Mol) -> np.ndarray:
    """A bool per atom: whether it is part of any match of the query."""
    found = np.zeros(mol.GetNumAtoms(), dtype=bool)
    for match in mol.GetSubstructMatches(query, maxMatches=100_000):
        found[list(match)] = True
    return found


def shorten(text: str, limit: int = 60) -> str:
    """A text as a message shows it."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


class _Rows:
    """Feature rows by the choices they encode: few differ, so each is built once and then looked up."""

    def __init__(self, groups: Iterable[tuple[str, ...]]) -> None:
        self._widths = [len(group) for group in groups]
        self._numbers: dict[tuple[int, ...], int] = {}

    def row(self, choices: tuple[int, ...]) -> int:
        return self._numbers.setdefault(choices, len(self._numbers))

    def table(self) -> np.ndarray:
        """``[rows, columns]``; a group of one column is a flag, any other a one-hot."""
        table = np.zeros((len(self._numbers), sum(self._widths)), dtype=np.float32)
        starts = np.cumsum([0, *self._widths[:-1]])
        for choices, number in self._numbers.items():
            for start, width, choice in zip(starts, self._widths, choices, strict=True):
                if width == 1:
                    table[number, start] = choice
                else:
                    table[number, start + choice] = 1.0
        return table


@cache
def _element_choices() -> list[int]:
    """Position of every atomic number in ``ELEMENTS``; 0 (a dummy atom) and rare ones are *other*."""
    from rdkit import Chem

    table = Chem.GetPeriodicTable()
    choices = [len(ELEMENTS)] * 119
    for position, symbol in enumerate(ELEMENTS):
        choices[table.GetAtomicNumber(symbol)] = position
    return choices


@cache
def _hybrid_choice(value: object) -> int:
    name = str(value)
    return _HYBRIDS.index(name) if name in _HYBRIDS else len(_HYBRIDS)


@cache
def _bond_choice(value: object) -> int:
    name = str(value)
    return _BONDS.index(name) if name in _BONDS else len(_BONDS)


@cache
def _stereo_choice(value: object) -> int:
    return ("none", "E", "Z").index(_STEREO.get(str(value), "none"))


def _atom_choices(atom: Atom, elements: list[int]) -> tuple[int, ...]:
    code = atom.GetProp("_CIPCode") if atom.HasProp("_CIPCode") else ""
    return (
        elements[atom.GetAtomicNum()],
        min(atom.GetDegree(), 6),
        min(atom.GetTotalNumHs(), 4),
        min(max(atom.GetFormalCharge(), -2), 2) + 2,
        _hybrid_choice(atom.GetHybridization()),
        int(atom.GetIsAromatic()),
        int(atom.IsInRing()),
        1 if code == "R" else 2 if code == "S" else 0,
    )


def _bond_choices(bond: Bond) -> tuple[int, ...]:
    return (
        _bond_choice(bond.GetBondType()),
        int(bond.GetIsConjugated()),
        int(bond.IsInRing()),
        _stereo_choice(bond.GetStereo()),
    )
