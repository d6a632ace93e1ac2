"""What a chemist's tables say of single atoms: columns beside those that name element, bonds and rings.

Each is a property of one atom in its molecule (Crippen's share of log P, its share of the polar surface, its partial
charge, …), computed by RDKit and scaled to about 1. A part that is cut out keeps them, so they are no whole-molecule
descriptor. Charges are rounded, so that atoms which differ by less than anybody could measure are the same atom.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from protgnn.featurizers.atom_columns import AtomColumns, BondColumns, MoleculeReader
from protgnn.featurizers.atom_environments import environment_properties

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


def atom_properties(mol: Mol) -> np.ndarray:
    """The columns ``ATOM_PROPERTIES`` of a molecule's atoms, ``[n, F]``; what RDKit cannot tell is 0."""
    from rdkit import Chem

    reader = MoleculeReader()
    reader.add(Chem.Mol(mol))
    return property_columns(reader.atoms(), reader.bonds(), lambda _: mol)


def property_columns(atoms: AtomColumns, bonds: BondColumns, again: Callable[[int], Mol]) -> np.ndarray:
    """The columns ``ATOM_PROPERTIES`` of the N atoms of all molecules, ``[N, F]``; what RDKit cannot tell is 0.

    ``again`` gives a molecule by its number, for what the columns do not tell.
    """
    size = len(atoms.element)
    table = np.zeros((size, len(ATOM_PROPERTIES)), np.float32)
    local = environment_properties(atoms, bonds, again)
    table[:, 0:3] = local[:, 0:3]
    table[:, 3] = atoms.surface
    table[:, 4] = _rounded_charges(atoms)
    table[:, 5] = atoms.mass
    table[:, :6] /= _SCALES
    table[:, 6:8] = local[:, 3:5]
    table[:, 8] = 0.5 * atoms.rings
    sized = (atoms.ring_size >= RING_SIZES.start) & (atoms.ring_size < RING_SIZES.stop)
    table[atoms.ring_atom[sized], 9 + atoms.ring_size[sized] - RING_SIZES.start] = 1
    found: np.ndarray = np.nan_to_num(table, nan=0.0, posinf=0.0, neginf=0.0).clip(-_LARGEST, _LARGEST)
    return found


def _rounded_charges(atoms: AtomColumns) -> np.ndarray:
    """Partial charges, rounded; the formal charge where RDKit has no parameters, ``[N]``."""
    given = atoms.partial_charge
    found: np.ndarray = np.rint(np.where(np.isfinite(given), given, atoms.charge) / _CHARGE_STEP) * _CHARGE_STEP
    return found
