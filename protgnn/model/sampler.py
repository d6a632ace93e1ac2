"""The conditional subgraph sampling module of ProtGNN+: which edges of a graph look like a prototype."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Sampler(nn.Module):
    """Eq. 13: ``e_ij = σ(MLP([z_i; z_j; p_k]))`` with layers 3H → 64 → 8 → 1, symmetrised.

    The first layer is a sum of three products, one per node and order and one per prototype, so that nothing of size
    E x K x 3H is built. An edge's logit is the mean over its two directions.
    """

    def __init__(self, width: int, hidden: tuple[int, int] = (64, 8), prototype_width: int | None = None) -> None:
        super().__init__()
        self.widths = (width, width, prototype_width or width)  # a prototype of pairs may be twice as wide as a node
        self.first = nn.Linear(sum(self.widths), hidden[0])
        self.second = nn.Linear(hidden[0], hidden[1])
        self.third = nn.Linear(hidden[1], 1)

    def forward(self, z: Tensor, ends: Tensor, prototypes: Tensor) -> Tensor:
        """Logits of every edge for every prototype: ``[N, H], [2, U], [K, H] → [U, K]``."""
        left, right, asked = self._split(z, prototypes)
        one, other = ends
        both = torch.stack([left[one] + right[other], left[other] + right[one]])  # [2, U, 64]
        return self._tail(both[:, :, None] + asked).mean(0)

    def _split(self, z: Tensor, prototypes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        left, right, asked = torch.split_with_sizes(self.first.weight, self.widths, dim=1)
        return z @ left.t(), z @ right.t(), nn.functional.linear(prototypes, asked, self.first.bias)

    def _tail(self, hidden: Tensor) -> Tensor:
        result: Tensor = self.third(torch.relu(self.second(torch.relu(hidden)))).squeeze(-1)
        return result


def logistic_noise(like: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Noise that turns a logit into a draw of the concrete relaxation: ``σ((logit + noise) / temperature)``."""
    uniform = torch.rand(like.shape, generator=generator, dtype=like.dtype).clamp(1e-6, 1 - 1e-6).to(like.device)
    return uniform.log() - (-uniform).log1p()
