"""Gradients of a plain GNN as explanations, and a random order: node scores from the features of nodes.

==============  =====================================================================================================
``ig``          integrated gradients (Sundararajan et al. 2017) from features of zero, 32 points of the path, summed
                over the columns of a node
``saliency``    the gradient's absolute value, summed over the columns of a node (Simonyan et al. 2014)
``random``      drawn from 0 to 1
==============  =====================================================================================================
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor

from benchmarks.league.scoring import Explained, from_nodes
from protgnn.data.batch import Batch
from protgnn.model.classifier import GraphClassifier

STEPS = 32
GradientMethod = Literal["ig", "saliency"]


def gradient_scores(model: GraphClassifier, batch: Batch, predicted: Tensor, method: GradientMethod) -> Explained:
    """How much each node matters to the logit of the predicted class ``[B]``."""
    points = [1.0] if method == "saliency" else [(step + 0.5) / STEPS for step in range(STEPS)]
    total = torch.zeros_like(batch.x)
    for point in points:
        x = (batch.x * point).requires_grad_()
        moved = replace(batch, x=x)
        moved.__dict__["adjacency"] = batch.adjacency
        total += torch.autograd.grad(model(moved).gather(1, predicted[:, None]).sum(), x)[0] / len(points)
    return from_nodes((total.abs() if method == "saliency" else total * batch.x).sum(1), batch)


def random_scores(batch: Batch, generator: torch.Generator) -> Explained:
    """Scores that know nothing."""
    return from_nodes(torch.rand(len(batch.x), generator=generator), batch)
