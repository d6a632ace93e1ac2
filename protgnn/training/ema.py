"""A running average of the weights: steadier than the last step's, so validation chooses by less luck."""

from __future__ import annotations

import copy
from typing import Generic, TypeVar

import torch

from protgnn.model.classifier import GraphClassifier

Model = TypeVar("Model", bound=GraphClassifier)


class WeightAverage(Generic[Model]):
    """An exponential moving average of a model's weights and running statistics.

    Early on it forgets faster (``steps / (steps + 10)`` up to ``decay``), so that the first random weights do not
    linger. ``model`` is the averaged copy.
    """

    def __init__(self, live: Model, decay: float) -> None:
        self.live, self.decay, self.steps = live, decay, 0
        self.model = copy.deepcopy(live)
        # The tensors stay the same objects, only their values change.
        pairs = list(zip(self.model.state_dict().values(), live.state_dict().values(), strict=True))
        self._floats = [(mine, new) for mine, new in pairs if mine.is_floating_point()]
        self._counts = [(mine, new) for mine, new in pairs if not mine.is_floating_point()]

    @torch.no_grad()
    def update(self) -> None:
        """Take the live weights of one more step in."""
        self.steps += 1
        keep = min(self.decay, self.steps / (self.steps + 10))
        torch._foreach_lerp_([mine for mine, _ in self._floats], [new for _, new in self._floats], 1 - keep)
        for mine, new in self._counts:
            mine.copy_(new)

    def restart(self) -> None:
        """Begin again from the live weights."""
        self.steps = 0
        self.model.load_state_dict(self.live.state_dict())
