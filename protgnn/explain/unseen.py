"""Kinds of nodes that no training graph had: the model has never learned anything about them."""

from __future__ import annotations

from protgnn.errors import ProtGNNError
from protgnn.explain.chemistry import molecule_of
from protgnn.explain.own_data import own_part
from protgnn.graphs.packed import GraphSet
from protgnn.training.run import Run


def unseen_kinds(graph: GraphSet, run: Run) -> list[str]:
    """A sentence for each element (or other kind of node) in a molecule that the training graphs are without.

    Prototypes are training graphs, so what they contain needs no further check; the training data is only read again
    for a kind that none of them has.
    """
    schema = graph.schema
    if schema.kind != "molecule":
        return []
    kinds = [
        column
        for column, name in enumerate(schema.node_features)
        if schema.featurizer != "molecule" or name.startswith("element=")
    ]
    used = [column for column in kinds if bool(graph.x[:, column].any())]
    if run.prototypes is not None:
        used = [column for column in used if not bool(run.prototypes.subgraphs.x[:, column].any())]
    if not used:
        return []
    try:
        trained = own_part(run, "train")
    except ProtGNNError:
        return []  # without the training data there is nothing to compare with, and familiarity still warns
    return [_sentence(graph, column) for column in used if not bool(trained.x[:, column].any())]


def _sentence(graph: GraphSet, column: int) -> str:
    atoms = graph.x[:, column].nonzero().squeeze(1).tolist()
    mol = molecule_of(graph)
    kind = graph.schema.node_features[column].rpartition("=")[2]
    if mol is not None:
        kind = " or ".join(sorted({mol.GetAtomWithIdx(atom).GetSymbol() for atom in atoms}))
    listed = f"atom {atoms[0]} is" if len(atoms) == 1 else f"atoms {', '.join(map(str, atoms))} are"
    return f"{listed} {kind}, which no training molecule contains: the model has learned nothing about it"
