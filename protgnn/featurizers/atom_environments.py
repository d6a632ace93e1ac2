"""What follows from an atom and its surroundings alone, computed once for each kind of surroundings.

Crippen's shares of log P and refractivity, the share of the polar surface, and whether an atom is a donor or an
acceptor are told by patterns without rings, which begin at the atom. Those of nitrogen, oxygen and sulphur reach two
bonds far, those of other elements one. Of the atoms where they end they ask for element and aromaticity alone. Through
a double bond (``O=C(C)c``) they ask for all that is joined to the atom between; otherwise (``N-*=!@O``) for its charge
and for its double bonds, and whether these are in a ring. Two atoms that agree in all that the patterns ask for, as a
tree, have equal values: the trees are compared by hashes of 64 bits, and RDKit is asked once for each.

Patterns of hydrogen reach further, so molecules that have hydrogens among their atoms are always computed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from protgnn.data.wl_hashes import mixed
from protgnn.featurizers.atom_columns import AtomColumns, BondColumns

if TYPE_CHECKING:
    from rdkit.Chem import Mol

ENVIRONMENT_PROPERTIES = 5
"""log P share, refractivity share, polar area share, donor, acceptor."""

_FAR = (7, 8, 16)
"""Nitrogen, oxygen and sulphur."""

_DOUBLE = 2
"""RDKit's number of a double bond."""

_MOST_KEPT = 500_000
_DONOR = "[$([N;!H0;v3]),$([N;!H0;+1;v4]),$([O,S;H1;+0]),$([n;H1;+0])]"
_ACCEPTOR = "[$([O,S;H1;v2]-[!$(*=[O,N,P,S])]),$([O,S;H0;v2]),$([O,S;-]),$([N;v3;!$(N-*=!@[O,N,P,S])]),$([nH0,o,s;+0])]"

_known: dict[int, tuple[float, ...]] = {}


def environment_properties(atoms: AtomColumns, bonds: BondColumns, again: Callable[[int], Mol]) -> np.ndarray:
    """The five properties of every atom, ``[N, 5]``, as RDKit computes them for the molecule of each.

    ``again`` gives a molecule by its number: it is asked for those with new surroundings or with atoms of hydrogen.
    """
    key = environment_keys(atoms, bonds)
    owner = np.repeat(np.arange(len(atoms.ptr) - 1), np.diff(atoms.ptr))
    different, first, place = np.unique(key, return_index=True, return_inverse=True)
    if len(_known) > _MOST_KEPT:
        _known.clear()
    keys = different.tolist()
    for number, one in enumerate(keys):
        if one not in _known:
            _learn(int(owner[first[number]]), atoms, key, again)
    values = np.array([_known[one] for one in keys], np.float64).reshape(-1, ENVIRONMENT_PROPERTIES)
    found = values[place.reshape(-1)]
    for number in np.unique(owner[atoms.element == 1]).tolist():
        found[atoms.ptr[number] : atoms.ptr[number + 1]] = computed_properties(again(number))
    return found


def environment_keys(atoms: AtomColumns, bonds: BondColumns) -> np.ndarray:
    """A number for the surroundings of each atom, ``[N]``, equal where all that the patterns ask for is."""
    in_three = np.zeros(len(atoms.element), np.int64)  # the polar surface asks for rings of three
    in_three[atoms.ring_atom[atoms.ring_size == 3]] = 1
    rim = _hashed(atoms.element, atoms.aromatic)
    inner = _hashed(rim, atoms.degree, atoms.hydrogens, atoms.charge + 128)
    far = np.isin(atoms.element, _FAR)
    root = np.where(far, _hashed(inner, atoms.valence, in_three), inner)
    source, target = np.concatenate([bonds.begin, bonds.end]), np.concatenate([bonds.end, bonds.begin])
    kind, ring = np.tile(bonds.kind, 2), np.tile(bonds.ring, 2)
    double, neighbour = kind == _DOUBLE, rim[source]
    between = _with_sums(inner, target, _hashed(neighbour, kind))
    charged = _with_sums(_hashed(rim, atoms.charge + 128), target[double], _hashed(neighbour[double], ring[double]))
    seen = np.where(far[target], np.where(double, between[source], charged[source]), neighbour)
    return _with_sums(root, target, _hashed(seen, kind))


def _with_sums(label: np.ndarray, target: np.ndarray, message: np.ndarray) -> np.ndarray:
    """The label of each atom ``[N]`` with the sum of the messages ``[E]`` to it."""
    total = np.zeros(len(label), np.uint64)
    np.add.at(total, target, message)
    return _hashed(label, total)


def _hashed(*columns: np.ndarray) -> np.ndarray:
    """One number for each row of some columns ``[N]``."""
    found = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        found = mixed(found + column.astype(np.uint64))
    return found


def computed_properties(mol: Mol) -> np.ndarray:
    """The five properties of a molecule's atoms by RDKit, ``[n, 5]``."""
    from rdkit.Chem import rdMolDescriptors as descriptors

    size = mol.GetNumAtoms()
    table = np.zeros((size, ENVIRONMENT_PROPERTIES))
    table[:, 0:2] = descriptors._CalcCrippenContribs(mol)
    table[:, 2] = descriptors._CalcTPSAContribs(mol)
    for column, smarts in ((3, _DONOR), (4, _ACCEPTOR)):
        table[[match[0] for match in mol.GetSubstructMatches(_query(smarts), maxMatches=size)], column] = 1
    return table


def _learn(number: int, atoms: AtomColumns, key: np.ndarray, again: Callable[[int], Mol]) -> None:
    own = slice(int(atoms.ptr[number]), int(atoms.ptr[number + 1]))
    _known.update(zip(key[own].tolist(), map(tuple, computed_properties(again(number)).tolist()), strict=True))


@cache
def _query(smarts: str) -> Mol:
    from rdkit import Chem

    return Chem.MolFromSmarts(smarts)
