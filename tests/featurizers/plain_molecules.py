"""Molecules to columns one atom and one bond at a time, as the package did before it had arrays: the oracle."""

from __future__ import annotations

import numpy as np
from rdkit import Chem
from rdkit.Chem import rdMolDescriptors, rdPartialCharges

from protgnn.featurizers.atom_properties import ATOM_PROPERTIES, RING_SIZES
from protgnn.featurizers.molecule import ATOM_FEATURES, BOND_FEATURES, ELEMENTS

DONOR = "[$([N;!H0;v3]),$([N;!H0;+1;v4]),$([O,S;H1;+0]),$([n;H1;+0])]"
ACCEPTOR = "[$([O,S;H1;v2]-[!$(*=[O,N,P,S])]),$([O,S;H0;v2]),$([O,S;-]),$([N;v3;!$(N-*=!@[O,N,P,S])]),$([nH0,o,s;+0])]"
SIDES = {"STEREOE": "E", "STEREOTRANS": "E", "STEREOZ": "Z", "STEREOCIS": "Z"}


def plain_atoms(mol: Chem.Mol) -> np.ndarray:
    """The columns ``ATOM_FEATURES``, ``[n, F]``."""
    rows = []
    for atom in mol.GetAtoms():
        symbol, hybrid, charge = atom.GetSymbol(), str(atom.GetHybridization()), atom.GetFormalCharge()
        degree, hydrogens = min(atom.GetDegree(), 6), min(atom.GetTotalNumHs(), 4)
        code = atom.GetProp("_CIPCode") if atom.HasProp("_CIPCode") else "none"
        names = {
            f"element={symbol if symbol in ELEMENTS else 'other'}",
            f"degree={degree if degree < 6 else '6+'}",
            f"hydrogens={hydrogens if hydrogens < 4 else '4+'}",
            f"charge={('-2', '-1', '0', '+1', '+2')[min(max(charge, -2), 2) + 2]}",
            f"hybrid={hybrid if hybrid in ('S', 'SP', 'SP2', 'SP3', 'SP3D', 'SP3D2') else 'other'}",
            f"chirality={code if code in ('R', 'S') else 'none'}",
            *(["aromatic"] if atom.GetIsAromatic() else []),
            *(["ring"] if atom.IsInRing() else []),
        }
        rows.append([float(name in names) for name in ATOM_FEATURES[: -len(ATOM_PROPERTIES)]])
    return np.concatenate([np.array(rows, np.float32), plain_properties(mol)], 1)


def plain_properties(mol: Chem.Mol) -> np.ndarray:
    """The columns ``ATOM_PROPERTIES``, ``[n, F]``."""
    size = mol.GetNumAtoms()
    table = np.zeros((size, len(ATOM_PROPERTIES)), np.float32)
    table[:, 0:2] = rdMolDescriptors._CalcCrippenContribs(mol)
    table[:, 2] = rdMolDescriptors._CalcTPSAContribs(mol)
    table[:, 3] = rdMolDescriptors._CalcLabuteASAContribs(mol)[0]
    own = Chem.Mol(mol)
    rdPartialCharges.ComputeGasteigerCharges(own)
    charge = np.array([atom.GetDoubleProp("_GasteigerCharge") for atom in own.GetAtoms()])
    formal = np.array([atom.GetFormalCharge() for atom in own.GetAtoms()])
    table[:, 4] = np.rint(np.where(np.isfinite(charge), charge, formal) / 0.05) * 0.05
    table[:, 5] = [atom.GetMass() for atom in mol.GetAtoms()]
    table[:, :6] /= (1.0, 5.0, 20.0, 10.0, 0.5, 50.0)
    for column, smarts in ((6, DONOR), (7, ACCEPTOR)):
        matches = mol.GetSubstructMatches(Chem.MolFromSmarts(smarts), maxMatches=size)
        table[[match[0] for match in matches], column] = 1
    for ring in mol.GetRingInfo().AtomRings():
        for atom in ring:
            table[atom, 8] += 0.5
            if len(ring) in RING_SIZES:
                table[atom, 9 + RING_SIZES.index(len(ring))] = 1
    return np.nan_to_num(table, nan=0.0, posinf=0.0, neginf=0.0).clip(-5.0, 5.0)


def plain_bonds(mol: Chem.Mol) -> dict[tuple[int, int], np.ndarray]:
    """The columns ``BOND_FEATURES`` of each bond in both directions, by its atoms."""
    found = {}
    for bond in mol.GetBonds():
        kind = str(bond.GetBondType()).lower()
        names = {
            f"bond={kind if kind in ('single', 'double', 'triple', 'aromatic') else 'other'}",
            f"stereo={SIDES.get(str(bond.GetStereo()), 'none')}",
            *(["conjugated"] if bond.GetIsConjugated() else []),
            *(["ring"] if bond.IsInRing() else []),
        }
        row = np.array([float(name in names) for name in BOND_FEATURES], np.float32)
        found[bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()] = found[bond.GetEndAtomIdx(), bond.GetBeginAtomIdx()] = row
    return found
