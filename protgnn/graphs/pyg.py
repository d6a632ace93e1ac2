"""From and to PyG's ``Data``, without loss."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data

from protgnn.errors import DataError
from protgnn.graphs.packed import GraphSet, offsets
from protgnn.graphs.schema import Schema


def pack(graphs: Sequence[Data], schema: Schema | None = None) -> GraphSet:
    """Pack ``Data`` objects; labels, targets, names and ground truth are taken where every graph has them."""
    items = list(graphs)
    if not items:
        raise DataError("Expected at least one graph (got an empty list)")
    for number, item in enumerate(items):
        if not isinstance(item, Data):
            raise DataError(f"Expected a torch_geometric Data at graph {number} (got {type(item).__name__})")
        if item.x is None:
            raise DataError(f"Graph {number} has no node features: set `x`, or add some with a PyG transform")
        if item.x.dim() != 2:
            raise DataError(f"Expected `x` of graph {number} to have two dimensions (got {tuple(item.x.shape)})")
        if item.edge_index is None:
            raise DataError(f"Graph {number} has no `edge_index`: give an empty one, [2, 0], if it has no edges")
    edge_attr = _joined(items, "edge_attr")
    if edge_attr is not None and edge_attr.dim() == 1:
        edge_attr = edge_attr[:, None]
    targets = _joined(items, "targets")
    y = _joined(items, "y")
    _same_width(items, "x")
    names = [getattr(item, "name", None) for item in items]
    return GraphSet(
        x=torch.cat([item.x for item in items]).to(torch.float32),
        edge_index=torch.cat([item.edge_index for item in items], dim=1),
        node_ptr=offsets(torch.tensor([item.x.shape[0] for item in items])),
        edge_ptr=offsets(torch.tensor([item.edge_index.shape[1] for item in items])),
        edge_attr=None if edge_attr is None else edge_attr.to(torch.float32),
        y=None if y is None else y.reshape(len(items), -1)[:, 0],
        targets=None if targets is None else targets.reshape(len(items), -1),
        node_truth=_joined(items, "node_truth"),
        names=tuple(names) if all(isinstance(name, str) for name in names) else None,  # type: ignore[arg-type]
        schema=schema or Schema(),
    )


def unpack(graphs: GraphSet) -> list[Data]:
    """One ``Data`` per graph."""
    found = []
    for number in range(len(graphs)):
        nodes = slice(int(graphs.node_ptr[number]), int(graphs.node_ptr[number + 1]))
        edges = slice(int(graphs.edge_ptr[number]), int(graphs.edge_ptr[number + 1]))
        item = Data(x=graphs.x[nodes], edge_index=graphs.edge_index[:, edges])
        if graphs.edge_attr is not None:
            item.edge_attr = graphs.edge_attr[edges]
        if graphs.y is not None:
            item.y = graphs.y[number : number + 1]
        if graphs.targets is not None:
            item.targets = graphs.targets[number : number + 1]
        if graphs.node_truth is not None:
            item.node_truth = graphs.node_truth[nodes]
        if graphs.names is not None:
            item.name = graphs.names[number]
        found.append(item)
    return found


def _same_width(items: list[Data], name: str) -> None:
    widths = [getattr(item, name).shape[-1] for item in items]
    for number, width in enumerate(widths):
        if width != widths[0]:
            raise DataError(f"Graph {number} has {width} columns in `{name}`, graph 0 has {widths[0]}: make them equal")


def _joined(items: list[Data], name: str) -> Tensor | None:
    tensors = [getattr(item, name, None) for item in items]
    if any(tensor is None for tensor in tensors):
        return None
    if name == "edge_attr" and tensors[0].dim() == 2:
        _same_width(items, name)
    return torch.cat(
        [torch.as_tensor(tensor).reshape(1) if not torch.as_tensor(tensor).dim() else tensor for tensor in tensors]
    )
