"""Node embeddings → one embedding per instance: over all nodes of a graph, of which absent ones are skipped, or of the
target nodes alone. ``all`` and ``full`` are :class:`Pooling`; the others have nothing to learn."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from protgnn.data.batch import Batch
from protgnn.model.message_passing import SoftMask

ReadoutName = Literal["sum", "mean", "max", "all", "full", "target", "pair_product", "pair_concat"]

READOUTS: dict[int, tuple[ReadoutName, ...]] = {
    0: ("sum", "mean", "max", "all", "full"),
    1: ("target",),
    2: ("pair_product", "pair_concat"),
}
"""The readouts for instances with so many target nodes."""


def readout_width(name: ReadoutName, width: int) -> int:
    """The width of an instance's embedding, given that of a node's."""
    return 2 * width if name == "pair_concat" else width


SUM_SCALE = 0.1
"""Brings sums over some ten nodes to the size of means."""


class Pooling(nn.Module):
    """Mean, sum and maximum over the present nodes side by side, through two layers: ``[N, H] → [B, H]``.

    With ``inputs`` the F features of nodes are read out beside their embeddings: how much of each a graph has is told
    best by the features themselves.
    """

    def __init__(self, width: int, inputs: int = 0) -> None:
        super().__init__()
        self.inputs, wide = inputs, width + inputs
        self.layers = nn.Sequential(nn.Linear(3 * wide, wide), nn.ReLU(), nn.Linear(wide, width))

    def forward(self, x: Tensor, batch: Batch, presence: SoftMask | None = None) -> Tensor:
        if self.inputs:
            x = torch.cat([batch.x, x], 1)
        total = readout("sum", x, batch, presence) * SUM_SCALE
        mean, highest = readout("mean", x, batch, presence), readout("max", x, batch, presence)
        out: Tensor = self.layers(torch.cat([mean, total, highest], 1))
        return out


def targets_read(name: ReadoutName) -> int:
    """How many target nodes a readout wants."""
    for count, names in READOUTS.items():
        if name in names:
            return count
    raise ValueError(f"Expected a readout of {', '.join(sum(READOUTS.values(), ()))} (got {name!r})")


def readout(name: ReadoutName, x: Tensor, batch: Batch, presence: SoftMask | None = None) -> Tensor:
    """``[N, H] → [B, H]`` by sum, mean or maximum over the present nodes, where a graph without any gives zeros; or the
    embedding of the target; or of two targets the product over √H, or both side by side, ``[B, 2 H]``.

    The root is that of a scaled dot product. Without it the H products of a pair are so far from those of any other
    that no prototype resembles it, and the similarities teach nothing.
    """
    if name in ("all", "full"):
        raise ValueError(f"The readout {name} has weights of its own: use Pooling")
    present = None if presence is None or presence.node is None else presence.node[:, None]
    if name not in READOUTS[0]:
        return _of_targets(name, x if present is None else x * present, batch)
    if name == "max":
        return _maximum(x, batch, present)
    zeros = x.new_zeros(batch.num_graphs, x.shape[1])
    total = zeros.index_add(0, batch.batch, x if present is None else x * present)
    if name == "sum":
        return total
    if present is None:
        size = batch.node_counts[:, None].to(x.dtype)
    else:
        size = zeros[:, :1].index_add(0, batch.batch, present)
    return total / torch.where(size > 0, size, torch.ones_like(size))


def _of_targets(name: ReadoutName, x: Tensor, batch: Batch) -> Tensor:
    wanted = targets_read(name)
    if batch.targets is None or batch.targets.shape[1] != wanted:
        got = 0 if batch.targets is None else batch.targets.shape[1]
        raise ValueError(f"Expected {wanted} target nodes per graph for the readout {name} (got {got})")
    z = x[batch.targets]  # [B, T, H]
    return z.prod(1) / x.shape[1] ** 0.5 if name == "pair_product" else z.flatten(1)


def _maximum(x: Tensor, batch: Batch, present: Tensor | None) -> Tensor:
    """Maximum over nodes. A half-present node is drawn towards the lowest present value, which never wins."""
    if present is not None:
        hidden = x.detach().masked_fill(present <= 0, torch.inf)
        floor = torch.segment_reduce(hidden, "min", lengths=batch.node_counts, axis=0)
        x = present * x + (1 - present) * torch.where(floor.isinf(), 0.0, floor)[batch.batch]
    highest = torch.segment_reduce(x, "max", lengths=batch.node_counts, axis=0)
    return torch.where(highest.isinf(), 0.0, highest)
