"""Units and visible features of whole batches, read from the columns of a schema.

:mod:`protgnn.featurizers.graph_units` reads units from an RDKit molecule. A model sees no molecule, only feature
columns and edges; elements, bond types and rings (found by RDKit) can be read from these as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from protgnn.data.batch import Batch
from protgnn.data.parts import NodeKinds
from protgnn.data.schema import Schema
from protgnn.data.units import Edge, Units, members, ring_edges
from protgnn.data.wl_hashes import row_hashes
from protgnn.featurizers.functional_groups import AROMATIC, CARBON, HETERO, HYDROGEN, OTHER, functional_groups
from protgnn.featurizers.kinds import drawn_columns

MOST_CYCLES = 64
"""Graphs with more cycles than that are too dense for cycles to stand out."""

_HETERO = ("N", "O", "S")


@dataclass(frozen=True)
class PartRule:
    """The meaning of the feature columns of a schema.

    Attributes:
        visible: The columns of ``x`` that a picture shows.
        bonds: The columns of ``edge_attr`` that a picture shows.
        elements: Of molecules: pairs of an element symbol and its column of ``x``.
        multiple: Of molecules: the columns of ``edge_attr`` for double and triple bonds.
        aromatic: Of molecules: the columns of ``edge_attr`` for aromatic bonds.
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
        visible = tuple(drawn_columns(names)) if own else tuple(schema.seen_in_parts)
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
        """Hashes of the visible features of each node and edge."""
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
        kinds, multiple = self._atoms(batch) if self.has_units else ([], np.zeros(0, bool))
        found = []
        for number, count in enumerate(counts):
            own = order[ptr[number] : ptr[number + 1]]
            pairs = (np.stack([source[own], target[own]], 1) - starts[number]).tolist()
            neighbours = [0] * count
            for start, end in pairs:
                neighbours[end] |= 1 << start
            if not self.has_units:
                found.append(Units(tuple(neighbours)))
                continue
            bonds = [
                (start, end, several)
                for (start, end), several in zip(pairs, multiple[own].tolist(), strict=True)
                if start < end
            ]
            groups = functional_groups(kinds[starts[number] : starts[number + 1]], bonds)
            edges = [(start, end) for start, end, _ in bonds]
            found.append(Units(tuple(neighbours), groups, ring_cycles(count, edges)))
        return found

    def cycles(self, units: Units, budget: int, target: int | None = None) -> list[int]:
        """Cycles, and pairs of cycles that share a node, of at most ``budget`` edges; with a ``target`` only those
        that contain it."""
        edges = [(node, other) for node, near in enumerate(units.neighbours) for other in members(near) if node < other]
        if not 1 <= len(edges) - units.num_nodes + _pieces(units.num_nodes, edges) <= MOST_CYCLES:
            return []
        every = {mask for masks in ring_cycles(units.num_nodes, edges).values() for mask in masks}
        single = sorted(mask for mask in every if units.edge_count(mask) <= budget)
        joined = {one | other for one, other in combinations(single[:MOST_CYCLES], 2) if one & other} - every
        if target is not None:
            single = [mask for mask in single if mask >> target & 1]
            joined = {mask for mask in joined if mask >> target & 1}
        return [*single, *sorted(mask for mask in joined if units.edge_count(mask) <= budget)]

    def _atoms(self, batch: Batch) -> tuple[list[int], np.ndarray]:
        """The atom kinds of :mod:`protgnn.featurizers.functional_groups`, ``[N]``, and whether each bond is double or
        triple, ``[E]``."""
        assert batch.edge_attr is not None
        x, attr, target = batch.x.numpy(), batch.edge_attr.numpy(), batch.edge_index[1].numpy()
        kinds = np.full(len(x), OTHER)
        for symbol, column in self.elements:
            kind = {"H": HYDROGEN, "C": CARBON}.get(symbol, HETERO if symbol in _HETERO else OTHER)
            kinds[x[:, column] > 0] = kind
        is_aromatic = (attr[:, list(self.aromatic)] > 0).any(1) if self.aromatic else np.zeros(len(attr), bool)
        kinds[target[is_aromatic]] = AROMATIC
        multiple: np.ndarray = np.any(attr[:, list(self.multiple)] > 0, axis=1)
        return kinds.tolist(), multiple


def _pieces(num_nodes: int, edges: list[Edge]) -> int:
    """The number of connected components of a graph."""
    starts, ends = np.array(edges, np.int64).reshape(-1, 2).T
    joined = csr_array((np.ones(len(edges)), (starts, ends)), shape=(num_nodes, num_nodes))
    return int(connected_components(joined, directed=False, return_labels=False))


def ring_cycles(num_nodes: int, edges: list[Edge]) -> dict[Edge, tuple[int, ...]]:
    """The smallest rings that each ring edge lies on (RDKit's symmetrised SSSR), smallest first."""
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
