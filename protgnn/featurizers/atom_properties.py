"""What a chemist's tables say of single atoms: columns beside those that name element, bonds and rings.

Each is a property of one atom in its molecule (Crippen's share of log P, its share of the polar surface, its partial
charge, …), computed by RDKit and scaled to about 1. A part that is cut out keeps them, so they are no whole-molecule
descriptor. Charges are rounded, so that atoms which differ by less than anybody could measure are the same atom.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rdkit.Chem import Mol

RING_SIZES = range(3, 9)
ATOM_PROPERTIES: tuple[str, ...] = (
    *("logP share", "refractivity share", "polar area share", "surface share", "partial charge"),
    *("mass", "donor", "acceptor", "rings"),
    *(f"ring size={size}" for size in RING_SIZES),
)
_SCALES = (1.0, 5.0, 20.0, 10.0, 0.5, 50.0)
_CHARGE_STEP = 0.05
_LARGEST = 5.0
_DONOR = "[$([N;!H0;v3]),$([N;!H0;+1;v4]),$([O,S;H1;+0]),$([n;H1;+0])]"
_ACCEPTOR = "[$([O,S;H1;v2]-[!$(*=[O,N,P,S])]),$([O,S;H0;v2]),$([O,S;-]),$([N;v3;!$(N-*=!@[O,N,P,S])]),$([nH0,o,s;+0])]"


def atom_properties(mol: Mol) -> np.ndarray:
    """The columns ``ATOM_PROPERTIES`` of a molecule's atoms, ``[n, F]``; what RDKit cannot tell is 0."""
    from rdkit.Chem import rdMolDescriptors as descriptors

    size = mol.GetNumAtoms()
    table = np.zeros((size, len(ATOM_PROPERTIES)), np.float32)
    table[:, 0:2] = descriptors._CalcCrippenContribs(mol)
    table[:, 2] = descriptors._CalcTPSAContribs(mol)
    table[:, 3] = descriptors._CalcLabuteASAContribs(mol)[0]
    table[:, 4] = _partial_charges(mol)
    table[:, 5] = [mol.GetAtomWithIdx(number).GetMass() for number in range(size)]
    table[:, :6] /= _SCALES
    for column, smarts in ((6, _DONOR), (7, _ACCEPTOR)):
        table[[match[0] for match in mol.GetSubstructMatches(_query(smarts), maxMatches=size)], column] = 1
    rings = mol.GetRingInfo()
    for ring in rings.AtomRings():
        members = list(ring)
        table[members, 8] += 0.5
        if len(ring) in RING_SIZES:
            table[members, 9 + RING_SIZES.index(len(ring))] = 1
    found: np.ndarray = np.nan_to_num(table, nan=0.0, posinf=0.0, neginf=0.0).clip(-_LARGEST, _LARGEST)
    return found


def _partial_charges(mol: Mol) -> np.ndarray:
    """Gasteiger's charges, rounded; the formal charge where RDKit has no parameters, ``[n]``."""
    from rdkit.Chem import Mol as Molecule
    from rdkit.Chem import rdPartialCharges

    own = Molecule(mol)  # charges are stored with the atoms, and the molecule is shared
    rdPartialCharges.ComputeGasteigerCharges(own)
    atoms = [own.GetAtomWithIdx(number) for number in range(own.GetNumAtoms())]
    charge = np.array([atom.GetDoubleProp("_GasteigerCharge") for atom in atoms])
    formal = np.array([atom.GetFormalCharge() for atom in atoms])
    found: np.ndarray = np.rint(np.where(np.isfinite(charge), charge, formal) / _CHARGE_STEP) * _CHARGE_STEP
    return found


@cache
def _query(smarts: str) -> Mol:
    from rdkit import Chem

    return Chem.MolFromSmarts(smarts)
