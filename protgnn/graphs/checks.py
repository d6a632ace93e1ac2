"""Checks at the door, once: what comes in is mended or refused here, so that the inside can trust it.

What leaves is canonical: undirected (both directions stored), no self-loops, no duplicate edges, the edges of a
graph sorted by (target, source), features float32 or, if they came so, of half precision, classes
numbered from 0 and named.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from protgnn.errors import DataError
from protgnn.graphs.labels import MAX_CLASSES
from protgnn.graphs.packed import GraphSet, offsets

MIN_GRAPHS_PER_CLASS = 3
"""One for training, one for validation, one for the test."""

_SHOWN = 40  # characters of a graph's name in a message


def check(graphs: GraphSet, *, training: bool) -> tuple[GraphSet, list[str]]:
    """The same graphs in canonical form and a sentence for each thing that was handled.

    Raises ``DataError`` naming the graph for what cannot be handled. ``training`` also asks for labels with at least
    two classes and enough graphs of each.
    """
    graphs = _checked_nodes(graphs)
    graphs = _checked_edges(graphs)
    graphs = _checked_labels(graphs, training)
    _check_extras(graphs)
    return _canonical(graphs)


def describe(graphs: GraphSet, number: int) -> str:
    """How a message names a graph: ``graph 7 (CCO)``."""
    if graphs.names is None:
        return f"graph {number}"
    name = graphs.names[number]
    return f"graph {number} ({name if len(name) <= _SHOWN else name[: _SHOWN - 1] + '…'})"


def _first(mask: Tensor) -> int:
    return int(mask.nonzero()[0, 0])


def _owner(pointer: Tensor, row: int) -> int:
    """The graph that owns a row of the flat tensors."""
    return int(torch.searchsorted(pointer, torch.tensor(row), right=True)) - 1


def _not_finite(values: Tensor) -> tuple[int, int] | None:
    """Row and column of the first NaN or infinity."""
    if not values.numel() or all(bool(extreme.isfinite()) for extreme in values.aminmax()):
        return None  # found without a mask as large as the features
    bad = (~values.isfinite()).nonzero()
    return (int(bad[0, 0]), int(bad[0, 1])) if len(bad) else None


def _checked_nodes(graphs: GraphSet) -> GraphSet:
    if not len(graphs):
        raise DataError("Expected at least one graph (got none): check that the file or selection is not empty")
    empty = graphs.node_counts == 0
    if bool(empty.any()):
        who = describe(graphs, _first(empty))
        raise DataError(f"{who} has no nodes ({int(empty.sum())} such in all): remove it, nothing can be said about it")
    if graphs.x.dim() != 2 or not graphs.x.shape[1]:
        raise DataError(
            f"Expected node features of shape [nodes, at least one column] (got {tuple(graphs.x.shape)}): "
            "give every node a feature, a constant 1 if there is none"
        )
    names = graphs.schema.node_features or tuple(f"x{column}" for column in range(graphs.x.shape[1]))
    if len(names) != graphs.x.shape[1]:
        raise DataError(f"Expected {len(names)} node features, as named in the schema (got {graphs.x.shape[1]})")
    x = graphs.x if graphs.x.dtype == torch.float16 else graphs.x.to(torch.float32)
    place = _not_finite(x)
    if place is not None:
        node, column = place
        number = _owner(graphs.node_ptr, node)
        raise DataError(
            f"{describe(graphs, number)} has the feature {float(graphs.x[node, column])} at node "
            f"{node - int(graphs.node_ptr[number])}, column {names[column]}: replace it by a finite number"
        )
    return replace(graphs, x=x, schema=replace(graphs.schema, node_features=names))


def _checked_edges(graphs: GraphSet) -> GraphSet:
    edge_index = graphs.edge_index
    if edge_index.dim() != 2 or edge_index.shape[0] != 2 or edge_index.shape[1] != int(graphs.edge_ptr[-1]):
        raise DataError(
            f"Expected edges of shape [2, {int(graphs.edge_ptr[-1])}] (got {tuple(edge_index.shape)}): "
            "one column per edge, source above target"
        )
    if edge_index.is_floating_point() or edge_index.dtype == torch.bool:
        raise DataError(f"Expected whole numbers in the edges (got {edge_index.dtype}): number the nodes from 0")
    edge_index = edge_index.to(torch.int64)
    limit = graphs.node_counts.repeat_interleave(graphs.edge_counts)
    outside = ((edge_index < 0) | (edge_index >= limit)).any(dim=0)
    if bool(outside.any()):
        edge = _first(outside)
        number = _owner(graphs.edge_ptr, edge)
        raise DataError(
            f"{describe(graphs, number)} has the edge {tuple(edge_index[:, edge].tolist())} but its nodes are "
            f"0 to {int(limit[edge]) - 1}: number the nodes of each graph from 0"
        )
    if graphs.edge_attr is None:
        return replace(graphs, edge_index=edge_index, schema=replace(graphs.schema, edge_features=()))
    attr = graphs.edge_attr.to(torch.float32)
    if attr.dim() != 2 or len(attr) != edge_index.shape[1]:
        raise DataError(
            f"Expected edge attributes of shape [{edge_index.shape[1]}, columns] (got {tuple(attr.shape)}): "
            "one row per edge"
        )
    names = graphs.schema.edge_features or tuple(f"e{column}" for column in range(attr.shape[1]))
    if len(names) != attr.shape[1]:
        raise DataError(f"Expected {len(names)} edge attributes, as named in the schema (got {attr.shape[1]})")
    place = _not_finite(attr)
    if place is not None:
        edge, column = place
        number = _owner(graphs.edge_ptr, edge)
        raise DataError(
            f"{describe(graphs, number)} has the edge attribute {float(graphs.edge_attr[edge, column])} at the edge "
            f"{tuple(edge_index[:, edge].tolist())}, column {names[column]}: replace it by a finite number"
        )
    return replace(graphs, edge_index=edge_index, edge_attr=attr, schema=replace(graphs.schema, edge_features=names))


def _checked_labels(graphs: GraphSet, training: bool) -> GraphSet:
    if graphs.y is None:
        if training:
            raise DataError("Expected a label for every graph (got none): training needs classes to learn")
        return graphs
    if graphs.y.dim() != 1 or len(graphs.y) != len(graphs):
        raise DataError(
            f"Expected one label per graph, shape [{len(graphs)}] (got {tuple(graphs.y.shape)}): "
            "keep one class per graph; choose one task where there are several"
        )
    label = graphs.y
    wrong = ~label.isfinite() if label.is_floating_point() else torch.zeros(len(label), dtype=torch.bool)
    y = label.nan_to_num(0.0, 0.0, 0.0).to(torch.int64) if label.is_floating_point() else label.to(torch.int64)
    wrong = wrong | (y != label) | (y < 0)
    if bool(wrong.any()):
        number = _first(wrong)
        raise DataError(
            f"{describe(graphs, number)} has the label {label[number].item()}, which is not a class: "
            "number the classes 0, 1, 2, …; sort measurements into classes first"
        )
    highest = int(y.max())
    names = graphs.schema.class_names
    if not names:
        if highest >= MAX_CLASSES:
            number = int(y.argmax())
            raise DataError(
                f"{describe(graphs, number)} has the label {highest}, which would make {highest + 1} classes "
                f"(at most {MAX_CLASSES}): number the classes 0, 1, 2, … without gaps"
            )
        names = tuple(str(value) for value in range(highest + 1))
    if highest >= len(names):
        number = int(y.argmax())
        raise DataError(
            f"{describe(graphs, number)} has the label {highest} but there are only {len(names)} classes "
            f"({', '.join(names)}): mend the label or name the class"
        )
    if training:
        _check_class_sizes(y, names)
    return replace(graphs, y=y, schema=replace(graphs.schema, class_names=names))


def _check_class_sizes(y: Tensor, names: tuple[str, ...]) -> None:
    sizes = torch.bincount(y, minlength=len(names))
    if int((sizes > 0).sum()) < 2:
        only = names[int(sizes.argmax())]
        raise DataError(
            f"All {len(y)} graphs are of one class ({only}): add graphs of another, there is nothing to learn"
        )
    few = sizes < MIN_GRAPHS_PER_CLASS
    if bool(few.any()):
        number = _first(few)
        raise DataError(
            f"Class {names[number]} has {int(sizes[number])} graphs, and at least {MIN_GRAPHS_PER_CLASS} are needed "
            "to train, validate and test: add some, or remove or merge the class"
        )


def _check_extras(graphs: GraphSet) -> None:
    """Targets, ground truth and names, where given, fit the graphs."""
    if graphs.targets is not None:
        outside = ((graphs.targets < 0) | (graphs.targets >= graphs.node_counts[:, None])).any(dim=1)
        if bool(outside.any()):
            number = _first(outside)
            raise DataError(
                f"{describe(graphs, number)} has the targets {graphs.targets[number].tolist()} but its nodes are "
                f"0 to {int(graphs.node_counts[number]) - 1}: number the nodes of each graph from 0"
            )
    if graphs.node_truth is not None and graphs.node_truth.shape != (len(graphs.x),):
        raise DataError(
            f"Expected ground truth for each of {len(graphs.x)} nodes (got shape {tuple(graphs.node_truth.shape)})"
        )
    if graphs.names is not None and len(graphs.names) != len(graphs):
        raise DataError(f"Expected {len(graphs)} names, one per graph (got {len(graphs.names)})")


def _canonical(graphs: GraphSet) -> tuple[GraphSet, list[str]]:
    """Drop loops and duplicates, mirror one-way edges, sort by (target, source)."""
    notes: list[str] = []
    total = int(graphs.node_ptr[-1])
    first = graphs.node_ptr[:-1].repeat_interleave(graphs.edge_counts)
    source, target = graphs.edge_index + first  # numbered over all graphs, so that one sort serves them all
    attr = graphs.edge_attr

    loops = source == target
    if bool(loops.any()):
        keep = ~loops
        notes.append(f"Dropped {int(loops.sum())} self-loops in {_graphs_of(graphs, target[loops])}")
        source, target, attr = source[keep], target[keep], None if attr is None else attr[keep]

    key = target * total + source
    if not bool((key[1:] > key[:-1]).all()):
        key, order = key.sort(stable=True)
        attr = None if attr is None else attr[order]
    again = key[1:] == key[:-1]
    if bool(again.any()):
        if attr is not None:
            differs = again & (attr[1:] != attr[:-1]).any(dim=1)
            _refuse_two_attributes(graphs, key[1:], differs, total, "the same edge is listed twice with")
        keep = torch.cat([torch.ones(1, dtype=torch.bool), ~again])
        notes.append(f"Dropped {int(again.sum())} duplicate edges in {_graphs_of(graphs, key[1:][again] // total)}")
        key, attr = key[keep], None if attr is None else attr[keep]

    mirrored = key % total * total + key // total
    place = torch.searchsorted(key, mirrored).clamp(max=max(len(key) - 1, 0))
    missing = key[place] != mirrored
    if attr is not None:
        differs = ~missing & (attr[place] != attr).any(dim=1)
        _refuse_two_attributes(graphs, key, differs, total, "the two directions of an edge have")
    if bool(missing.any()):
        notes.append(
            f"Mirrored {int(missing.sum())} edges given in one direction only, in "
            f"{_graphs_of(graphs, key[missing] // total)}: graphs are undirected here"
        )
        key, order = torch.cat([key, mirrored[missing]]).sort()
        attr = None if attr is None else torch.cat([attr, attr[missing]])[order]

    owner = torch.searchsorted(graphs.node_ptr, key // total, right=True) - 1
    ends = torch.stack([key % total, key // total]) - graphs.node_ptr[owner]
    edge_ptr = offsets(torch.bincount(owner, minlength=len(graphs)))
    return replace(graphs, edge_index=ends, edge_ptr=edge_ptr, edge_attr=attr), notes


def _graphs_of(graphs: GraphSet, nodes: Tensor) -> str:
    owners = torch.unique(torch.searchsorted(graphs.node_ptr, nodes, right=True) - 1)
    more = f" and {len(owners) - 1} more" if len(owners) > 1 else ""
    return describe(graphs, int(owners[0])) + more


def _refuse_two_attributes(graphs: GraphSet, key: Tensor, differs: Tensor, total: int, what: str) -> None:
    if not bool(differs.any()):
        return
    target, source = divmod(int(key[_first(differs)]), total)
    number = _owner(graphs.node_ptr, target)
    start = int(graphs.node_ptr[number])
    raise DataError(
        f"{describe(graphs, number)}: {what} different attributes at ({source - start}, {target - start}): "
        "graphs are undirected here, so give every edge one set of attributes"
    )
