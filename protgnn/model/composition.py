"""What a graph is made of: its size and how much of each node feature it has, in total and per node.

Parts cannot tell all. Whether a molecule dissolves depends on its size and on how polar it is as a whole, and no part
shows that. The composition says so openly, apart from the evidence: a sum of R small trees over Q amounts,

``c(G) = base + Σ_r side_r(a_i(G)) + leaf_r(a_i(G), a_j(G))``,

where tree r asks whether one amount reaches a bound, and then, on either side, the same of another amount. What the
first answer adds counts for the first amount, what the second adds to that for the second, each as a difference to the
mean of the training graphs: so every amount has a number of its own, and the base is what an average graph has. It sees
no edge: what depends on how nodes are joined is left to the prototypes.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from protgnn.data.batch import Batch

BINS = 16
"""Values of an amount that are told apart, at most."""

TREES = 300

_DECIMALS = 4  # amounts of the same graph in another batch differ by less


def amounts(batch: Batch, present: Tensor | None = None) -> Tensor:
    """The number of nodes, the total of every node feature and its mean, ``[B, 2 F + 1]``; of the nodes that are
    ``present [N]``, bool, or of all."""
    x, counts = batch.x.double(), batch.node_counts.to(torch.float64)[:, None]
    total = torch.zeros(batch.num_graphs, x.shape[1], dtype=torch.float64, device=x.device)
    if present is not None:
        there = present.to(x)[:, None]
        counts, x = torch.zeros_like(total[:, :1]).index_add_(0, batch.batch, there), x * there
    return _of_totals(counts, total.index_add_(0, batch.batch, x))


def _of_totals(counts: Tensor, total: Tensor) -> Tensor:
    """Amounts from numbers of nodes ``[B, 1]`` and totals of node features ``[B, F]``."""
    return torch.cat([counts, total, total / counts.clamp(min=1)], 1).round(decimals=_DECIMALS).float()


class Trees(NamedTuple):
    """R trees of two questions, and a ``base [C]`` that every graph has.

    Attributes:
        amount: The amounts that are asked about, ``[R, 3]``: at first, then on the low and on the high side.
        bound: The bounds, ``[R, 3]``; an amount that is equal to its bound has reached it.
        side: What the low and the high side of the first question add, ``[R, 2, C]``.
        leaf: What the second question adds to that, low and high of the low side, low and high of the high side,
            ``[R, 4, C]``.
        base: ``[C]``.
    """

    amount: Tensor
    bound: Tensor
    side: Tensor
    leaf: Tensor
    base: Tensor


class Composition(nn.Module):
    """Trees over amounts, at most ``TREES``; those that are not there add zero."""

    amount: Tensor
    bound: Tensor
    side: Tensor
    leaf: Tensor
    base: Tensor

    def __init__(self, features: int, num_classes: int) -> None:
        super().__init__()
        self.num_amounts = 2 * features + 1
        self.register_buffer("amount", torch.zeros(TREES, 3, dtype=torch.int64))
        self.register_buffer("bound", torch.zeros(TREES, 3))
        self.register_buffer("side", torch.zeros(TREES, 2, num_classes))
        self.register_buffer("leaf", torch.zeros(TREES, 4, num_classes))
        self.register_buffer("base", torch.zeros(num_classes))

    @property
    def is_fitted(self) -> bool:
        """Whether any amount adds anything to any graph."""
        return bool(self.side.any() or self.leaf.any())

    def load_trees(self, trees: Trees) -> None:
        """Consist of these trees."""
        self.reset()
        count = len(trees.amount)
        for name in ("amount", "bound", "side", "leaf"):
            getattr(self, name)[:count] = getattr(trees, name)
        self.base.copy_(trees.base)

    def each(self, batch: Batch, present: Tensor | None = None) -> Tensor:
        """What each amount adds to each class, ``[B, Q, C]``; see :func:`amounts`."""
        trees, high, leaf_at = self._answers(amounts(batch, present))
        second, side, leaf = self.amount[trees, 1 + high], self.side[trees, high], self.leaf[trees, leaf_at]
        added = side.new_zeros(len(side), self.num_amounts, side.shape[2])
        for asked, value in ((self.amount[:, 0].expand_as(second), side), (second, leaf)):
            added.scatter_add_(1, asked[..., None].expand_as(value), value)
        return added

    def forward(self, batch: Batch, present: Tensor | None = None) -> Tensor:
        """What the composition adds to each class, ``[B, C]``; see :func:`amounts`."""
        return self._sum(amounts(batch, present))

    def without_each_node(self, batch: Batch) -> Tensor:
        """What the composition would add to the graph of each node if that node were not there, ``[N, C]``."""
        x, counts = batch.x.double(), batch.node_counts.to(torch.float64)[:, None]
        total = torch.zeros(batch.num_graphs, x.shape[1], dtype=torch.float64, device=x.device)
        total.index_add_(0, batch.batch, x)
        return self._sum(_of_totals(counts[batch.batch] - 1, total[batch.batch] - x))

    def _sum(self, amount: Tensor) -> Tensor:
        """The base and what all trees add, ``[B, Q] → [B, C]``."""
        trees, _, leaf = self._answers(amount)
        # One row for each leaf of each tree: taking whole rows is twice as fast as taking each number.
        value = (self.side.repeat_interleave(2, 1) + self.leaf).flatten(0, 1)
        added = value.index_select(0, (4 * trees + leaf).flatten()).reshape(*leaf.shape, -1)
        return self.base + added.sum(1)

    def _answers(self, amount: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The numbers of all trees, ``[R]``; of graphs with amounts ``[B, Q]`` and every tree the answer to the first
        question, 0 or 1, and the number of the leaf, ``[B, R]`` each."""
        trees = torch.arange(len(self.amount), device=amount.device)
        first, low, high = (amount.index_select(1, self.amount[:, n]) >= self.bound[:, n] for n in range(3))
        return trees, first.long(), 2 * first.long() + torch.where(first, high, low).long()

    def reset(self) -> None:
        """Add nothing to any graph, as before it was fitted."""
        for buffer in self.buffers():
            buffer.zero_()

    def divide(self, temperature: float) -> None:
        """Divide all that is added by a number."""
        for buffer in (self.side, self.leaf, self.base):
            buffer.div_(temperature)
