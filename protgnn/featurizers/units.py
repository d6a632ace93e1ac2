"""What belongs together in a graph: rings and functional groups of a molecule, the words of a compound.

Functional groups follow Ertl (2017): marked are heteroatoms, carbons with a double or triple bond outside of aromatic
rings, acetal carbons and the carbons of oxiranes, aziridines and thiiranes; marked atoms that are neighbours are one
group. Aromatic atoms belong to their ring. Which words belong together, ``featurizers/sentence.py`` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.data.graph_set import GraphSet
from protgnn.data.units import Units, mask_of, ring_edges
from protgnn.featurizers.batch_units import bound_units

if TYPE_CHECKING:
    from rdkit.Chem import Atom, Mol

_HETERO = (7, 8, 16)
_HYDROGEN, _CARBON = 1, 6


def units_of(graph: GraphSet, mol: Mol | None = None) -> Units:
    """The units of one graph, a set of one.

    Args:
        graph: The graph.
        mol: Its molecule, atoms numbered as the nodes, where it is one.
    """
    neighbours = [0] * len(graph.x)
    for start, end in graph.edge_index.t().tolist():
        neighbours[end] |= 1 << start
    if mol is not None:
        return Units(tuple(neighbours), functional_groups(mol), ring_edges(mol.GetRingInfo().AtomRings()))
    if graph.bound is not None:
        return bound_units(graph.batch())[0]
    return Units(tuple(neighbours))


def functional_groups(mol: Mol) -> tuple[int, ...]:
    """The functional groups of a molecule, as masks of atoms, by their first atom."""
    marked = {atom.GetIdx() for atom in mol.GetAtoms() if _is_functional(atom)}
    groups = []
    for first in sorted(marked):
        if first not in marked:
            continue
        marked.remove(first)
        group, waiting = [first], [first]
        while waiting:
            for other in mol.GetAtomWithIdx(waiting.pop()).GetNeighbors():
                if other.GetIdx() in marked:
                    marked.remove(other.GetIdx())
                    group.append(other.GetIdx())
                    waiting.append(other.GetIdx())
        groups.append(mask_of(group))
    return tuple(groups)


def _is_functional(atom: Atom) -> bool:
    if atom.GetIsAromatic() or atom.GetAtomicNum() == _HYDROGEN:
        return False
    if atom.GetAtomicNum() != _CARBON:
        return True
    joined = 0
    for bond in atom.GetBonds():
        if not bond.GetIsAromatic() and bond.GetBondTypeAsDouble() in (2.0, 3.0):
            return True
        other = bond.GetOtherAtom(atom)
        if other.GetAtomicNum() in _HETERO and not other.GetIsAromatic():
            if bond.IsInRingSize(3):
                return True
            joined += all(further.GetBondTypeAsDouble() == 1.0 for further in other.GetBonds())
    return joined >= 2
