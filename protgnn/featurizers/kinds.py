"""The visible labels of nodes and edges, by which :mod:`protgnn.data.resemblance` compares parts."""

from __future__ import annotations

from collections.abc import Hashable

from protgnn.data.graph_set import GraphSet
from protgnn.data.resemblance import Kinds


def kinds_of(graph: GraphSet) -> Kinds:
    """The labels of the nodes and edges of a set of one graph.

    The label of an atom is its element, charge and aromaticity, that of a bond its type, that of a word its lower-cased
    form, and that of any other node its features except the degree. A target node has a label of its own.
    """
    schema = graph.schema
    words = graph.names[0].split(" ") if schema.kind == "sentence" and graph.names is not None else []
    if len(words) == len(graph.x):  # a word may contain other kinds of spaces
        nodes: list[Hashable] = [word.lower() for word in words]
    else:
        columns = drawn_columns(schema.node_features) if schema.featurizer == "molecule" else schema.seen_in_parts
        nodes = [tuple(row) for row in graph.x[:, columns].tolist()]
    for target in [] if graph.targets is None else graph.targets.reshape(-1).tolist():
        nodes[target] = ("target", nodes[target])
    edges: list[list[tuple[int, Hashable]]] = [[] for _ in nodes]
    bonds = [number for number, name in enumerate(schema.edge_features) if name.startswith("bond=")]
    attr = None if graph.edge_attr is None else graph.edge_attr[:, bonds] if bonds else graph.edge_attr
    labels = [()] * graph.edge_index.shape[1] if attr is None else list(map(tuple, attr.tolist()))
    for (start, end), label in zip(graph.edge_index.t().tolist(), labels, strict=True):
        edges[end].append((start, label))
    return Kinds(nodes, edges)


def drawn_columns(names: tuple[str, ...]) -> list[int]:
    """The columns of atom features that a structural formula shows."""
    return [
        number for number, name in enumerate(names) if name.startswith(("element=", "charge=")) or name == "aromatic"
    ]
