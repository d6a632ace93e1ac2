"""Subgraphs in words: a fragment's SMILES, its composition, or its size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from protgnn.graphs.packed import GraphSet


def describe_subgraph(subgraph: GraphSet, nodes: Sequence[int]) -> str:
    """One subgraph in a few characters; ``nodes`` are its nodes in the graph that it is named after."""
    schema = subgraph.schema
    if schema.featurizer == "molecule" and subgraph.names is not None:
        fragment = fragment_smiles(subgraph.names[0], nodes)
        if fragment is not None:
            return fragment
    if schema.kind == "molecule" and bool((subgraph.x.sum(1) == 1).all()):  # one element per atom
        counts = Counter(schema.node_features[column] for column in subgraph.x.argmax(1).tolist())
        return " ".join(f"{name}{count if count > 1 else ''}" for name, count in counts.items())
    edges = subgraph.edge_index.shape[1] // 2
    return f"{len(subgraph.x)} nodes, {edges} edges"


def fragment_smiles(smiles: str, atoms: Sequence[int]) -> str | None:
    """The SMILES of some atoms of a molecule, none if it cannot be read; aromatic atoms are in small letters."""
    from rdkit import Chem

    molecule = Chem.MolFromSmiles(smiles)
    if molecule is None or not atoms or max(atoms) >= molecule.GetNumAtoms():
        return None
    fragment: str = Chem.MolFragmentToSmiles(molecule, list(atoms))
    return fragment
