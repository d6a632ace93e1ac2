"""The prototype layer and the last layer: embedding → similarities → logits."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def squared_distances(h: Tensor, prototypes: Tensor) -> Tensor:
    """``‖h_b - p_k‖²``, ``[B, H], [K, H] → [B, K]``, from the differences themselves: never negative."""
    return torch.cdist(h, prototypes, compute_mode="donot_use_mm_for_euclid_dist").square()


def similarity(distance: Tensor, epsilon: float) -> Tensor:
    """Eq. 2: ``log((d + 1) / (d + ε))``, falling from log(1/ε) at d = 0 towards zero."""
    return torch.log1p((1 - epsilon) / (distance + epsilon))


class PrototypeHead(nn.Module):
    """m prototypes per class and a linear layer without bias over their similarities.

    ``vectors [K, H]``, ``classes [K]`` the class of each, ``last.weight [C, K]`` one for a prototype's own class
    and zero for the others at the start.
    """

    classes: Tensor

    def __init__(self, width: int, classes: Tensor, num_classes: int, epsilon: float = 1e-4) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.register_buffer("classes", classes)
        self.vectors = nn.Parameter(torch.rand(len(classes), width))
        self.last = nn.Linear(len(classes), num_classes, bias=False)
        with torch.no_grad():
            self.last.weight.copy_(nn.functional.one_hot(classes, num_classes).t())

    def distances(self, h: Tensor) -> Tensor:
        """``[B, H] → [B, K]``."""
        return squared_distances(h, self.vectors)

    def forward(self, h: Tensor) -> Tensor:
        """``[B, H] → [B, C]``."""
        return self.logits(self.distances(h))

    def similarity(self, distance: Tensor) -> Tensor:
        """Eq. 2 with this layer's ε, ``[B, K] → [B, K]``."""
        return similarity(distance, self.epsilon)

    def logits(self, distance: Tensor) -> Tensor:
        """``[B, K] → [B, C]``."""
        return self.logits_of(self.similarity(distance))

    def logits_of(self, similar: Tensor) -> Tensor:
        """Logits of similarities, ``[B, K] → [B, C]``."""
        result: Tensor = self.last(similar)
        return result

    @torch.no_grad()
    def divide_logits(self, temperature: float) -> None:
        """Divide all logits by a number, in the weights that make them."""
        self.last.weight.div_(temperature)

    def keep(self, chosen: Tensor) -> None:
        """Keep only the prototypes of ``chosen [K']`` and their weights."""
        self.classes = self.classes[chosen]
        self.vectors = nn.Parameter(self.vectors.detach()[chosen])
        weight = self.last.weight.detach()[:, chosen]
        self.last = nn.Linear(len(chosen), len(weight), bias=False)
        self.last.weight = nn.Parameter(weight.contiguous())
