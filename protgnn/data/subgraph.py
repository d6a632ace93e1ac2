"""Induced subgraphs: many cuts of many graphs in one vectorised call.

There are two ways, because they are fast for different things. ``cut`` scans the edge list of the graphs once: it keeps
the order of edges, takes edge masks, and all that a set knows of its graphs comes along. ``cut_batch`` walks the
compressed rows of the kept nodes only: for small subgraphs, cut many times out of the same graphs, to be encoded.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from protgnn.data.adjacency import CSRAdjacency
from protgnn.data.batch import Batch, offsets, ragged_arange
from protgnn.data.graph_set import GraphSet
from protgnn.data.sorted_arrays import ragged_ranges


def cut(graphs: GraphSet, index: Tensor, node_mask: Tensor, edge_mask: Tensor | None = None) -> GraphSet:
    """Cut S subgraphs out of a set of graphs; a graph may be cut many times.

    Labels, names, targets and the numbers ``n_id`` of nodes come along. What is cut out stands alone: no degree is
    missing.

    Args:
        graphs: The graphs to cut from.
        index: Subgraph s is cut out of graph ``index[s]``, ``[S]``.
        node_mask: For each s a bool per node of graph ``index[s]``, one after another. Target nodes must be kept.
        edge_mask: Likewise per edge. An edge stays if it and both its ends stay; without a mask all edges do.

    Returns:
        The S subgraphs.
    """
    node_counts, edge_counts = graphs.node_counts[index], graphs.edge_counts[index]
    nodes = ragged_arange(graphs.node_ptr[:-1][index], node_counts)
    edges = ragged_arange(graphs.edge_ptr[:-1][index], edge_counts)
    if len(node_mask) != len(nodes):
        raise ValueError(f"Expected a mask over {len(nodes)} nodes (got {len(node_mask)})")
    if edge_mask is not None and len(edge_mask) != len(edges):
        raise ValueError(f"Expected a mask over {len(edges)} edges (got {len(edge_mask)})")

    first = node_counts.cumsum(0) - node_counts  # where each copy starts in the mask
    ends = graphs.edge_index[:, edges] + first.repeat_interleave(edge_counts)
    kept_edges = node_mask[ends[0]] & node_mask[ends[1]]
    if edge_mask is not None:
        kept_edges = kept_edges & edge_mask

    owner = torch.arange(len(index)).repeat_interleave(node_counts)
    new_counts = torch.bincount(owner[node_mask], minlength=len(index))
    position = node_mask.cumsum(0) - 1  # number among all kept nodes
    new_first = offsets(new_counts)
    local = position - new_first[:-1].repeat_interleave(node_counts)  # number within its own subgraph
    edge_owner = torch.arange(len(index)).repeat_interleave(edge_counts)

    targets = graphs.targets
    if targets is not None:
        there = targets[index] + first[:, None]
        if not bool(node_mask[there].all()):
            raise ValueError("Expected every target node to be kept (got a mask without one)")
        targets = local[there]
    return replace(
        graphs,
        x=graphs.x[nodes[node_mask]],
        edge_index=local[ends[:, kept_edges]],
        node_ptr=new_first,
        edge_ptr=offsets(torch.bincount(edge_owner[kept_edges], minlength=len(index))),
        edge_attr=None if graphs.edge_attr is None else graphs.edge_attr[edges[kept_edges]],
        y=None if graphs.y is None else graphs.y[index],
        targets=targets,
        node_mask=None if graphs.node_mask is None else graphs.node_mask[nodes[node_mask]],
        names=None if graphs.names is None else tuple(graphs.names[number] for number in index.tolist()),
        lines=None if graphs.lines is None else graphs.lines[index],
        missing_degree=None,
        n_id=None if graphs.n_id is None else graphs.n_id[nodes[node_mask]],
        bound=None if graphs.bound is None else graphs.bound[edges[kept_edges]],
    )


def cut_batch(
    whole: Batch, kept: np.ndarray, first: np.ndarray, row: np.ndarray, graph: np.ndarray, sizes: np.ndarray
) -> Batch:
    """Cut S induced subgraphs out of a batch, on the CPU: a new batch, edges sorted by target, adjacency known.

    A row of ``kept`` marks nodes of one graph, or of several that lie side by side. Subgraph s is what row ``row[s]``
    keeps of graph ``graph[s]``; subgraphs are sorted by (row, graph), and together they are all that is kept. Target
    nodes must be kept.

    Args:
        whole: The graphs to cut from.
        kept: Bool ``[R, M]``.
        first: The node of the batch that column 0 of each row stands for, ``[R]``.
        row: The row of each subgraph, ``[S]``.
        graph: The graph of each subgraph, ``[S]``.
        sizes: The number of nodes of each subgraph, ``[S]``.
    """
    # Contiguous copies: PyTorch is slow on the strided views that nonzero returns.
    of, column = np.stack(np.nonzero(kept))
    node = first[of] + column
    number = np.cumsum(kept).reshape(kept.shape) - 1  # of a kept node within the new batch

    rowptr, col = whole.adjacency.rowptr.cpu().numpy(), whole.adjacency.col.cpu().numpy()
    counts = rowptr[node + 1] - rowptr[node]
    entry = ragged_ranges(rowptr[node], counts)
    target = np.repeat(np.arange(len(node)), counts)
    source_row, source_column = of[target], col[entry]
    source_column = source_column - first[source_row]
    inside = kept[source_row, source_column]
    entry, target, source = entry[inside], target[inside], number[source_row[inside], source_column[inside]]

    ptr = np.concatenate([[0], np.cumsum(np.bincount(target, minlength=len(node)))])
    is_edge = np.ones(len(entry), dtype=bool)
    is_edge[ptr[1:] - 1] = False  # the last entry of a row is the node itself
    entry_of_edge = np.flatnonzero(is_edge)
    edge_attr = targets = None
    if whole.edge_attr is not None:
        edge_of_entry = np.zeros(len(col), dtype=np.int64)
        edge_of_entry[whole.adjacency.entry_of_edge.cpu().numpy()] = np.arange(len(whole.adjacency.entry_of_edge))
        edge_attr = whole.edge_attr.cpu()[torch.from_numpy(edge_of_entry[entry[entry_of_edge]])]
    if whole.targets is not None:
        there = whole.targets.cpu().numpy()[graph] - first[row][:, None]
        targets = torch.from_numpy(number[row[:, None], there])
    small = Batch(
        x=whole.x.cpu()[torch.from_numpy(node)],
        edge_index=torch.from_numpy(np.stack([source[entry_of_edge], target[entry_of_edge]])),
        batch=torch.from_numpy(np.repeat(np.arange(len(sizes)), sizes)),
        num_graphs=len(sizes),
        edge_attr=edge_attr,
        targets=targets,
    )
    small.__dict__["adjacency"] = CSRAdjacency(*map(torch.from_numpy, (source, ptr, entry_of_edge)))
    return small
