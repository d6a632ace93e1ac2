"""Normalisation that does not count absent nodes."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

NormName = Literal["batch", "layer", "none"]


class BatchNorm(nn.BatchNorm1d):
    """Batch norm whose training statistics weigh every node by its presence ``[N]``."""

    def forward(self, x: Tensor, present: Tensor | None = None) -> Tensor:  # type: ignore[override]
        if not self.training or (present is None and len(x) > 1):
            return super().forward(x)
        weight = x.new_ones(len(x)) if present is None else present
        total = weight.sum()
        if float(total.detach()) <= 1:  # one node has no variance: fall back on what is known
            return nn.functional.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, False)
        mean = (weight[:, None] * x).sum(0) / total
        var = (weight[:, None] * (x - mean).square()).sum(0) / total
        with torch.no_grad():
            assert self.running_mean is not None and self.running_var is not None and self.momentum is not None
            assert self.num_batches_tracked is not None
            self.num_batches_tracked += 1
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(var * total / (total - 1), self.momentum)
        return (x - mean) * (var + self.eps).rsqrt() * self.weight + self.bias


class LayerNorm(nn.LayerNorm):
    """Layer norm: per node, so presence does not matter."""

    def forward(self, x: Tensor, present: Tensor | None = None) -> Tensor:  # type: ignore[override]
        return super().forward(x)


class NoNorm(nn.Module):
    """The identity."""

    def forward(self, x: Tensor, present: Tensor | None = None) -> Tensor:
        return x


def make_norm(name: NormName, width: int) -> BatchNorm | LayerNorm | NoNorm:
    """The norm of that name over ``width`` channels."""
    if name == "batch":
        return BatchNorm(width)
    if name == "layer":
        return LayerNorm(width)
    if name == "none":
        return NoNorm()
    raise ValueError(f"Expected a norm of batch, layer, none (got {name!r})")
