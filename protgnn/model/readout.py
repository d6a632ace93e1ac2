"""Node embeddings → one embedding per graph; absent nodes are skipped."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from protgnn.graphs.packed import Batch
from protgnn.model.neighbours import Presence

ReadoutName = Literal["sum", "mean", "max"]


def readout(name: ReadoutName, x: Tensor, batch: Batch, presence: Presence | None = None) -> Tensor:
    """``[N, H] → [B, H]`` by sum, mean or maximum over the present nodes; a graph without any gives zeros."""
    present = None if presence is None or presence.node is None else presence.node[:, None]
    if name == "max":
        return _maximum(x, batch, present)
    zeros = x.new_zeros(batch.num_graphs, x.shape[1])
    total = zeros.index_add(0, batch.node_graph, x if present is None else x * present)
    if name == "sum":
        return total
    if name == "mean":
        if present is None:
            size = batch.node_counts[:, None].to(x.dtype)
        else:
            size = zeros[:, :1].index_add(0, batch.node_graph, present)
        return total / torch.where(size > 0, size, torch.ones_like(size))
    raise ValueError(f"Expected a readout of sum, mean, max (got {name!r})")


def _maximum(x: Tensor, batch: Batch, present: Tensor | None) -> Tensor:
    """Maximum over nodes. A half-present node is drawn towards the lowest present value, which never wins."""
    if present is not None:
        hidden = x.detach().masked_fill(present <= 0, torch.inf)
        floor = torch.segment_reduce(hidden, "min", lengths=batch.node_counts, axis=0)
        x = present * x + (1 - present) * torch.where(floor.isinf(), 0.0, floor)[batch.node_graph]
    highest = torch.segment_reduce(x, "max", lengths=batch.node_counts, axis=0)
    return torch.where(highest.isinf(), 0.0, highest)
