"""Induced subgraphs: many cuts of many graphs as one new set, in one vectorised call."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from protgnn.graphs.packed import GraphSet, offsets, ragged_arange


def cut(graphs: GraphSet, index: Tensor, node_mask: Tensor, edge_mask: Tensor | None = None) -> GraphSet:
    """Cut subgraph ``s`` out of graph ``index[s]``; a graph may be cut many times.

    ``node_mask`` is the concatenation over s of a bool per node of graph ``index[s]``; ``edge_mask`` likewise per
    edge (without it the subgraph is induced). An edge stays if it and both its ends stay. Labels, names, targets and
    the origin of nodes come along; a target node must be kept. What is cut out stands alone: nothing is outside of it.
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
        node_truth=None if graphs.node_truth is None else graphs.node_truth[nodes[node_mask]],
        names=None if graphs.names is None else tuple(graphs.names[number] for number in index.tolist()),
        lines=None if graphs.lines is None else graphs.lines[index],
        outside=None,
        origin=None if graphs.origin is None else graphs.origin[nodes[node_mask]],
    )
