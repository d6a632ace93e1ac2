"""Checks at the door for networks: what comes in is mended or refused here, so that the inside can trust it.

What leaves has no self-loops and no edge twice, and both directions of every edge unless the network is directed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from protgnn.errors import DataError
from protgnn.graphs.ascending import distinct, first_of_each
from protgnn.graphs.labels import MAX_CLASSES
from protgnn.graphs.network import UNKNOWN, Network
from protgnn.graphs.packed import offsets
from protgnn.graphs.schema import Schema

if TYPE_CHECKING:
    from torch_geometric.data import Data

_MOST_NODES = 2**31 - 1  # edges are stored as int32


def check_network(
    x: Tensor,
    edge_index: Tensor,
    *,
    edge_attr: Tensor | None = None,
    y: Tensor | None = None,
    motif: Tensor | None = None,
    names: Sequence[str] | None = None,
    schema: Schema | None = None,
    directed: bool = False,
) -> tuple[Network, list[str]]:
    """A network from an edge list, and a sentence for each thing that was mended.

    ``x [N, F]``, ``edge_index [2, E]`` in any order, one direction being enough unless ``directed``, ``edge_attr
    [E, D]``, ``y [N]`` with -1 for nodes without a label, ``motif [N]`` with -1 for nodes in none. Raises
    ``DataError`` naming the node or edge for what cannot be mended.
    """
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
    ptr, neighbour, edge_attr, notes = _rows(source, target, edge_attr, len(x), directed, names)
    schema = replace(schema, node_features=columns, edge_features=edge_columns, class_names=classes)
    named = None if names is None else tuple(names)
    return Network(x, ptr, neighbour, edge_attr, y, motif, named, schema, directed), notes


def from_pyg(data: Data, schema: Schema | None = None, directed: bool = False) -> tuple[Network, list[str]]:
    """A checked network from one PyG ``Data``; see ``Network.from_pyg``."""
    from torch_geometric.data import Data

    if not isinstance(data, Data):
        raise DataError(f"Expected one torch_geometric Data (got {type(data).__name__})")
    if data.x is None:
        raise DataError("The network has no node features: set `x`, or add some with a PyG transform")
    if data.edge_index is None:
        raise DataError("The network has no `edge_index`: give an empty one, [2, 0], if it has no edges")
    y = data.y
    if y is not None and y.dim() == 2 and y.shape[1] == 1:
        y = y[:, 0]
    return check_network(
        data.x,
        data.edge_index,
        edge_attr=data.edge_attr,
        y=y,
        motif=data.get("motif"),
        names=data.get("names"),
        schema=schema,
        directed=directed,
    )


def _called(node: int, names: Sequence[str] | None) -> str:
    return f"node {node}" if names is None else f"node {node} ({names[node]})"


def _not_finite(values: Tensor) -> tuple[int, int] | None:
    """Row and column of the first NaN or infinity."""
    if bool(values.sum().isfinite()):  # one pass without a mask as large as the values; either would spoil the sum
        return None
    bad = (~values.isfinite()).nonzero()
    return (int(bad[0, 0]), int(bad[0, 1])) if len(bad) else None


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
    columns = columns or tuple(f"x{column}" for column in range(x.shape[1]))
    if len(columns) != x.shape[1]:
        raise DataError(f"Expected {len(columns)} node features, as named in the schema (got {x.shape[1]})")
    x = x.to(torch.float32).contiguous()
    place = _not_finite(x)
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
    if edge_index.is_floating_point() or edge_index.dtype == torch.bool:
        raise DataError(f"Expected whole numbers in the edges (got {edge_index.dtype}): number the nodes from 0")
    ends = edge_index.to(torch.int64).numpy()
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
    columns = columns or tuple(f"e{column}" for column in range(attr.shape[1]))
    if len(columns) != attr.shape[1]:
        raise DataError(f"Expected {len(columns)} edge attributes, as named in the schema (got {attr.shape[1]})")
    attr = attr.to(torch.float32)
    place = _not_finite(attr)
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


def _rows(
    source: np.ndarray,
    target: np.ndarray,
    attr: Tensor | None,
    num_nodes: int,
    directed: bool,
    names: Sequence[str] | None,
) -> tuple[Tensor, Tensor, Tensor | None, list[str]]:
    """Row pointers, sources and attributes of the canonical edges, and notes on what was mended.

    An edge is one number, target · N + source, and mending is sorting these.
    """
    notes: list[str] = []
    stays = source != target
    if not stays.all():
        notes.append(f"Dropped {int((~stays).sum())} self-loops: every node hears itself anyway")
        source, target = source[stays], target[stays]
        attr = None if attr is None else attr[torch.from_numpy(stays)]
    key = target * num_nodes + source
    given = len(key)
    key, attr = _sorted_once(key, attr, num_nodes, names, "is listed twice with")
    if len(key) < given:
        notes.append(f"Dropped {given - len(key)} edges that are listed twice")
    if not directed:
        listed = len(key)
        turned = key % num_nodes * num_nodes + key // num_nodes
        both = None if attr is None else torch.cat([attr, attr])
        key, attr = _sorted_once(np.concatenate([key, turned]), both, num_nodes, names, "has in its two directions")
        if len(key) > listed:
            notes.append(
                f"Mirrored {len(key) - listed} edges given in one direction only: the network is taken as undirected"
            )
    ptr = offsets(torch.from_numpy(np.bincount(key // num_nodes, minlength=num_nodes)))
    return ptr, torch.from_numpy((key % num_nodes).astype(np.int32)), attr, notes


def _sorted_once(
    key: np.ndarray, attr: Tensor | None, num_nodes: int, names: Sequence[str] | None, what: str
) -> tuple[np.ndarray, Tensor | None]:
    """The keys ascending, each once, and the attributes of each, which must not differ."""
    if attr is None:
        return distinct(key), None
    order = np.argsort(key, kind="stable")
    key, attr = key[order], attr[torch.from_numpy(order)]
    first = first_of_each(key)
    differs = (attr[1:] != attr[:-1]).any(dim=1).numpy() & ~first[1:]
    if differs.any():
        target, source = divmod(int(key[1:][differs.argmax()]), num_nodes)
        edge = f"({source}, {target})" if names is None else f"{names[source]} – {names[target]}"
        raise DataError(f"The edge {edge} {what} different attributes: give it one set of attributes")
    return key[first], attr[torch.from_numpy(first)]
