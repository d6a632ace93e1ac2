"""Graphs back to molecules: RDKit's view of what a graph stands for, so that it can be named and drawn.

A report names and draws the same graph many times. Molecules are therefore made once and kept, and callers get copies,
which they may change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from protgnn.data.graph_set import GraphSet
from protgnn.featurizers.molecule import parse, quiet

if TYPE_CHECKING:
    from rdkit.Chem import Mol, RWMol

_MOST_GUESSES = 64  # of which aromatic nitrogens carry a hydrogen; a handful settles every real ring system


_MOST_KEPT = 4096  # molecules of a few kilobytes each


def to_rdkit(graph: GraphSet, cut_out: bool = False) -> Mol | None:
    """Make the molecule of one graph, its atoms numbered as the nodes.

    Args:
        graph: A set of one graph. Graphs made from SMILES are named by them, and these are parsed; others are built
            from their element and bond columns.
        cut_out: Whether a graph of columns is a part of a molecule, whose free valences are cut bonds, not hydrogens.

    Returns:
        A molecule of the caller's own, or nothing where the graph is not one.
    """
    schema = graph.schema
    if schema.kind != "molecule":
        return None
    if schema.featurizer == "molecule":
        mol = None if graph.names is None else _parsed(graph.names[0])
        return _copy(mol) if mol is not None and mol.GetNumAtoms() == len(graph.x) else None
    return _copy(_built(_ColumnGraph.of(graph, cut_out)))


def source_of(name: str | None, nodes: list[int]) -> Mol | None:
    """Make the whole molecule that a prototype was cut from, where its SMILES is known and has such atoms."""
    mol = None if name is None else _parsed(name)
    return _copy(mol) if mol is not None and nodes and max(nodes) < mol.GetNumAtoms() else None


def _copy(mol: Mol | None) -> Mol | None:
    """A molecule that a caller may change; the one that is kept stays as it is."""
    from rdkit import Chem

    return None if mol is None else Chem.Mol(mol)


def _parsed(smiles: str) -> Mol | None:
    with quiet():
        return parse(smiles)  # which keeps what it has read


@dataclass(frozen=True)
class _ColumnGraph:
    """A graph with what its molecule follows from as a key."""

    key: tuple[bytes, bytes, bytes, tuple[str, ...], tuple[str, ...], bool]
    graph: GraphSet = field(compare=False)

    @classmethod
    def of(cls, graph: GraphSet, cut_out: bool) -> _ColumnGraph:
        attr = b"" if graph.edge_attr is None else graph.edge_attr.numpy().tobytes()
        tensors = graph.x.numpy().tobytes(), graph.edge_index.numpy().tobytes(), attr
        return cls((*tensors, graph.schema.node_features, graph.schema.edge_features, cut_out), graph)


@lru_cache(maxsize=_MOST_KEPT)
def _built(made_of: _ColumnGraph) -> Mol | None:
    with quiet():
        return _from_columns(made_of.graph, cut_out=made_of.key[-1])


def _from_columns(graph: GraphSet, cut_out: bool) -> Mol | None:
    from rdkit import Chem

    kinds = graph.x[:, graph.schema.kinds]
    elements = _elements([graph.schema.node_features[column] for column in graph.schema.kinds])
    bonds = [name.rpartition("=")[2].upper() for name in graph.schema.edge_features]
    known = {"SINGLE", "DOUBLE", "TRIPLE", "AROMATIC"}
    if elements is None or graph.edge_attr is None or not known & set(bonds):
        return None
    if not bool((kinds.sum(1) == 1).all()):  # one element per atom, or it is something else
        return None
    mol = Chem.RWMol()
    for column in kinds.argmax(1).tolist():
        atom = Chem.Atom(elements[column])
        atom.SetNoImplicit(cut_out)
        mol.AddAtom(atom)
    for (start, end), kind in zip(graph.edge_index.t().tolist(), graph.edge_attr.argmax(1).tolist(), strict=True):
        if start < end:
            order = bonds[kind] if bonds[kind] in known else "UNSPECIFIED"
            mol.AddBond(start, end, getattr(Chem.BondType, order))
            if order == "AROMATIC":
                mol.GetBondBetweenAtoms(start, end).SetIsAromatic(True)
                for number in (start, end):
                    mol.GetAtomWithIdx(number).SetIsAromatic(True)
    _set_charges(mol)
    return _sanitised(mol)


def _elements(names: list[str]) -> list[str] | None:
    """The element symbol of every column, nothing if one of them is no element."""
    from rdkit import Chem

    symbols = [name.rpartition("=")[2] for name in names]
    table = Chem.GetPeriodicTable()
    try:
        return symbols if symbols and all(table.GetAtomicNumber(symbol) > 0 for symbol in symbols) else None
    except RuntimeError:
        return None


def _set_charges(mol: RWMol) -> None:
    """Charges that the columns do not tell and the bonds imply: nitro groups and nitrogens with four bonds."""
    from rdkit import Chem

    for atom in mol.GetAtoms():
        if atom.GetAtomicNum() != 7:
            continue
        orders = [bond.GetBondTypeAsDouble() for bond in atom.GetBonds()]
        if sum(orders) == 5 and orders.count(2.0) == 2:  # O=N=O, as some files write a nitro group
            for bond in atom.GetBonds():
                other = bond.GetOtherAtom(atom)
                if other.GetAtomicNum() == 8 and other.GetDegree() == 1 and bond.GetBondTypeAsDouble() == 2:
                    bond.SetBondType(Chem.BondType.SINGLE)
                    break
        if sum(bond.GetBondTypeAsDouble() for bond in atom.GetBonds()) != 4:
            continue
        atom.SetFormalCharge(1)
        for bond in atom.GetBonds():
            other = bond.GetOtherAtom(atom)
            if other.GetAtomicNum() == 8 and other.GetDegree() == 1 and bond.GetBondTypeAsDouble() == 1:
                other.SetFormalCharge(-1)
                other.SetNoImplicit(True)
                break


def _sanitised(mol: RWMol) -> Mol:
    """The molecule with what RDKit can make of it: all checks passed, or else at least its rings known.

    Columns do not say which aromatic nitrogens carry a hydrogen, and without it a ring has no Kekulé form: the fewest
    hydrogens that give one are taken.
    """
    from rdkit import Chem

    free = [
        atom.GetIdx()
        for atom in mol.GetAtoms()
        if atom.GetAtomicNum() == 7 and atom.GetIsAromatic() and atom.GetDegree() == 2 and not atom.GetFormalCharge()
    ]
    guesses = 0
    for count in range(len(free) + 1):
        for carrying in combinations(free, count):
            guess = Chem.Mol(mol)
            for number in carrying:
                guess.GetAtomWithIdx(number).SetNumExplicitHs(1)
            if Chem.SanitizeMol(guess, catchErrors=True) == Chem.SanitizeFlags.SANITIZE_NONE:
                return guess
            guesses += 1
            if guesses == _MOST_GUESSES:
                break
        if guesses == _MOST_GUESSES:
            break
    rough = Chem.Mol(mol)
    for atom in rough.GetAtoms():
        atom.SetNoImplicit(True)
    rough.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(rough)
    return rough
