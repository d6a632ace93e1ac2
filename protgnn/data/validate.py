"""Validation of graphs, once, where they come in: repaired or refused here, so that all other code can trust them.

Checked graphs are canonical: undirected (both directions stored), without self-loops and duplicate edges, the edges of
a graph sorted by (target, source), features float32 or (if given so) float16, classes numbered from 0 and named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from protgnn.data.batch import offsets
from protgnn.data.canonical_edges import ConflictingAttributes, canonical_edges
from protgnn.data.graph_set import GraphSet
from protgnn.data.labels import MAX_CLASSES
from protgnn.data.tensor_checks import column_names, first_not_finite, whole_numbers
from protgnn.errors import DataError

MIN_GRAPHS_PER_CLASS = 3
"""One for training, one for validation, one for the test."""

_SHOWN = 40  # characters of a graph's name in a message
_NAMED = 5  # graphs of a class that is too small


def check(graphs: GraphSet, *, training: bool) -> tuple[GraphSet, list[str]]:
    """Check graphs and bring them into canonical form.

    Args:
        graphs: Graphs from any source.
        training: Also require labels, with at least two classes and enough graphs of each.

    Returns:
        The same graphs in canonical form, and a sentence for each kind of repair.

    Raises:
        DataError: Names the graph that cannot be repaired, and says what to do.
    """
    graphs = _checked_nodes(graphs)
    graphs = _checked_edges(graphs)
    graphs = _checked_labels(graphs, training)
    _check_extras(graphs)
    return _canonical(graphs)


def describe(graphs: GraphSet, number: int) -> str:
    """How a message names a graph: ``graph 7 (CCO)``."""
    return f"graph {number}{_called(graphs, number)}"


def _described_row(graphs: GraphSet, number: int) -> str:
    """How a message names the row of a file that a graph was read from: ``line 14 (CCO)``."""
    if graphs.lines is None:
        return describe(graphs, number)
    return f"line {int(graphs.lines[number])}{_called(graphs, number)}"


def _called(graphs: GraphSet, number: int) -> str:
    if graphs.names is None:
        return ""
    name = graphs.names[number]
    return f" ({name if len(name) <= _SHOWN else name[: _SHOWN - 1] + '…'})"


def _first(mask: Tensor) -> int:
    return int(mask.nonzero()[0, 0])


def _owner(pointer: Tensor, row: int) -> int:
    """The graph that owns a row of the flat tensors."""
    return int(torch.searchsorted(pointer, torch.tensor(row), right=True)) - 1


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
    names = column_names(graphs.x, graphs.schema.node_features, "x", "node features")
    x = graphs.x if graphs.x.dtype == torch.float16 else graphs.x.to(torch.float32)
    place = first_not_finite(x)
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
    edge_index = whole_numbers(edge_index)
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
    names = column_names(attr, graphs.schema.edge_features, "e", "edge attributes")
    place = first_not_finite(attr)
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
            f"({', '.join(names)}): correct the label or name the class"
        )
    if training:
        check_class_sizes(y, names, graphs.schema.kind, named=partial(_described_row, graphs))
    return replace(graphs, y=y, schema=replace(graphs.schema, class_names=names))


def check_class_sizes(
    y: Tensor,
    names: tuple[str, ...],
    what: str,
    least: int = MIN_GRAPHS_PER_CLASS,
    named: Callable[[int], str] | None = None,
) -> None:
    """Refuse labels ``[G]`` of one class alone, and classes with fewer than the ``least`` examples.

    Raises:
        DataError: There is such a class; ``what`` is labelled, and ``named`` says how one of them is called.
    """
    sizes = torch.bincount(y, minlength=len(names))
    if int((sizes > 0).sum()) < 2:
        only = names[int(sizes.argmax())] if names else str(int(sizes.argmax()))
        raise DataError(
            f"All {len(y)} {what}s are of one class ({only}): add {what}s of another, there is nothing to learn"
        )
    few = sizes < least
    if bool(few.any()):
        number = _first(few)
        name, size = names[number] if names else str(number), int(sizes[number])
        own = (y == number).nonzero().squeeze(1).tolist()
        told = [named(one) for one in own[:_NAMED]] if named is not None else []
        listed = f": {', '.join([*told, '…'] if size > _NAMED else told)}" if told else ""
        advice = (
            "add more, give them the label of another class, or leave them out"
            if size
            else "add some, or number the classes 0, 1, 2, … without gaps"
        )
        raise DataError(
            f"Class {name} has {size} {what}{'' if size == 1 else 's'}{listed}. At least {least} "
            f"{'is' if least == 1 else 'are'} needed to train, validate and test: {advice}"
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
    if graphs.node_mask is not None and graphs.node_mask.shape != (len(graphs.x),):
        raise DataError(
            f"Expected ground truth for each of {len(graphs.x)} nodes (got shape {tuple(graphs.node_mask.shape)})"
        )
    if graphs.names is not None and len(graphs.names) != len(graphs):
        raise DataError(f"Expected {len(graphs)} names, one per graph (got {len(graphs.names)})")


def _canonical(graphs: GraphSet) -> tuple[GraphSet, list[str]]:
    """The graphs with repaired edges, and a note on each kind of repair."""
    first = graphs.node_ptr[:-1].repeat_interleave(graphs.edge_counts)
    source, target = (graphs.edge_index + first).numpy()  # numbered over all graphs: one sort serves them all
    try:
        edges = canonical_edges(source, target, int(graphs.node_ptr[-1]), graphs.edge_attr)
    except ConflictingAttributes as conflict:
        raise _two_attributes(graphs, conflict) from None
    notes = []
    if edges.self_loops.any():
        notes.append(f"Dropped {edges.self_loops.sum()} self-loops in {_graphs_with(graphs, edges.self_loops)}")
    if edges.duplicates.any():
        notes.append(f"Dropped {edges.duplicates.sum()} duplicate edges in {_graphs_with(graphs, edges.duplicates)}")
    if edges.mirrored.any():
        notes.append(
            f"Mirrored {edges.mirrored.sum()} edges given in one direction only, in "
            f"{_graphs_with(graphs, edges.mirrored)}: graphs are undirected here"
        )
    edge_ptr = offsets(torch.from_numpy(edges.degree))[graphs.node_ptr]
    ends = torch.from_numpy(np.stack([edges.source, edges.target]))
    ends -= graphs.node_ptr[:-1].repeat_interleave(edge_ptr.diff())
    bound = None
    if graphs.bound is not None:
        size, tied = int(graphs.node_ptr[-1]), graphs.bound.numpy()
        pairs = np.concatenate([source[tied] * size + target[tied], target[tied] * size + source[tied]])
        bound = torch.from_numpy(np.isin(edges.source * size + edges.target, pairs))
    return replace(graphs, edge_index=ends, edge_ptr=edge_ptr, edge_attr=edges.edge_attr, bound=bound), notes


def _graphs_with(graphs: GraphSet, counts: np.ndarray) -> str:
    """How a note names the graphs that have a count ``[N]`` above 0 at one of their nodes."""
    nodes = torch.from_numpy(np.flatnonzero(counts))
    owners = torch.unique(torch.searchsorted(graphs.node_ptr, nodes, right=True) - 1)
    more = f" and {len(owners) - 1} more" if len(owners) > 1 else ""
    return describe(graphs, int(owners[0])) + more


def _two_attributes(graphs: GraphSet, conflict: ConflictingAttributes) -> DataError:
    number = _owner(graphs.node_ptr, conflict.target)
    start = int(graphs.node_ptr[number])
    what = "the two directions of an edge have" if conflict.reverse else "the same edge is listed twice with"
    return DataError(
        f"{describe(graphs, number)}: {what} different attributes at "
        f"({conflict.source - start}, {conflict.target - start}): "
        "graphs are undirected here, so give every edge one set of attributes, such as by "
        'torch_geometric.utils.to_undirected(edge_index, edge_attr, reduce="mean")'
    )
