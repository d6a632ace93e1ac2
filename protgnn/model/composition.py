"""What a graph is made of: its size and how much of each node feature it has, in total and per node.

Parts cannot tell all. Whether a molecule dissolves depends on its size and on how polar it is as a whole, and no part
shows that. The composition says so openly, apart from the evidence: an additive model of Q amounts,

``c(G) = base + Σ_q step_q(amount_q(G))``,

where each ``step_q`` is a step function with one value per class. It sees no edge: what depends on how nodes are joined
is left to the prototypes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from protgnn.data.batch import Batch

BINS = 16
"""Steps of an amount at the most."""

_DECIMALS = 4  # amounts of the same graph in another batch differ by less


def amounts(batch: Batch, present: Tensor | None = None) -> Tensor:
    """The number of nodes, the total of every node feature and its mean, ``[B, 2 F + 1]``; of the nodes that are
    ``present [N]``, bool, or of all."""
    x, counts = batch.x.double(), batch.node_counts.to(torch.float64)[:, None]
    total = torch.zeros(batch.num_graphs, x.shape[1], dtype=torch.float64, device=x.device)
    if present is not None:
        there = present.to(x)[:, None]
        counts, x = torch.zeros_like(total[:, :1]).index_add_(0, batch.batch, there), x * there
    total.index_add_(0, batch.batch, x)
    return torch.cat([counts, total, total / counts.clamp(min=1)], 1).round(decimals=_DECIMALS).float()


class Composition(nn.Module):
    """Step functions of amounts, and a ``base [C]`` that every graph has.

    ``thresholds [Q, T]`` ascend in every row, and ``steps [Q, T + 1, C]`` are the values between them; at a threshold
    the step has been taken. An amount that says nothing has steps of zero.
    """

    thresholds: Tensor
    steps: Tensor
    base: Tensor

    def __init__(self, features: int, num_classes: int) -> None:
        super().__init__()
        count = 2 * features + 1
        self.register_buffer("thresholds", torch.zeros(count, BINS - 1))
        self.register_buffer("steps", torch.zeros(count, BINS, num_classes))
        self.register_buffer("base", torch.zeros(num_classes))

    @property
    def is_fitted(self) -> bool:
        """Whether it adds anything to any graph."""
        return bool(self.steps.any())

    def each(self, batch: Batch, present: Tensor | None = None) -> Tensor:
        """What each amount adds to each class, ``[B, Q, C]``; see :func:`amounts`."""
        step = torch.searchsorted(self.thresholds, amounts(batch, present).t().contiguous(), right=True)  # [Q, B]
        return self.steps.gather(1, step[..., None].expand(-1, -1, self.steps.shape[2])).transpose(0, 1)

    def forward(self, batch: Batch, present: Tensor | None = None) -> Tensor:
        """What the composition adds to each class, ``[B, C]``; see :func:`amounts`."""
        return self.base + self.each(batch, present).sum(1)

    def forget(self) -> None:
        """Add nothing to any graph, as before it was fitted."""
        self.steps.zero_()
        self.base.zero_()

    def divide(self, temperature: float) -> None:
        """Divide all that is added by a number."""
        self.steps.div_(temperature)
        self.base.div_(temperature)
