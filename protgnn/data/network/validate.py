"""Validation of networks, once, where they come in: repaired or refused here, so that all other code can trust them.

A checked network has no self-loops, no edge twice, and both directions of every edge unless it is directed. This module
works on tensors; ``Network.from_edge_index`` and ``Network.from_pyg`` build on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict

import numpy as np
import torch
from torch import Tensor

from protgnn.data.batch import offsets
from protgnn.data.canonical_edges import ConflictingAttributes, canonical_edges
from protgnn.data.labels import MAX_CLASSES, UNKNOWN
from protgnn.data.schema import Schema
from protgnn.data.tensor_checks import column_names, first_not_finite, whole_numbers
from protgnn.errors import DataError

_MOST_NODES = 2**31 - 1  # edges are stored as int32


class NetworkFields(TypedDict):
    """The fields of a ``Network``, checked; see there for their shapes."""

    x: Tensor
    ptr: Tensor
    source: Tensor
    edge_attr: Tensor | None
    y: Tensor | None
    motif: Tensor | None
    names: tuple[str, ...] | None
    schema: Schema
    directed: bool


def checked_fields(
    x: Tensor,
    edge_index: Tensor,
    *,
    edge_attr: Tensor | None = None,
    y: Tensor | None = None,
    motif: Tensor | None = None,
    names: Sequence[str] | None = None,
    schema: Schema | None = None,
    directed: bool = False,
) -> tuple[NetworkFields, list[str]]:
    """The fields of a network from an edge list, and a note on each kind of repair; see ``Network.from_edge_index``."""
    schema = schema or Schema()
    if names is not None and len(names) != len(x):
        raise DataError(f"Expected {len(x)} names, one per node (got {len(names)})")
    x, columns = _checked_features(x, names, schema.node_features)
    source, target = _checked_ends(edge_index, len(x))
    edge_columns: tuple[str, ...] = ()
    if edge_attr is not None:
        edge_attr, edge_columns = _checked_attributes(edge_attr, source, target, schema.edge_features)
    y, classes = _checked_classes(y, names, len(x), schema.class_names)
    if motif is not None:
        if motif.shape != (len(x),) or motif.is_floating_point():
            raise DataError(f"Expected the number of a motif for each of {len(x)} nodes (got {tuple(motif.shape)})")
        motif = motif.to(torch.int32)
    ptr, neighbour, edge_attr, notes = _canonical(source, target, edge_attr, len(x), directed, names)
    fields = NetworkFields(
        x=x,
        ptr=ptr,
        source=neighbour,
        edge_attr=edge_attr,
        y=y,
        motif=motif,
        names=None if names is None else tuple(names),
        schema=replace(schema, node_features=columns, edge_features=edge_columns, class_names=classes),
        directed=directed,
    )
    return fields, notes


def _called(node: int, names: Sequence[str] | None) -> str:
    return f"node {node}" if names is None else f"node {node} ({names[node]})"


def _checked_features(
    x: Tensor, names: Sequence[str] | None, columns: tuple[str, ...]
) -> tuple[Tensor, tuple[str, ...]]:
    if x.dim() != 2 or not x.shape[0] or not x.shape[1]:
        raise DataError(
            f"Expected node features of shape [nodes, columns], at least one of each (got {tuple(x.shape)}): "
            "give every node a feature, a constant 1 if there is none"
        )
    if len(x) > _MOST_NODES:
        raise DataError(f"Expected at most {_MOST_NODES} nodes (got {len(x)})")
    columns = column_names(x, columns, "x", "node features")
    x = x.to(torch.float32).contiguous()
    place = first_not_finite(x)
    if place is not None:
        raise DataError(
            f"{_called(place[0], names)} has the feature {float(x[place])} in column {columns[place[1]]}: "
            "replace it by a finite number"
        )
    return x, columns


def _checked_ends(edge_index: Tensor, num_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    if edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise DataError(
            f"Expected edges of shape [2, edges] (got {tuple(edge_index.shape)}): one column per edge, source above "
            "target"
        )
    ends = whole_numbers(edge_index).numpy()
    for row in ends:
        if len(row) and (row.min() < 0 or row.max() >= num_nodes):
            edge = int(((row < 0) | (row >= num_nodes)).argmax())
            raise DataError(
                f"Edge {edge} is {tuple(ends[:, edge].tolist())} but the nodes are 0 to {num_nodes - 1}: "
                "number the nodes from 0"
            )
    return ends[0], ends[1]


def _checked_attributes(
    attr: Tensor, source: np.ndarray, target: np.ndarray, columns: tuple[str, ...]
) -> tuple[Tensor, tuple[str, ...]]:
    attr = attr[:, None] if attr.dim() == 1 else attr
    if attr.dim() != 2 or len(attr) != len(source):
        raise DataError(
            f"Expected edge attributes of shape [{len(source)}, columns] (got {tuple(attr.shape)}): one row per edge"
        )
    columns = column_names(attr, columns, "e", "edge attributes")
    attr = attr.to(torch.float32)
    place = first_not_finite(attr)
    if place is not None:
        edge, column = place
        raise DataError(
            f"The edge {int(source[edge]), int(target[edge])} has the attribute {float(attr[place])} in column "
            f"{columns[column]}: replace it by a finite number"
        )
    return attr, columns


def _checked_classes(
    y: Tensor | None, names: Sequence[str] | None, num_nodes: int, classes: tuple[str, ...]
) -> tuple[Tensor | None, tuple[str, ...]]:
    if y is None:
        return None, classes
    if y.dim() != 1 or len(y) != num_nodes:
        raise DataError(f"Expected one label per node, shape [{num_nodes}] (got {tuple(y.shape)})")
    whole = y.nan_to_num(0.5, 0.5, 0.5).to(torch.int64) if y.is_floating_point() else y.to(torch.int64)
    wrong = (whole != y) | (whole < UNKNOWN)
    if bool(wrong.any()):
        node = int(wrong.nonzero()[0, 0])
        raise DataError(
            f"{_called(node, names)} has the label {y[node].item()}, which is not a class: number the classes "
            f"0, 1, 2, …, and give {UNKNOWN} to nodes without a label"
        )
    limit = len(classes) or MAX_CLASSES
    if int(whole.max()) >= limit:
        node = int(whole.argmax())
        allowed = f"there are only {limit} classes ({', '.join(classes)})" if classes else f"at most {limit} can be"
        raise DataError(
            f"{_called(node, names)} has the label {int(whole[node])} but {allowed}: "
            "number the classes 0, 1, 2, … without gaps"
        )
    return whole, classes or tuple(str(value) for value in range(int(whole.max()) + 1))


def _canonical(
    source: np.ndarray,
    target: np.ndarray,
    attr: Tensor | None,
    num_nodes: int,
    directed: bool,
    names: Sequence[str] | None,
) -> tuple[Tensor, Tensor, Tensor | None, list[str]]:
    """Row pointers, sources and attributes of the canonical edges, and a note on each kind of repair."""
    try:
        edges = canonical_edges(source, target, num_nodes, attr, directed)
    except ConflictingAttributes as conflict:
        ends = (conflict.source, conflict.target)
        edge = str(ends) if names is None else " – ".join(names[end] for end in ends)
        if conflict.reverse:
            raise DataError(
                f"The edge {edge} has in its two directions different attributes: keep both with directed=True "
                "(--directed), or give it one set of attributes first, such as by torch_geometric.utils.to_undirected"
                '(edge_index, edge_attr, reduce="mean")'
            ) from None
        raise DataError(
            f"The edge {edge} is listed twice with different attributes: give it one set of attributes first, such as "
            'by torch_geometric.utils.coalesce(edge_index, edge_attr, reduce="mean")'
        ) from None
    notes = []
    if edges.self_loops.any():
        notes.append(f"Dropped {edges.self_loops.sum()} self-loops: every node sends a message to itself anyway")
    if edges.duplicates.any():
        notes.append(f"Dropped {edges.duplicates.sum()} edges that are listed twice")
    if edges.mirrored.any():
        notes.append(
            f"Mirrored {edges.mirrored.sum()} edges given in one direction only: the network is taken as undirected"
        )
    ptr = offsets(torch.from_numpy(edges.degree))
    return ptr, torch.from_numpy(edges.source.astype(np.int32)), edges.edge_attr, notes
