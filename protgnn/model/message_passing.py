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

from protgnn.data.adjacency import CSRAdjacency
from protgnn.data.batch import Batch

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")


@dataclass(frozen=True)
class SoftMask:
    """How much of each node ``[N]`` and each edge ``[E]`` of a batch is there; ``None`` means all of it."""

    node: Tensor | None = None
    edge: Tensor | None = None


class _Matrix:
    """The sparse matrix that sums over neighbours with given weights; made once for all layers of a pass."""

    def __init__(self, adjacency: CSRAdjacency, weight: Tensor) -> None:
        self.adjacency, self.weight = adjacency, weight.detach()

    @cached_property
    def forward(self) -> Tensor:
        return _sparse(*self.adjacency.csr, self.weight)

    @cached_property
    def transposed(self) -> Tensor:
        ptr, column, entry = self.adjacency.csc
        return _sparse(ptr, column, self.weight[entry])


def _sparse(ptr: Tensor, column: Tensor, value: Tensor) -> Tensor:
    size = (len(ptr) - 1, len(ptr) - 1)
    return torch.sparse_csr_tensor(ptr, column, value, size, check_invariants=False)


class _WeightedSum(torch.autograd.Function):
    """``out[i] = Σ_{e: j→i} weight[e] · x[j]`` as a sparse product; its gradient is the transposed product."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, matrix: _Matrix) -> Tensor:
        ctx.save_for_backward(x if ctx.needs_input_grad[1] else None)
        ctx.matrix = matrix
        return matrix.forward @ x.contiguous()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, Tensor | None, None]:
        (grad,) = grads
        matrix: _Matrix = ctx.matrix
        grad_x = grad_weight = None
        if ctx.needs_input_grad[0]:
            grad_x = matrix.transposed @ grad.contiguous()
        if ctx.needs_input_grad[1]:
            (x,) = ctx.saved_tensors
            grad_weight = (grad[matrix.adjacency.row] * x[matrix.adjacency.col]).sum(-1)
        return grad_x, grad_weight, None


class Propagation:
    """The neighbours of every node of a batch and how much of them is there; shared by all layers of a pass.

    Every node is its own neighbour too, so there is an entry per edge and one per node: ``source [E + N]`` sends to
    ``target [E + N]`` with presence ``present [E + N]``. ``place [E]`` says which entry an edge of the batch became.
    """

    def __init__(self, batch: Batch, presence: SoftMask | None = None) -> None:
        self.adjacency = adjacency = batch.adjacency
        self.source, self.target, self.place = adjacency.col, adjacency.row, adjacency.entry_of_edge
        self.num_nodes, self.edge_attr = len(batch.x), batch.edge_attr
        weight = None if presence is None else presence.edge
        if presence is not None and presence.node is not None:
            source, target = batch.edge_index
            ends = presence.node[source] * presence.node[target]
            weight = ends if weight is None else weight * ends
        self.present = torch.ones(len(self.source), dtype=batch.x.dtype, device=batch.x.device)
        if weight is not None:
            self.present = self.present.to(weight.dtype).index_copy(0, self.place, weight)
        self.everything = weight is None
        self.node_present = None if presence is None else presence.node
        self._matrix: tuple[Tensor, _Matrix] | None = None  # of the weights that were used last

    @cached_property
    def gcn_weight(self) -> Tensor:
        """The entries of D̂^-½ Â D̂^-½ (Eq. 1), ``[E + N]``; Â counts every node as its own neighbour, D̂ presence."""
        if self.everything:
            return self.adjacency.gcn_norm(self.present.dtype)
        degree = self.present.new_zeros(self.num_nodes).index_add(0, self.target, self.present)
        root = degree.rsqrt()
        return root[self.source] * root[self.target] * self.present

    def sum(self, x: Tensor, weight: Tensor) -> Tensor:
        """``[N, H], [E + N] → [N, H]``: weighted sum over the neighbours of each node."""
        if torch.is_autocast_enabled(x.device.type):  # the sparse product knows no half precision
            with torch.autocast(x.device.type, enabled=False):
                return self.sum(x.to(weight.dtype), weight)
        if self._matrix is None or self._matrix[0] is not weight:
            self._matrix = weight, _Matrix(self.adjacency, weight)
        matrix = self._matrix[1]
        result: Tensor = _WeightedSum.apply(x.to(weight.dtype), weight, matrix)  # type: ignore[no-untyped-call]
        return result

    def edge_sum(self, weight: Tensor) -> Tensor:
        """``[E + N] → [N, D]``: weighted sum of the attributes of the edges into each node."""
        assert self.edge_attr is not None
        zeros = self.edge_attr.new_zeros(self.num_nodes, self.edge_attr.shape[1])
        return zeros.index_add(0, self.target[self.place], self.edge_attr * weight[self.place, None])

    def softmax(self, logit: Tensor) -> Tensor:
        """Attention over the neighbours of each node, ``[E + N, A] → [E + N, A]``.

        Presence enters the softmax, not the message after it: an absent edge takes no share.
        """
        present, index = self.present[:, None], self.target[:, None].expand_as(logit)
        there = logit.detach().masked_fill(present <= 0, -torch.inf)
        lowest = logit.new_full((self.num_nodes, logit.shape[1]), -torch.inf)
        peak = lowest.scatter_reduce(0, index, there, "amax")
        share = present * (logit - peak[self.target]).clamp(max=0).exp()
        total = torch.zeros_like(peak).index_add(0, self.target, share)
        return share / total[self.target]
