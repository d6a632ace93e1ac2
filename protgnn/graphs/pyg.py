"""From and to PyG's ``Data``, without loss."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data

from protgnn.errors import DataError
from protgnn.graphs.packed import GraphSet, full_precision, offsets
from protgnn.graphs.schema import Schema


def pack(graphs: Sequence[Data] | Data, schema: Schema | None = None) -> GraphSet:
    """Pack ``Data`` objects with their labels, targets, names and ground truth, which all graphs have or none."""
    if isinstance(graphs, Data):  # itself a sequence, of its attributes
        graphs = [graphs]
    if not isinstance(graphs, Iterable):
        raise DataError(f"Expected a GraphSet or a list of torch_geometric Data (got {type(graphs).__name__})")
    items = list(graphs)
    if not items:
        raise DataError("Expected at least one graph (got an empty list)")
    for number, item in enumerate(items):
        if not isinstance(item, Data):
            raise DataError(
                f"Expected SMILES, a GraphSet or a torch_geometric Data at graph {number} (got {type(item).__name__})"
            )
        if item.x is None:
            raise DataError(f"Graph {number} has no node features: set `x`, or add some with a PyG transform")
        if item.edge_index is None:
            raise DataError(f"Graph {number} has no `edge_index`: give an empty one, [2, 0], if it has no edges")
        if item.edge_index.dim() != 2 or item.edge_index.shape[0] != 2:
            raise DataError(
                f"Expected `edge_index` of graph {number} to have shape [2, edges] (got {tuple(item.edge_index.shape)})"
            )
    names = _given(items, "name")
    x, edge_attr = _table(items, "x"), _table(items, "edge_attr")
    assert x is not None
    return GraphSet(
        x=x.to(torch.float32),
        edge_index=torch.cat([item.edge_index for item in items], dim=1),
        node_ptr=offsets(torch.tensor([item.x.shape[0] for item in items])),
        edge_ptr=offsets(torch.tensor([item.edge_index.shape[1] for item in items])),
        edge_attr=None if edge_attr is None else edge_attr.to(torch.float32),
        y=_label(items),
        targets=_targets(items),
        node_truth=_per_node(items, "node_truth"),
        names=None if names is None else tuple(str(name) for name in names),
        schema=schema or Schema(),
        outside=_per_node(items, "outside"),
        origin=_per_node(items, "origin"),
    )


def unpack(graphs: GraphSet) -> list[Data]:
    """One ``Data`` per graph."""
    found = []
    for number in range(len(graphs)):
        nodes = slice(int(graphs.node_ptr[number]), int(graphs.node_ptr[number + 1]))
        edges = slice(int(graphs.edge_ptr[number]), int(graphs.edge_ptr[number + 1]))
        item = Data(x=full_precision(graphs.x[nodes]), edge_index=graphs.edge_index[:, edges])
        if graphs.edge_attr is not None:
            item.edge_attr = graphs.edge_attr[edges]
        if graphs.y is not None:
            item.y = graphs.y[number : number + 1]
        if graphs.targets is not None:
            item.targets = graphs.targets[number : number + 1]
        if graphs.node_truth is not None:
            item.node_truth = graphs.node_truth[nodes]
        if graphs.outside is not None:
            item.outside = graphs.outside[nodes]
        if graphs.origin is not None:
            item.origin = graphs.origin[nodes]
        if graphs.names is not None:
            item.name = graphs.names[number]
        found.append(item)
    return found


def _given(items: list[Data], name: str) -> list[object] | None:
    """One value per graph, or nothing if no graph has one."""
    values = [getattr(item, name, None) for item in items]
    if all(value is None for value in values):
        return None
    for number, value in enumerate(values):
        if value is None:
            raise DataError(f"Graph {number} has no `{name}` while others have one: give it to all graphs or none")
    return values


def _tensors(items: list[Data], name: str) -> list[Tensor] | None:
    values = _given(items, name)
    if values is None:
        return None
    found = []
    for number, value in enumerate(values):
        try:
            found.append(torch.as_tensor(value))
        except (TypeError, ValueError, RuntimeError):
            raise DataError(
                f"Graph {number} has the `{name}` {str(value)[:40]!r}, which is no number: give numbers"
                + (", or the labels to `fit` as a list of their own" if name == "y" else "")
            ) from None
    return found


def _table(items: list[Data], name: str) -> Tensor | None:
    """Rows of one width from all graphs, ``[rows, columns]``; a vector counts as one column."""
    tensors = _tensors(items, name)
    if tensors is None:
        return None
    tensors = [tensor[:, None] if tensor.dim() == 1 and name == "edge_attr" else tensor for tensor in tensors]
    for number, tensor in enumerate(tensors):
        if tensor.dim() != 2:
            raise DataError(f"Expected `{name}` of graph {number} to have two dimensions (got {tuple(tensor.shape)})")
        width, first = tensor.shape[1], tensors[0].shape[1]
        if width != first:
            raise DataError(f"Graph {number} has {width} columns in `{name}`, graph 0 has {first}: make them equal")
        rows = items[number].edge_index.shape[1] if name == "edge_attr" else len(tensor)
        if len(tensor) != rows:
            raise DataError(f"Graph {number} has {rows} edges but {len(tensor)} rows in `{name}`: give one per edge")
    return torch.cat(tensors)


def _label(items: list[Data]) -> Tensor | None:
    tensors = _tensors(items, "y")
    for number, tensor in enumerate(tensors or ()):
        if tensor.numel() != 1:
            raise DataError(
                f"Graph {number} has {tensor.numel()} labels (`y` of shape {tuple(tensor.shape)}) and should have one: "
                "choose one task, such as `data.y = data.y[:, 0]`"
            )
    return None if tensors is None else torch.cat([tensor.reshape(1) for tensor in tensors])


def _targets(items: list[Data]) -> Tensor | None:
    tensors = _tensors(items, "targets")
    if tensors is None:
        return None
    for number, tensor in enumerate(tensors):
        if tensor.numel() not in (1, 2) or tensor.numel() != tensors[0].numel():
            raise DataError(f"Expected one or two `targets` in every graph (got {tensor.numel()} in graph {number})")
    return torch.cat([tensor.reshape(1, -1) for tensor in tensors])


def _per_node(items: list[Data], name: str) -> Tensor | None:
    tensors = _tensors(items, name)
    for number, tensor in enumerate(tensors or ()):
        if tensor.shape != (len(items[number].x),):
            raise DataError(
                f"Expected `{name}` of graph {number} to have one value per node (got {tuple(tensor.shape)})"
            )
    return None if tensors is None else torch.cat(tensors)
