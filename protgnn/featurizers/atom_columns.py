"""Atoms and bonds of many molecules as columns of numbers, so that what follows is array arithmetic.

A loop over atoms in Python costs more than all that RDKit computes of them. Here each property of a molecule's atoms is
read by ``map``, which stays in C. Atoms and bonds are let go molecule by molecule: many of them at once would keep the
garbage collector busy.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rdkit.Chem import Atom, Bond, Mol


@dataclass(frozen=True, eq=False)
class AtomColumns:
    """The N atoms of M molecules: ``ptr [M + 1]`` says which are whose, and each property is an array ``[N]``.

    ``partial_charge`` is Gasteiger's, no number where RDKit has no parameters; ``chirality`` is 0, 1 for R and 2 for S;
    ``surface`` is Labute's share of the surface; ``rings`` counts the rings of an atom, and ``ring_atom``,
    ``ring_size`` have an entry for each atom of each ring.
    """

    ptr: np.ndarray
    element: np.ndarray
    degree: np.ndarray
    hydrogens: np.ndarray
    charge: np.ndarray
    hybrid: np.ndarray
    aromatic: np.ndarray
    valence: np.ndarray
    mass: np.ndarray
    partial_charge: np.ndarray
    chirality: np.ndarray
    surface: np.ndarray
    rings: np.ndarray
    ring_atom: np.ndarray
    ring_size: np.ndarray


@dataclass(frozen=True, eq=False)
class BondColumns:
    """The E bonds of M molecules: ``ptr [M + 1]``, the atoms ``begin, end [E]`` numbered over all molecules, and
    properties ``[E]``; ``kind`` is a number of RDKit's ``BondType``, ``stereo`` is 0, 1 for E and 2 for Z."""

    ptr: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    kind: np.ndarray
    conjugated: np.ndarray
    ring: np.ndarray
    stereo: np.ndarray


class MoleculeReader:
    """Reads molecules one after another into growing columns, so that none has to be held.

    A molecule is read in one go, right after it was parsed if possible: one that is left and looked at again later has
    to come back from slower memory, and letting go of thousands at once takes longer than of one after another.
    """

    def __init__(self) -> None:
        from rdkit.Chem import Atom, Bond, BondType
        from rdkit.Chem.rdMolDescriptors import _CalcLabuteASAContribs
        from rdkit.Chem.rdPartialCharges import ComputeGasteigerCharges

        self._compute_charges, self._surface_shares = ComputeGasteigerCharges, _CalcLabuteASAContribs
        self._atom_methods = {name: getattr(Atom, method) for name, method in _ATOM_METHODS.items()}
        self._bond_methods = {name: getattr(Bond, method) for name, method in _BOND_METHODS.items()}
        self._charge_of, self._double = Atom.GetDoubleProp, int(BondType.DOUBLE)
        self._atoms = {name: _empty(name) for name in (*_ATOM_METHODS, *_COMPUTED)}
        self._bonds = {name: _empty(name) for name in (*_BOND_METHODS, "stereo")}
        self._counts: dict[str, list[int]] = {"atoms": [], "bonds": [], "rings": []}
        self._ring_sizes: list[int] = []
        self._ring_atoms: list[int] = []

    def __len__(self) -> int:
        return len(self._counts["atoms"])

    def add(self, mol: Mol) -> None:
        """Read a molecule. RDKit stores what it computes with the molecule: give a copy of one that is shared."""
        self._compute_charges(mol)
        self._add_atoms(list(map(mol.GetAtomWithIdx, range(mol.GetNumAtoms()))))
        self._add_bonds(list(map(mol.GetBondWithIdx, range(mol.GetNumBonds()))))
        self._add_rings(mol.GetRingInfo().AtomRings())
        shares = self._surface_shares(mol)[0]  # by index: RDKit's vectors are slow to iterate over
        self._atoms["surface"].extend(map(shares.__getitem__, range(mol.GetNumAtoms())))

    def _add_atoms(self, atoms: list[Atom]) -> None:
        columns = self._atoms
        self._counts["atoms"].append(len(atoms))
        for name, method in self._atom_methods.items():
            columns[name].extend(map(method, atoms))
        columns["partial_charge"].extend(map(self._charge_of, atoms, repeat(_CHARGE)))
        columns["chirality"].extend(
            _CHIRALITY.get(atom.GetProp(_CIP), 0) if atom.HasProp(_CIP) else 0 for atom in atoms
        )

    def _add_bonds(self, bonds: list[Bond]) -> None:
        double, columns = self._double, self._bonds
        self._counts["bonds"].append(len(bonds))
        for name, method in self._bond_methods.items():
            columns[name].extend(map(method, bonds))
        kinds = columns["kind"][len(columns["stereo"]) :]
        columns["stereo"].extend(  # no other bond than a double one has a side
            _SIDES.get(str(bond.GetStereo()), 0) if kind == double else 0
            for kind, bond in zip(kinds, bonds, strict=True)
        )

    def _add_rings(self, rings: tuple[tuple[int, ...], ...]) -> None:
        self._counts["rings"].append(len(rings))
        self._ring_sizes += map(len, rings)
        self._ring_atoms += chain.from_iterable(rings)

    def atoms(self) -> AtomColumns:
        """The atoms of all molecules that were added."""
        ptr = _starts(self._counts["atoms"])
        sizes = np.array(self._ring_sizes, np.int64)
        first = np.repeat(np.repeat(ptr[:-1], np.array(self._counts["rings"], np.int64)), sizes)
        ring_atom = np.array(self._ring_atoms, np.int64) + first
        rings = np.bincount(ring_atom, minlength=int(ptr[-1]))
        return AtomColumns(
            ptr, **_arrays(self._atoms), rings=rings, ring_atom=ring_atom, ring_size=np.repeat(sizes, sizes)
        )

    def bonds(self) -> BondColumns:
        """The bonds of all molecules that were added."""
        found, ptr = _arrays(self._bonds), _starts(self._counts["bonds"])
        first = np.repeat(_starts(self._counts["atoms"])[:-1], np.diff(ptr))
        found |= {"begin": found["begin"] + first, "end": found["end"] + first}
        return BondColumns(ptr, **found)


_ATOM_METHODS = {
    "element": "GetAtomicNum",
    "degree": "GetDegree",
    "hydrogens": "GetTotalNumHs",
    "charge": "GetFormalCharge",
    "hybrid": "GetHybridization",
    "aromatic": "GetIsAromatic",
    "valence": "GetTotalValence",
    "mass": "GetMass",
}
_BOND_METHODS = {
    "begin": "GetBeginAtomIdx",
    "end": "GetEndAtomIdx",
    "kind": "GetBondType",
    "conjugated": "GetIsConjugated",
    "ring": "IsInRing",
}
_COMPUTED = ("partial_charge", "chirality", "surface")
_KINDS = {"mass": np.float64, "partial_charge": np.float64, "surface": np.float64}
_CIP, _CHARGE = "_CIPCode", "_GasteigerCharge"
_CHIRALITY = {"R": 1, "S": 2}
_SIDES = {"STEREOE": 1, "STEREOTRANS": 1, "STEREOZ": 2, "STEREOCIS": 2}


def _starts(counts: Sequence[int]) -> np.ndarray:
    """Where each molecule begins, and where the last one ends, ``[M + 1]``."""
    return np.concatenate([[0], np.cumsum(np.array(counts, np.int64))])


def _empty(name: str) -> array[Any]:
    """A column that grows. It keeps numbers, where a list would keep an object for each."""
    return array("d" if name in _KINDS else "q")


def _arrays(columns: dict[str, array[Any]]) -> dict[str, np.ndarray]:
    return {name: np.array(values, _KINDS.get(name, np.int64)) for name, values in columns.items()}
