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


def amounts(batch: Batch) -> Tensor:
    """The number of nodes, the total of every node feature and its mean, ``[B, 2 F + 1]``."""
    counts = batch.node_counts.to(torch.float64)[:, None]
    total = torch.zeros(batch.num_graphs, batch.x.shape[1], dtype=torch.float64, device=batch.x.device)
    total.index_add_(0, batch.batch, batch.x.double())
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

    def each(self, batch: Batch) -> Tensor:
        """What each amount adds to each class, ``[B, Q, C]``."""
        step = torch.searchsorted(self.thresholds, amounts(batch).t().contiguous(), right=True)  # [Q, B]
        return self.steps.gather(1, step[..., None].expand(-1, -1, self.steps.shape[2])).transpose(0, 1)

    def forward(self, batch: Batch) -> Tensor:
        """What the composition adds to each class, ``[B, C]``."""
        return self.base + self.each(batch).sum(1)

    def divide(self, temperature: float) -> None:
        """Divide all that is added by a number."""
        self.steps.div_(temperature)
        self.base.div_(temperature)
