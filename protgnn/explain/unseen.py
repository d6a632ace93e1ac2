"""Kinds of nodes that no training graph had: the model has never learned anything about them."""

from __future__ import annotations

import torch

from protgnn.errors import ProtGNNError
from protgnn.explain.chemistry import molecule_of
from protgnn.explain.own_data import own_part
from protgnn.graphs.instances import Instances
from protgnn.graphs.packed import GraphSet
from protgnn.training.run import Run


def unseen_kinds(graph: GraphSet, run: Run) -> list[str]:
    """A sentence for each element in a molecule that the training molecules are without."""
    return [
        f"{_atoms(graph, column)}, which no training molecule contains: the model has learned nothing about it"
        for column in _unseen_columns(graph, run)
    ]


def unseen_among(graphs: Instances, run: Run) -> str | None:
    """One sentence on all molecules that have such elements, nothing where none has."""
    if not isinstance(graphs, GraphSet):
        return None
    columns = _unseen_columns(graphs, run)
    if not columns:
        return None
    owner = torch.arange(len(graphs)).repeat_interleave(graphs.node_counts)
    rows = sorted(set(owner[graphs.x[:, columns].any(1)].tolist()))
    listed = ", ".join(map(str, rows[:10])) + (", …" if len(rows) > 10 else "")
    return f"{len(rows)} of {len(graphs)} contain elements that no training molecule contains: row {listed}"


def _unseen_columns(graphs: GraphSet, run: Run) -> list[int]:
    """The columns of elements that occur in these molecules and not in the training part.

    Prototypes are training graphs, so what they contain needs no further check: the training data is only read again
    for an element that none of them has.
    """
    schema = graphs.schema
    if schema.kind != "molecule":
        return []
    given = schema.featurizer != "molecule"
    used = [
        column
        for column in schema.kinds
        if (given or schema.node_features[column].startswith("element=")) and bool(graphs.x[:, column].any())
    ]
    if run.prototypes is not None:
        used = [column for column in used if not bool(run.prototypes.subgraphs.x[:, column].any())]
    if not used:
        return []
    try:
        trained = own_part(run, "train").apart()
    except ProtGNNError:
        return []  # without the training data there is nothing to compare with, and familiarity still warns
    return [column for column in used if not bool(trained.x[:, column].any())]


def _atoms(graph: GraphSet, column: int) -> str:
    """``atom 11 is Xe``."""
    atoms = graph.x[:, column].nonzero().squeeze(1).tolist()
    mol = molecule_of(graph)
    kind = graph.schema.node_features[column].rpartition("=")[2]
    if mol is not None:
        kind = " or ".join(sorted({mol.GetAtomWithIdx(atom).GetSymbol() for atom in atoms}))
    return f"atom {atoms[0]} is {kind}" if len(atoms) == 1 else f"atoms {', '.join(map(str, atoms))} are {kind}"
