"""Sums over neighbours, the one operation that every encoder is made of, with presence weights.

A presence weight lies in [0, 1] and zero means *not there*: an absent edge carries no message and counts in no
degree, an absent node takes its edges with it. With 0/1 weights an encoder therefore computes on the whole graph
what it would compute on the subgraph cut out and alone.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from protgnn.graphs.packed import Batch

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")


@dataclass(frozen=True)
class Presence:
    """How much of each node ``[N]`` and each edge ``[E]`` of a batch is there; ``None`` means all of it."""

    node: Tensor | None = None
    edge: Tensor | None = None


class _WeightedSum(torch.autograd.Function):
    """``out[i] = Σ_{e: j→i} weight[e] · x[j]`` as a sparse product; its gradient is the transposed product."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, around: Neighbours) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.around = around
        return _product(around.target_ptr, around.source, weight, x)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, Tensor | None, None]:
        (grad,) = grads
        x, weight = ctx.saved_tensors
        around: Neighbours = ctx.around
        grad_x = grad_weight = None
        if ctx.needs_input_grad[0]:
            source_ptr, order = around.by_source
            grad_x = _product(source_ptr, around.target[order], weight[order], grad)
        if ctx.needs_input_grad[1]:
            grad_weight = (grad[around.target] * x[around.source]).sum(-1)
        return grad_x, grad_weight, None


def _product(row_ptr: Tensor, column: Tensor, value: Tensor, x: Tensor) -> Tensor:
    size = (len(row_ptr) - 1, len(x))
    return torch.sparse_csr_tensor(row_ptr, column, value.detach(), size, check_invariants=False) @ x.contiguous()


def _row_ptr(row: Tensor, num_rows: int) -> Tensor:
    counts = torch.bincount(row, minlength=num_rows)
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


class Neighbours:
    """The edges of a batch sorted by target, with their effective presence; shared by all layers of a pass."""

    def __init__(self, batch: Batch, presence: Presence | None = None) -> None:
        source, target = batch.edge_index
        self.num_nodes, self.dtype = len(batch.x), batch.x.dtype
        weight = None if presence is None else presence.edge
        if presence is not None and presence.node is not None:
            ends = presence.node[source] * presence.node[target]
            weight = ends if weight is None else weight * ends
        attr = batch.edge_attr
        if not bool((target[1:] >= target[:-1]).all()):
            order = torch.argsort(target, stable=True)
            source, target = source[order], target[order]
            weight = None if weight is None else weight[order]
            attr = None if attr is None else attr[order]
        self.source, self.target, self.edge_attr = source, target, attr
        self.present = weight  # [E] or None for all
        self.node_present = None if presence is None else presence.node

    @cached_property
    def target_ptr(self) -> Tensor:
        return _row_ptr(self.target, self.num_nodes)

    @cached_property
    def by_source(self) -> tuple[Tensor, Tensor]:
        """Row pointers and order of the edges sorted by source: the transposed matrix."""
        return _row_ptr(self.source, self.num_nodes), torch.argsort(self.source, stable=True)

    @cached_property
    def ones(self) -> Tensor:
        """The weight of every edge where nothing is absent, ``[E]``."""
        if self.present is not None:
            return self.present
        return torch.ones(len(self.source), dtype=self.dtype, device=self.source.device)

    @cached_property
    def gcn_weight(self) -> tuple[Tensor, Tensor]:
        """Entries of D̂^-½ Â D̂^-½ (Eq. 1): one per edge ``[E]`` and the diagonal ``[N]``; D̂ counts presence."""
        if self.present is None:
            degree = self.target_ptr.diff().to(self.dtype) + 1
        else:
            degree = self.present.new_ones(self.num_nodes).index_add(0, self.target, self.present)
        root = degree.rsqrt()
        return root[self.source] * root[self.target] * self.ones, 1 / degree

    def sum(self, x: Tensor, weight: Tensor) -> Tensor:
        """``[N, H], [E] → [N, H]``: weighted sum of the neighbours' rows."""
        with torch.autocast(x.device.type, enabled=False):  # the sparse product knows no half precision
            result: Tensor = _WeightedSum.apply(x.to(weight.dtype), weight, self)  # type: ignore[no-untyped-call]
        return result

    def edge_sum(self, weight: Tensor) -> Tensor:
        """``[E] → [N, D]``: weighted sum of the attributes of incoming edges."""
        assert self.edge_attr is not None
        zeros = self.edge_attr.new_zeros(self.num_nodes, self.edge_attr.shape[1])
        return zeros.index_add(0, self.target, self.edge_attr * weight[:, None])

    def softmax(self, logit: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
        """Attention over the present neighbours and the node itself: ``[E, A], [N, A] →`` weights of both.

        Presence enters the softmax, not the message after it: an absent edge takes no share.
        """
        present = self.ones[:, None]
        index = self.target[:, None].expand_as(logit)
        peak = own.detach().scatter_reduce(0, index, logit.detach().masked_fill(present <= 0, -torch.inf), "amax")
        share = present * (logit - peak[self.target]).clamp(max=0).exp()
        own_share = (own - peak).exp()
        total = own_share.index_add(0, self.target, share)
        return share / total[self.target], own_share / total
