"""Graphs as Python code has them: sets, PyG ``Data``, RDKit molecules, SMILES and sentences, one or a list of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import NetworkInstances
from protgnn.data.schema import Schema
from protgnn.datasets.dataset import Dataset
from protgnn.datasets.network_dataset import NetworkDataset
from protgnn.datasets.new_input import as_model_smiles, read_sentences
from protgnn.errors import DataError
from protgnn.featurizers.molecule import from_smiles

GivenGraphs = GraphSet | NetworkInstances


def given_graphs(graphs: Any, schema: Schema | None = None) -> GivenGraphs:
    """Graphs of any kind as a set, as a model of the schema takes them; texts are SMILES or, for it, sentences.

    RDKit molecules are read by way of their canonical SMILES, in whose order their atoms are numbered.

    Raises:
        DataError: They are no graphs, or cannot be read.
    """
    if isinstance(graphs, GraphSet | NetworkInstances):
        return graphs
    if isinstance(graphs, Dataset | NetworkDataset):
        raise DataError("Expected graphs (got a dataset with its parts): give data.train, data.test or data.graphs")
    if isinstance(graphs, str) or _is_molecule(graphs):
        graphs = [graphs]
    items = list(graphs) if isinstance(graphs, Sequence | np.ndarray) else []
    if any(map(_is_molecule, items)):
        items = [_smiles_of(mol, number) for number, mol in enumerate(items)]
    if items and all(isinstance(item, str) for item in items):
        if schema is not None and schema.kind == "sentence":
            return read_sentences(items, schema)
        return from_smiles([item if schema is None else as_model_smiles(item, schema) for item in items])
    if items and all(isinstance(item, GraphSet) for item in items):
        return GraphSet.concatenate(items)
    return GraphSet.from_pyg(graphs)


def is_list(graphs: Any) -> bool:
    """Whether several graphs were given, were it but one in a list; a set of one graph is one graph."""
    return isinstance(graphs, Sequence | np.ndarray) and not isinstance(graphs, str | GraphSet | NetworkInstances)


def _is_molecule(item: Any) -> bool:
    return any(kind.__module__.startswith("rdkit.") and kind.__name__ == "Mol" for kind in type(item).__mro__)


def _smiles_of(mol: Any, number: int) -> str:
    from rdkit.Chem import MolToSmiles

    if not _is_molecule(mol):
        said = "None, which RDKit gives where it cannot read a molecule" if mol is None else type(mol).__name__
        raise DataError(f"Expected an RDKit molecule at place {number} (got {said}): leave it out")
    try:
        return str(MolToSmiles(mol))
    except (RuntimeError, ValueError):
        raise DataError(f"RDKit cannot write the molecule at place {number} as SMILES: sanitise it") from None
