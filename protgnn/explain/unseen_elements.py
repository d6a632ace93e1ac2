"""Elements that no training molecule contains: the model has learned nothing about them."""

from __future__ import annotations

import torch

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.datasets.readers.label_column import lines_named
from protgnn.explain.to_rdkit import to_rdkit
from protgnn.training.run import Run


def unseen_elements(graph: GraphSet, run: Run) -> list[str]:
    """Name each element of one molecule that no training molecule contains, in a sentence each."""
    return [
        f"{_atoms(graph, column)}, which no training molecule contains: the model has learned nothing about it"
        for column in _unseen_columns(graph, run.seen)
    ]


def unseen_notes(graphs: GraphSet, run: Run) -> dict[int, tuple[str, ...]]:
    """Name such elements for many molecules: the sentences by the number of the molecule, for those that have any."""
    return {row: tuple(unseen_elements(graphs[row], run)) for row in rows_with_unseen(graphs, run.seen)}


def unseen_among(graphs: Instances, run: Run) -> str | None:
    """Count the molecules that have such elements, in one sentence; nothing where none has. They are named by their
    lines in the file, where they are of one."""
    if not isinstance(graphs, GraphSet):
        return None
    rows = rows_with_unseen(graphs, run.seen)
    if not rows:
        return None
    where = lines_named(rows, "row") if graphs.lines is None else lines_named(graphs.lines[rows].tolist())
    return said_of_unseen(len(rows), len(graphs), where)


def rows_with_unseen(graphs: GraphSet, seen: list[int] | None) -> list[int]:
    """The molecules that have elements other than those of the columns that were ``seen`` in training, by number."""
    columns = _unseen_columns(graphs, seen)
    return _rows_with(columns, graphs) if columns else []


def said_of_unseen(count: int, total: int, where: str) -> str:
    """The sentence on so many molecules of ``total``; ``where`` names their lines or rows."""
    verb = "contains" if count == 1 else "contain"
    return f"{count} of {total} {verb} elements that no training molecule contains: {where}"


def _rows_with(columns: list[int], graphs: GraphSet) -> list[int]:
    owner = torch.arange(len(graphs)).repeat_interleave(graphs.node_counts)
    return sorted(set(owner[graphs.x[:, columns].any(1)].tolist()))


def _unseen_columns(graphs: GraphSet, seen: list[int] | None) -> list[int]:
    """The columns of elements that occur in these molecules and not in the training set.

    A run remembers what its training set had; one that was written before it did says nothing.
    """
    schema = graphs.schema
    if schema.kind != "molecule" or seen is None:
        return []
    given = schema.featurizer != "molecule"
    return [
        column
        for column in schema.kinds
        if (given or schema.node_features[column].startswith("element="))
        and column not in seen
        and bool(graphs.x[:, column].any())
    ]


def _atoms(graph: GraphSet, column: int) -> str:
    """``atom 11 is Xe``."""
    atoms = graph.x[:, column].nonzero().squeeze(1).tolist()
    mol = to_rdkit(graph)
    kind = graph.schema.node_features[column].rpartition("=")[2]
    if mol is not None:
        kind = " or ".join(sorted({mol.GetAtomWithIdx(atom).GetSymbol() for atom in atoms}))
    return f"atom {atoms[0]} is {kind}" if len(atoms) == 1 else f"atoms {', '.join(map(str, atoms))} are {kind}"
