"""Subgraphs in words: a fragment's SMILES, the words of a sentence, the composition, or the size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from protgnn.data.graph_set import GraphSet
from protgnn.explain.node_cards import NodeCard, describe_nodes, edges_between, targets_first
from protgnn.explain.to_rdkit import source_of, to_rdkit

if TYPE_CHECKING:
    from rdkit.Chem import Mol


def class_said(name: str) -> str:
    """A class as a sentence names it: a number alone would read as a count."""
    return f"class {name}" if name.replace(".", "").lstrip("+-").isdigit() else name


def describe_subgraph(subgraph: GraphSet, nodes: Sequence[int], cards: Sequence[NodeCard] | None = None) -> str:
    """One cut-out subgraph in a few characters; ``nodes`` are its nodes in the graph that it is named after, and
    ``cards`` what they are in the network that they are of."""
    schema = subgraph.schema
    name = None if subgraph.names is None else subgraph.names[0]
    if schema.featurizer == "molecule" and name:
        fragment = fragment_smiles(name, nodes)
        if fragment is not None:
            return fragment
    if schema.kind == "sentence" and name:
        return words(name, nodes)
    if schema.kind == "molecule":
        mol = to_rdkit(subgraph, cut_out=True)
        if mol is not None:
            return _cut_out_smiles(mol)
        kinds = subgraph.x[:, schema.kinds]
        if bool((kinds.sum(1) == 1).all()):  # one element per atom
            counts = Counter(schema.node_features[schema.kinds[column]] for column in kinds.argmax(1).tolist())
            return " ".join(f"{name}{count if count > 1 else ''}" for name, count in counts.items())
    edges = subgraph.edge_index.shape[1] // 2
    if cards is not None:
        return describe_nodes([cards[node] for node in targets_first(range(len(cards)), subgraph)], edges)
    size = f"{count(len(subgraph.x), 'node')}, {count(edges, 'edge')}"
    return f"around {name}: {size}" if name and subgraph.targets is not None else size


def describe_part(graph: GraphSet, nodes: Sequence[int], cards: Sequence[NodeCard] | None = None) -> str:
    """Some nodes of one graph, with the edges between them, in a few characters; of a network by their ``cards``."""
    if graph.schema.kind == "sentence" and graph.names is not None:
        return words(graph.names[0], nodes)
    mol = to_rdkit(graph)
    if mol is not None:
        return _smiles(mol, nodes)
    edges = edges_between(graph.edge_index, nodes)
    return f"{count(len(nodes), 'node')}, {count(edges, 'edge')}" if cards is None else describe_nodes(cards, edges)


def fragment_smiles(smiles: str, atoms: Sequence[int]) -> str | None:
    """The SMILES of some atoms of a molecule, none if it cannot be read; aromatic atoms are in small letters."""
    mol = source_of(smiles, list(atoms))
    return None if mol is None else _smiles(mol, atoms)


def molecule_smiles(graph: GraphSet) -> str | None:
    """The SMILES of a graph that is a molecule."""
    from rdkit import Chem

    mol = to_rdkit(graph)
    return None if mol is None else str(Chem.MolToSmiles(mol))


def words(sentence: str, nodes: Sequence[int]) -> str:
    """Some words of a sentence in their order, with dots where others stand between them."""
    tokens = sentence.split(" ")
    shown: list[str] = []
    before = None
    for node in sorted(nodes):
        if before is not None and node != before + 1:
            shown.append("…")
        shown.append(tokens[node] if node < len(tokens) else "?")
        before = node
    return " ".join(shown)


def _smiles(mol: Mol, atoms: Sequence[int]) -> str:
    from rdkit import Chem

    # Of a single atom its hydrogens are all that tells an alcohol's oxygen from a ketone's.
    text: str = Chem.MolFragmentToSmiles(mol, list(atoms), allHsExplicit=len(atoms) == 1)
    return text


def _cut_out_smiles(mol: Mol) -> str:
    """The SMILES of a part whose free valences are cut bonds, so that no atom needs brackets to say it has none."""
    from rdkit import Chem

    symbols = []
    for atom in mol.GetAtoms():
        symbol, charge = atom.GetSymbol(), atom.GetFormalCharge()
        plain = symbol in ("B", "C", "N", "O", "P", "S", "F", "Cl", "Br", "I") and not charge
        symbol = symbol.lower() if atom.GetIsAromatic() else symbol
        sign = {1: "+", -1: "-"}.get(charge, f"{charge:+d}") if charge else ""
        symbols.append(symbol if plain else f"[{symbol}{sign}]")
    text: str = Chem.MolFragmentToSmiles(mol, list(range(mol.GetNumAtoms())), atomSymbols=symbols)
    return text


def count(number: int, what: str) -> str:
    """``1 row``, ``2 rows``."""
    return f"{number} {what}{'' if number == 1 else 's'}"
