"""Temperature scaling: one number, fitted on the validation graphs, that makes probabilities mean what they say.

Logits are divided by a temperature T, which changes no prediction and no ranking within a graph. It is divided into the
weights of the last layer (and the bases), so everything that is made of them is calibrated and adds up as before:
contributions, sums, probabilities, whoever computes them.
"""

from __future__ import annotations

import math

import torch
from scipy.optimize import minimize_scalar
from torch import Tensor
from torch.nn.functional import cross_entropy

from protgnn.data.network.instances import Instances
from protgnn.model.classifier import GraphClassifier
from protgnn.training.evaluate import predict_logits

HOTTEST = 10.0
"""Temperatures are between one over this and this."""

PRIOR = 20.0
"""How many graphs' worth of doubt about any other temperature than 1: docs/decisions/0450."""


def fit_temperature(logits: Tensor, y: Tensor, prior: float = PRIOR) -> float:
    """The temperature of logits ``[G, C]`` for classes ``[G]``.

    Minimises ``Σ cross-entropy(β z, y) + prior (β - 1 - log β)`` over β = 1 / T. Both terms are convex in β, and the
    second, which is least at 1, decides where graphs are few or all are predicted correctly.
    """
    logits = logits.detach().double()

    def cost(log_beta: float) -> float:
        beta = math.exp(log_beta)
        return float(cross_entropy(beta * logits, y, reduction="sum")) + prior * (beta - 1 - log_beta)

    limit = math.log(HOTTEST)
    found = minimize_scalar(cost, bounds=(-limit, limit), method="bounded", options={"xatol": 1e-6})
    return math.exp(-float(found.x))


@torch.no_grad()
def calibrate(model: GraphClassifier, valid: Instances) -> float:
    """Fit a temperature on validation graphs and divide the logits of the model by it, in place; the temperature."""
    assert valid.y is not None
    temperature = fit_temperature(predict_logits(model, valid), valid.y)
    model.divide_logits(temperature)
    return temperature
