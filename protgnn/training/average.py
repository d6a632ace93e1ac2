"""A running average of the weights: steadier than the last step's, so validation chooses by less luck."""

from __future__ import annotations

import copy

import torch

from protgnn.model.classifier import GraphClassifier


class WeightAverage:
    """An exponential moving average of a model's weights and running statistics.

    Early on it forgets faster (``steps / (steps + 10)`` up to ``decay``), so that the first random weights do not
    linger. ``model`` is the averaged copy.
    """

    def __init__(self, live: GraphClassifier, decay: float) -> None:
        self.live, self.decay, self.steps = live, decay, 0
        self.model = copy.deepcopy(live)

    @torch.no_grad()
    def update(self) -> None:
        """Take the live weights of one more step in."""
        self.steps += 1
        keep = min(self.decay, self.steps / (self.steps + 10))
        mine, theirs = self.model.state_dict().values(), self.live.state_dict().values()
        pairs = [(ours, new) for ours, new in zip(mine, theirs, strict=True)]
        floats = [(ours, new) for ours, new in pairs if ours.is_floating_point()]
        torch._foreach_lerp_([ours for ours, _ in floats], [new for _, new in floats], 1 - keep)
        for ours, new in pairs:
            if not ours.is_floating_point():
                ours.copy_(new)

    def restart(self) -> None:
        """Begin again from the live weights."""
        self.steps = 0
        self.model.load_state_dict(self.live.state_dict())
