"""The units of one graph: rings and functional groups of a molecule, the words of a compound.

``featurizers/functional_groups.py`` defines functional groups, and ``featurizers/sentence.py`` the words that belong
together. ``featurizers/batch_units.py`` finds the same units in whole batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.data.graph_set import GraphSet
from protgnn.data.units import Units, ring_edges
from protgnn.featurizers.batch_units import bound_units
from protgnn.featurizers.functional_groups import AROMATIC, CARBON, HETERO, HYDROGEN, OTHER, functional_groups

if TYPE_CHECKING:
    from rdkit.Chem import Mol

_KINDS = {1: HYDROGEN, 6: CARBON, 7: HETERO, 8: HETERO, 16: HETERO}


def units_of(graph: GraphSet, mol: Mol | None = None) -> Units:
    """Find the units of one graph.

    Args:
        graph: A set of one graph.
        mol: If the graph is a molecule, its RDKit molecule, with atoms in the order of the nodes.
    """
    neighbours = [0] * len(graph.x)
    for start, end in graph.edge_index.t().tolist():
        neighbours[end] |= 1 << start
    if mol is not None:
        return Units(tuple(neighbours), groups_of(mol), ring_edges(mol.GetRingInfo().AtomRings()))
    if graph.bound is not None:
        return bound_units(graph.batch())[0]
    return Units(tuple(neighbours))


def groups_of(mol: Mol) -> tuple[int, ...]:
    """The functional groups of a molecule, as masks of atoms."""
    kinds = [AROMATIC if atom.GetIsAromatic() else _KINDS.get(atom.GetAtomicNum(), OTHER) for atom in mol.GetAtoms()]
    bonds = [
        (bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), bond.GetBondTypeAsDouble() in (2.0, 3.0))
        for bond in mol.GetBonds()
    ]
    return functional_groups(kinds, bonds)
