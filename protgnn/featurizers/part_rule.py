"""From the columns of a schema to units and kinds of whole batches: what a model needs to find parts by itself.

:mod:`protgnn.featurizers.units` reads molecules, of which it needs to know the SMILES; a batch in a model has columns
and edges alone, and they tell the same: elements, bond types and, by RDKit, rings.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from protgnn.data.batch import Batch
from protgnn.data.looks import row_hashes
from protgnn.data.parts import NodeKinds
from protgnn.data.schema import Schema
from protgnn.data.units import Edge, Units, members, ring_edges
from protgnn.featurizers.kinds import drawn_columns

MOST_CYCLES = 64
"""Graphs with more cycles than that are too dense for cycles to stand out."""

_HETERO = ("N", "O", "S")


@dataclass(frozen=True)
class PartRule:
    """Which columns of a schema say what.

    ``visible`` are the columns of a node and ``bonds`` those of an edge that a person sees. Where graphs are molecules,
    ``elements`` are columns by symbol, and ``multiple`` and ``aromatic`` the columns of double and triple and of
    aromatic bonds.
    """

    visible: tuple[int, ...]
    bonds: tuple[int, ...]
    elements: tuple[tuple[str, int], ...] = ()
    multiple: tuple[int, ...] = ()
    aromatic: tuple[int, ...] = ()

    @classmethod
    def of(cls, schema: Schema) -> PartRule:
        """The rule for graphs of that schema."""
        names, edges = schema.node_features, schema.edge_features
        bonds = tuple(number for number, name in enumerate(edges) if name.startswith("bond="))
        bonds = bonds or tuple(range(len(edges)))
        own = schema.featurizer == "molecule"
        visible = tuple(drawn_columns(names)) if own else tuple(schema.kinds)
        if schema.kind != "molecule":
            return cls(visible, bonds)
        prefixed = [number for number in visible if not own or names[number].startswith("element=")]
        elements = tuple((names[number].rpartition("=")[2], number) for number in prefixed)
        kinds = {number: edges[number].rpartition("=")[2].lower() for number in bonds}
        if not elements or "C" not in dict(elements) or not set(kinds.values()) & {"single", "aromatic"}:
            return cls(visible, bonds)
        multiple = tuple(number for number, kind in kinds.items() if kind in ("double", "triple"))
        aromatic = tuple(number for number, kind in kinds.items() if kind == "aromatic")
        return cls(visible, bonds, elements, multiple, aromatic)

    @property
    def has_units(self) -> bool:
        """Whether more than single nodes belong together."""
        return bool(self.elements)

    def kinds(self, batch: Batch) -> NodeKinds:
        """What a person sees of each node and edge."""
        edges = np.zeros(batch.edge_index.shape[1], np.uint64)
        if batch.edge_attr is not None:
            edges = row_hashes(batch.edge_attr[:, list(self.bonds)].numpy())
        return NodeKinds(row_hashes(batch.x[:, list(self.visible)].numpy()), edges)

    def units(self, batch: Batch) -> list[Units]:
        """The units of every graph."""
        counts = batch.node_counts.tolist()
        starts = np.cumsum([0, *counts])
        source, target = batch.edge_index.numpy()
        order = np.argsort(batch.batch.numpy()[target], kind="stable")
        ptr = np.searchsorted(batch.batch.numpy()[target[order]], np.arange(len(counts) + 1))
        marked = self._functional(batch) if self.has_units else None
        found = []
        for number, count in enumerate(counts):
            own = order[ptr[number] : ptr[number + 1]]
            pairs = np.stack([source[own], target[own]], 1) - starts[number]
            neighbours = [0] * count
            for start, end in pairs.tolist():
                neighbours[end] |= 1 << start
            if marked is None:
                found.append(Units(tuple(neighbours)))
                continue
            edges = [(start, end) for start, end in pairs.tolist() if start < end]
            groups = _joined(marked[starts[number] : starts[number + 1]], pairs)
            found.append(Units(tuple(neighbours), groups, ring_cycles(count, edges)))
        return found

    def cycles(self, units: Units, budget: int) -> list[int]:
        """Cycles of a graph, and cycles that share a node, of at most ``budget`` edges: parts that stand out."""
        edges = [(node, other) for node, near in enumerate(units.neighbours) for other in members(near) if node < other]
        if not 0 <= len(edges) - units.num_nodes < MOST_CYCLES:
            return []
        every = {mask for masks in ring_cycles(units.num_nodes, edges).values() for mask in masks}
        single = sorted(mask for mask in every if units.edge_count(mask) <= budget)
        joined = {one | other for one, other in combinations(single[:MOST_CYCLES], 2) if one & other}
        return [*single, *sorted(mask for mask in joined - every if units.edge_count(mask) <= budget)]

    def _functional(self, batch: Batch) -> np.ndarray:
        """Ertl's marked atoms, bool ``[N]``; see :mod:`protgnn.featurizers.units`."""
        assert batch.edge_attr is not None
        x, attr = batch.x.numpy(), batch.edge_attr.numpy()
        source, target = batch.edge_index.numpy()
        symbols = dict(self.elements)
        carbon = x[:, symbols["C"]] > 0
        hydrogen = x[:, symbols["H"]] > 0 if "H" in symbols else np.zeros(len(x), bool)
        hetero = np.zeros(len(x), bool)
        for symbol in _HETERO:
            if symbol in symbols:
                hetero |= x[:, symbols[symbol]] > 0
        in_ring = np.zeros(len(x), bool)
        is_aromatic = (attr[:, list(self.aromatic)] > 0).any(1) if self.aromatic else np.zeros(len(attr), bool)
        in_ring[target[is_aromatic]] = True
        is_multiple = (attr[:, list(self.multiple)] > 0).any(1) if self.multiple else np.zeros(len(attr), bool)
        multiple = np.zeros(len(x), bool)
        multiple[target[is_multiple]] = True
        single = hetero & ~in_ring & ~multiple
        acetal = np.bincount(target[single[source]], minlength=len(x)) >= 2
        marked = ~in_ring & ~hydrogen & (~carbon | multiple | acetal)
        found: np.ndarray = marked | self._in_small_rings(batch, carbon & ~in_ring, hetero & ~in_ring)
        return found

    @staticmethod
    def _in_small_rings(batch: Batch, carbon: np.ndarray, hetero: np.ndarray) -> np.ndarray:
        """Carbons joined to a heteroatom within a ring of three, bool ``[N]``."""
        source, target = batch.edge_index.numpy()
        neighbours: dict[int, set[int]] = {}
        for start, end in zip(source.tolist(), target.tolist(), strict=True):
            neighbours.setdefault(end, set()).add(start)
        found = np.zeros(len(batch.x), bool)
        for start, end in zip(source.tolist(), target.tolist(), strict=True):
            if hetero[start] and carbon[end] and neighbours[start] & neighbours[end]:
                found[end] = True
        return found


def ring_cycles(num_nodes: int, edges: list[Edge]) -> dict[Edge, tuple[int, ...]]:
    """The smallest rings of every ring edge, as RDKit finds them (symmetrised SSSR), the smallest first."""
    if len(edges) < num_nodes and len(edges) < 3:
        return {}
    from rdkit import Chem

    mol = Chem.RWMol()
    carbon = Chem.Atom(6)
    for _ in range(num_nodes):
        mol.AddAtom(carbon)
    for start, end in edges:
        mol.AddBond(start, end, Chem.BondType.SINGLE)
    return ring_edges(Chem.GetSymmSSSR(mol))


def _joined(marked: np.ndarray, pairs: np.ndarray) -> tuple[int, ...]:
    """Marked nodes that are neighbours as one group, masks by their first node."""
    inside = pairs[marked[pairs[:, 0]] & marked[pairs[:, 1]]] if len(pairs) else pairs
    size = len(marked)
    _, component = connected_components(
        coo_array((np.ones(len(inside)), (inside[:, 0], inside[:, 1])), shape=(size, size)), directed=False
    )
    groups: dict[int, int] = {}
    for node in np.flatnonzero(marked).tolist():
        groups[int(component[node])] = groups.get(int(component[node]), 0) | 1 << node
    return tuple(groups.values())
