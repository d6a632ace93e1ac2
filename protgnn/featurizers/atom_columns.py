"""Atoms and bonds of many molecules as columns of numbers, so that what follows is array arithmetic.

A loop over atoms in Python costs more than all that RDKit computes of them. Here each property of a molecule's atoms is
read by ``map``, which stays in C. Atoms and bonds are let go molecule by molecule: many of them at once would keep the
garbage collector busy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rdkit.Chem import Mol


@dataclass(frozen=True, eq=False)
class AtomColumns:
    """The N atoms of M molecules: ``ptr [M + 1]`` says which are whose, and each property is an array ``[N]``.

    ``partial_charge`` is Gasteiger's, no number where RDKit has no parameters; ``chirality`` is 0, 1 for R and 2 for S;
    ``rings`` counts the rings of an atom, and ``ring_atom``, ``ring_size`` have an entry for each atom of each ring.
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


def atom_columns(mols: Sequence[Mol]) -> AtomColumns:
    """Read the atoms of all molecules.

    RDKit stores partial charges with the atoms. The molecules are shared, so they are taken off again.
    """
    from rdkit.Chem import Atom
    from rdkit.Chem.rdPartialCharges import ComputeGasteigerCharges

    counts = np.fromiter((mol.GetNumAtoms() for mol in mols), np.int64, len(mols))
    ptr = np.concatenate([[0], np.cumsum(counts)])
    read = {name: getattr(Atom, method) for name, method in _ATOM_METHODS.items()}
    columns: dict[str, list[float]] = {name: [] for name in (*read, "partial_charge", "chirality")}
    for mol in mols:
        ComputeGasteigerCharges(mol)
        atoms = list(map(mol.GetAtomWithIdx, range(mol.GetNumAtoms())))
        for name, method in read.items():
            columns[name] += map(method, atoms)
        columns["partial_charge"] += [atom.GetDoubleProp(_CHARGE) for atom in atoms]
        columns["chirality"] += [_CHIRALITY.get(atom.GetProp(_CIP), 0) if atom.HasProp(_CIP) else 0 for atom in atoms]
        for atom in atoms:
            atom.ClearProp(_CHARGE)
            atom.ClearProp(_HYDROGEN_CHARGE)
    rings, sizes = _rings(mols, ptr)
    found = {name: np.array(values, _KINDS.get(name, np.int64)) for name, values in columns.items()}
    return AtomColumns(ptr, **found, rings=np.bincount(rings, minlength=int(ptr[-1])), ring_atom=rings, ring_size=sizes)


def bond_columns(mols: Sequence[Mol], atom_ptr: np.ndarray) -> BondColumns:
    """Read the bonds of all molecules, whose atoms begin at ``atom_ptr [M + 1]``."""
    from rdkit.Chem import Bond, BondType

    double = BondType.DOUBLE
    counts = np.fromiter((mol.GetNumBonds() for mol in mols), np.int64, len(mols))
    read = {name: getattr(Bond, method) for name, method in _BOND_METHODS.items()}
    columns: dict[str, list[float]] = {name: [] for name in (*read, "stereo")}
    for mol in mols:
        bonds = list(map(mol.GetBondWithIdx, range(mol.GetNumBonds())))
        for name, method in read.items():
            columns[name] += map(method, bonds)
        kinds = columns["kind"][len(columns["stereo"]) :]
        columns["stereo"] += [  # no other bond than a double one has a side
            _SIDES.get(str(bond.GetStereo()), 0) if kind == double else 0
            for kind, bond in zip(kinds, bonds, strict=True)
        ]
    found = {name: np.array(values, _KINDS.get(name, np.int64)) for name, values in columns.items()}
    first = np.repeat(atom_ptr[:-1], counts)
    found |= {"begin": found["begin"] + first, "end": found["end"] + first}
    return BondColumns(np.concatenate([[0], np.cumsum(counts)]), **found)


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
_KINDS = {"mass": np.float64, "partial_charge": np.float64}
_CIP, _CHARGE, _HYDROGEN_CHARGE = "_CIPCode", "_GasteigerCharge", "_GasteigerHCharge"
_CHIRALITY = {"R": 1, "S": 2}
_SIDES = {"STEREOE": 1, "STEREOTRANS": 1, "STEREOZ": 2, "STEREOCIS": 2}


def _rings(mols: Sequence[Mol], ptr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each atom of each ring, numbered over all molecules, and the size of the ring."""
    found = [mol.GetRingInfo().AtomRings() for mol in mols]
    sizes = np.array([len(ring) for rings in found for ring in rings], np.int64)
    first = np.repeat(ptr[:-1], np.array([len(rings) for rings in found], np.int64))
    atoms = np.fromiter(chain.from_iterable(chain.from_iterable(found)), np.int64, int(sizes.sum()))
    return atoms + np.repeat(first, sizes), np.repeat(sizes, sizes)
