"""The map: graphs and prototypes in the plane by t-SNE of what the model compares."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from protgnn.data.network.instances import Instances
from protgnn.explain.comparison import compared_embeddings
from protgnn.training.evaluate import evaluation_batches
from protgnn.web.opened_run import OpenedRun

_FEWEST = 4  # points that t-SNE makes something of


def embeddings(opened: OpenedRun, instances: Instances) -> np.ndarray:
    """What was compared of each graph, and after them the prototypes: ``[G + K, H]``."""
    model = opened.model
    with torch.no_grad():
        found = [compared_embeddings(model, batch) for batch in evaluation_batches(model, instances)]
        together = torch.cat([*found, model.head.vectors])
    result: np.ndarray = together.double().numpy()
    return result


def places(vectors: np.ndarray) -> np.ndarray:
    """Places in the unit square by t-SNE, ``[N, H] → [N, 2]``; the same vectors give the same places."""
    from sklearn.manifold import TSNE

    if len(vectors) < _FEWEST:
        flat = np.stack([np.arange(len(vectors)), np.zeros(len(vectors))], 1)
    else:
        nearby = min(30.0, (len(vectors) - 1) / 3)
        noise = np.random.default_rng(0).normal(size=vectors.shape)
        # The same part occurs in many graphs: without a little noise all of them would be one dot.
        spread = vectors + 0.05 * (vectors.std() or 1.0) * noise
        flat = TSNE(perplexity=nearby, init="pca", random_state=0, max_iter=500).fit_transform(spread)
    low, high = flat.min(0), flat.max(0)
    unit: np.ndarray = (flat - low) / np.where(high > low, high - low, 1.0)
    return unit


def map_of(points: np.ndarray, graphs: int, classes: list[int]) -> dict[str, Any]:
    """Places for the page: those of the graphs in their order, then those of the prototypes with their classes."""
    rounded = np.round(points, 4).tolist()
    return {
        "graphs": rounded[:graphs],
        "prototypes": [{"at": at, "label": label} for at, label in zip(rounded[graphs:], classes, strict=True)],
    }
