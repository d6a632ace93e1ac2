"""The map of the explorer: t-SNE of the embeddings that the model compares, of graphs and prototypes together."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from protgnn.data.network.instances import Instances
from protgnn.explain.comparison import compared_embeddings
from protgnn.training.evaluate import evaluation_batches
from protgnn.web.opened_run import OpenedRun

_FEWEST = 4  # points: t-SNE needs a perplexity of at least one


def compared_vectors(opened: OpenedRun, instances: Instances) -> np.ndarray:
    """The embeddings compared for each graph, followed by the prototypes: ``[G + K, H]``."""
    model = opened.model
    with torch.no_grad():
        found = [compared_embeddings(model, batch) for batch in evaluation_batches(model, instances)]
        together = torch.cat([*found, model.head.vectors])
    result: np.ndarray = together.double().numpy()
    return result


def tsne_positions(vectors: np.ndarray) -> np.ndarray:
    """Positions in the unit square by t-SNE, ``[N, H] → [N, 2]``; deterministic."""
    from sklearn.manifold import TSNE

    if len(vectors) < _FEWEST:
        flat = np.stack([np.arange(len(vectors)), np.zeros(len(vectors))], 1)
    else:
        perplexity = min(30.0, (len(vectors) - 1) / 3)
        noise = np.random.default_rng(0).normal(size=vectors.shape)
        # Many graphs have the same evidence: without a little noise they would all be drawn as one dot.
        spread = vectors + 0.05 * (vectors.std() or 1.0) * noise
        flat = TSNE(perplexity=perplexity, init="pca", random_state=0, max_iter=500).fit_transform(spread)
    low, high = flat.min(0), flat.max(0)
    unit: np.ndarray = (flat - low) / np.where(high > low, high - low, 1.0)
    return unit


def map_points(points: np.ndarray, graphs: int, classes: list[int]) -> dict[str, Any]:
    """Positions as JSON: those of the graphs in their order, then those of the prototypes with their classes."""
    rounded = np.round(points, 4).tolist()
    return {
        "graphs": rounded[:graphs],
        "prototypes": [{"at": at, "label": label} for at, label in zip(rounded[graphs:], classes, strict=True)],
    }
