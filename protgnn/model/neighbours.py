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


class Neighbours:
    """Who hears whom in a batch, sorted by listener; shared by all layers of a pass.

    Every node hears itself too, so the lists have an entry per edge and one per node: ``source [E + N]`` speaks to
    ``target [E + N]`` with presence ``present [E + N]``. ``place [E]`` says where the edges of the batch went.
    """

    def __init__(self, batch: Batch, presence: Presence | None = None) -> None:
        source, target = batch.edge_index
        num_nodes, num_edges = len(batch.x), len(source)
        weight = None if presence is None else presence.edge
        if presence is not None and presence.node is not None:
            ends = presence.node[source] * presence.node[target]
            weight = ends if weight is None else weight * ends
        rank = torch.arange(num_edges, device=source.device)
        if not bool((target[1:] >= target[:-1]).all()):
            rank = torch.empty_like(rank).index_copy(0, torch.argsort(target, stable=True), rank)
        nodes = torch.arange(num_nodes, device=source.device)
        # Row i holds the edges into node i and, last, the node itself: each edge moves on by the selves before it.
        self.place, degree = rank + target, torch.bincount(target, minlength=num_nodes)
        self.target_ptr = torch.cat([degree.new_zeros(1), (degree + 1).cumsum(0)])
        self.target = nodes.repeat_interleave(degree + 1)
        selves = self.target_ptr[1:] - 1
        self.source = torch.empty_like(self.target).index_copy(0, self.place, source).index_copy(0, selves, nodes)
        self.present = torch.ones(len(self.source), dtype=batch.x.dtype, device=source.device)
        if weight is not None:
            self.present = self.present.to(weight.dtype).index_copy(0, self.place, weight)
        self.everything = weight is None
        self.edge_attr = batch.edge_attr
        self.node_present = None if presence is None else presence.node

    @cached_property
    def by_source(self) -> tuple[Tensor, Tensor]:
        """Row pointers and order of the entries sorted by speaker: the transposed matrix."""
        counts = torch.bincount(self.source, minlength=len(self.target_ptr) - 1)
        return torch.cat([counts.new_zeros(1), counts.cumsum(0)]), torch.argsort(self.source, stable=True)

    @cached_property
    def gcn_weight(self) -> Tensor:
        """The entries of D̂^-½ Â D̂^-½ (Eq. 1), ``[E + N]``; Â counts every node as its own neighbour, D̂ presence."""
        if self.everything:
            degree = self.target_ptr.diff().to(self.present.dtype)
        else:
            degree = self.present.new_zeros(len(self.target_ptr) - 1).index_add(0, self.target, self.present)
        root = degree.rsqrt()
        return root[self.source] * root[self.target] * self.present

    def sum(self, x: Tensor, weight: Tensor) -> Tensor:
        """``[N, H], [E + N] → [N, H]``: weighted sum of the rows that each node hears."""
        with torch.autocast(x.device.type, enabled=False):  # the sparse product knows no half precision
            result: Tensor = _WeightedSum.apply(x.to(weight.dtype), weight, self)  # type: ignore[no-untyped-call]
        return result

    def edge_sum(self, weight: Tensor) -> Tensor:
        """``[E + N] → [N, D]``: weighted sum of the attributes of the edges into each node."""
        assert self.edge_attr is not None
        zeros = self.edge_attr.new_zeros(len(self.target_ptr) - 1, self.edge_attr.shape[1])
        return zeros.index_add(0, self.target[self.place], self.edge_attr * weight[self.place, None])

    def softmax(self, logit: Tensor) -> Tensor:
        """Attention over what each node hears, ``[E + N, A] → [E + N, A]``.

        Presence enters the softmax, not the message after it: an absent edge takes no share.
        """
        present, index = self.present[:, None], self.target[:, None].expand_as(logit)
        heard = logit.detach().masked_fill(present <= 0, -torch.inf)
        lowest = logit.new_full((len(self.target_ptr) - 1, logit.shape[1]), -torch.inf)
        peak = lowest.scatter_reduce(0, index, heard, "amax")
        share = present * (logit - peak[self.target]).clamp(max=0).exp()
        total = torch.zeros_like(peak).index_add(0, self.target, share)
        return share / total[self.target]
