"""The conditional subgraph sampling module of ProtGNN+: which edges of a graph look like a prototype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
        left, right, prototype = self._split(z, prototypes)
        one, other = ends
        both = torch.cat([left[one] + right[other], left[other] + right[one]])  # [2U, 64]
        layers = self.second.weight, self.second.bias, self.third.weight, self.third.bias
        logit: Tensor = _Tail.apply(both, prototype, *layers)  # type: ignore[no-untyped-call]
        return logit.view(len(prototypes), 2, -1).mean(1).t().contiguous()

    def _split(self, z: Tensor, prototypes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        left, right, prototype = torch.split_with_sizes(self.first.weight, self.widths, dim=1)
        return z @ left.t(), z @ right.t(), nn.functional.linear(prototypes, prototype, self.first.bias)


class _Tail(torch.autograd.Function):
    """What follows the sum of the first layer, for one prototype after the other: ``[M, 64], [K, 64], … → [K, M]``.

    All of it at once would be M x K x 64 numbers, written, read and kept for the gradient; those of one prototype stay
    in the cache, and are cheaper made again than kept.
    """

    @staticmethod
    def forward(ctx: Any, both: Tensor, prototypes: Tensor, *layers: Tensor) -> Tensor:
        ctx.save_for_backward(both, prototypes, *layers)
        _, _, weight, bias = layers
        hidden, logit = torch.empty_like(both), both.new_empty(len(prototypes), len(both))
        for number, prototype in enumerate(prototypes):
            torch.addmv(bias, _hidden(both, prototype, layers, hidden), weight[0], out=logit[number])
        return logit

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor, ...]:
        both, prototypes, *layers = ctx.saved_tensors
        weight, last = layers[0], layers[2][0]
        of_both, of_prototypes, of_layers = (
            torch.zeros_like(both),
            torch.empty_like(prototypes),
            list(map(torch.zeros_like, layers)),
        )
        hidden = torch.empty_like(both)
        for number, (prototype, grad) in enumerate(zip(prototypes, grads[0], strict=True)):
            second = _hidden(both, prototype, layers, hidden)
            of_layers[2] += grad @ second
            of_layers[3] += grad.sum()
            of_second = torch.outer(grad, last).mul_(second > 0)
            of_layers[0] += of_second.t() @ hidden
            of_layers[1] += of_second.sum(0)
            of_hidden = (of_second @ weight).mul_(hidden > 0)
            of_both += of_hidden
            of_prototypes[number] = of_hidden.sum(0)
        return of_both, of_prototypes, *of_layers


def _hidden(both: Tensor, prototype: Tensor, layers: Sequence[Tensor], first: Tensor) -> Tensor:
    """The second hidden layer ``[M, 8]`` for one prototype; the first is left in ``first [M, 64]``."""
    torch.add(both, prototype, out=first).relu_()
    return torch.addmm(layers[1], first, layers[0].t()).relu_()


def logistic_noise(like: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Noise that turns a logit into a draw of the concrete relaxation: ``σ((logit + noise) / temperature)``."""
    uniform = torch.rand(like.shape, generator=generator, dtype=like.dtype).clamp(1e-6, 1 - 1e-6).to(like.device)
    return uniform.log() - (-uniform).log1p()
