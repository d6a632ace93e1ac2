"""From and to PyG's ``Data``: tensors in, tensors out, without loss.

The lower layer of ``GraphSet.from_pyg``, ``GraphSet.to_pyg`` and ``Network.from_pyg``: it knows ``Data`` and the names
of fields, and neither of these classes. PyG itself is imported when it is first needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from protgnn.data.batch import full_precision, offsets
from protgnn.errors import DataError

if TYPE_CHECKING:
    from torch_geometric.data import Data


def graph_set_fields(graphs: Iterable[Data] | Data) -> dict[str, Any]:
    """The fields of a ``GraphSet`` that holds these ``Data`` objects.

    Labels, targets, names and ground truth come along; all graphs have one or none has. Raises ``DataError`` naming
    the graph that does not fit.
    """
    from torch_geometric.data import Data

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
    return {
        "x": x.to(torch.float32),
        "edge_index": torch.cat([item.edge_index for item in items], dim=1),
        "node_ptr": offsets(torch.tensor([item.x.shape[0] for item in items])),
        "edge_ptr": offsets(torch.tensor([item.edge_index.shape[1] for item in items])),
        "edge_attr": None if edge_attr is None else edge_attr.to(torch.float32),
        "y": _label(items),
        "targets": _targets(items),
        "node_mask": _per_node(items, "node_mask"),
        "names": None if names is None else tuple(str(name) for name in names),
        "missing_degree": _per_node(items, "missing_degree"),
        "n_id": _per_node(items, "n_id"),
        "bound": _per_edge(items, "bound"),
    }


def to_data_list(fields: Mapping[str, Any]) -> list[Data]:
    """One ``Data`` per graph, from the fields of a ``GraphSet``."""
    from torch_geometric.data import Data

    node_ptr, edge_ptr = fields["node_ptr"].tolist(), fields["edge_ptr"].tolist()
    found = []
    for number in range(len(node_ptr) - 1):
        nodes = slice(node_ptr[number], node_ptr[number + 1])
        edges = slice(edge_ptr[number], edge_ptr[number + 1])
        graph = slice(number, number + 1)
        item = Data(x=full_precision(fields["x"][nodes]), edge_index=fields["edge_index"][:, edges])
        for name, rows in (
            ("edge_attr", edges),
            ("y", graph),
            ("targets", graph),
            ("node_mask", nodes),
            ("missing_degree", nodes),
            ("n_id", nodes),
            ("bound", edges),
        ):
            if fields[name] is not None:
                item[name] = fields[name][rows]
        if fields["names"] is not None:
            item.name = fields["names"][number]
        found.append(item)
    return found


def network_fields(data: Data) -> dict[str, Any]:
    """What one ``Data`` says of a network: the arguments of ``Network.from_edge_index``, not yet checked."""
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
    return {
        "x": data.x,
        "edge_index": data.edge_index,
        "edge_attr": data.edge_attr,
        "y": y,
        "motif": data.get("motif"),
        "names": data.get("names"),
    }


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


def _per_edge(items: list[Data], name: str) -> Tensor | None:
    tensors = _tensors(items, name)
    for number, tensor in enumerate(tensors or ()):
        edges = items[number].edge_index.shape[1]
        if tensor.shape != (edges,):
            raise DataError(
                f"Expected `{name}` of graph {number} to have one value per edge (got {tuple(tensor.shape)})"
            )
    return None if tensors is None else torch.cat(tensors).bool()
