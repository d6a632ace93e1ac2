"""PyG's GNNExplainer and PGExplainer on a plain GNN of ours.

PyG hands an edge mask to every ``MessagePassing`` layer: one such layer around our whole encoder takes it. Many graphs
are explained in one call, each by the mask of its own edges: the cost of a mask's size is divided by their number, so
that each graph has the objective that it would have alone.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.explain import GNNExplainer, PGExplainer
from torch_geometric.explain.config import ExplainerConfig, ModelConfig
from torch_geometric.nn import MessagePassing

from benchmarks.league.scoring import Explained, from_edges
from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet
from protgnn.model.classifier import GraphClassifier
from protgnn.model.message_passing import SoftMask

GNN_EPOCHS, GNN_LR, GNN_SIZE = 100, 0.01, 0.005
PG_EPOCHS, PG_LR, PG_SIZE, PG_BATCH, PG_GRAPHS = 30, 0.003, 0.05, 8, 500
"""PyG's defaults; PGExplainer learns from 500 training graphs, 8 in each step."""


class MaskableEncoder(MessagePassing):  # type: ignore[misc]  # PyG's class is untyped
    """An encoder that weighs its edges by the mask that PyG has set."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, batch: Batch, presence: SoftMask | None = None) -> Tensor:
        mask: Tensor | None = self._edge_mask
        if mask is not None:
            presence = SoftMask(edge=mask.sigmoid() if self._apply_sigmoid else mask)
        result: Tensor = self.encoder(batch, presence)
        return result


class MaskableModel(nn.Module):
    """A classifier called as PyG calls models, with the graphs as one batch: ``module(x, edge_index, graphs=…)``."""

    def __init__(self, model: GraphClassifier) -> None:
        super().__init__()
        self.model = copy.deepcopy(model).eval().requires_grad_(False)
        self.model.encoder = MaskableEncoder(self.model.encoder)

    def forward(self, x: Tensor, edge_index: Tensor, graphs: Batch) -> Tensor:
        logits: Tensor = self.model(graphs)
        return logits

    def embeddings(self, graphs: Batch) -> Tensor:
        """What PGExplainer scores edges by: ``[N, H]``, beside it the target's where there is one, ``[N, 2H]``."""
        z: Tensor = self.model.encoder(graphs)
        return z if graphs.targets is None else torch.cat([z, z[graphs.targets[:, 0]][graphs.batch]], dim=1)


class _PGExplainer(PGExplainer):  # type: ignore[misc]
    """PyG's, with embeddings that know the target node where there is one."""

    def _get_embeddings(self, model: Any, x: Tensor, edge_index: Tensor, **kwargs: Any) -> Tensor:
        with torch.no_grad():
            found: Tensor = model.embeddings(kwargs["graphs"])
        return found


def gnn_explainer_scores(model: GraphClassifier, batch: Batch, predicted: Tensor) -> Explained:
    """Edge masks learned for each graph by itself, for the predicted classes ``[B]``."""
    algorithm = GNNExplainer(epochs=GNN_EPOCHS, lr=GNN_LR, edge_size=GNN_SIZE / batch.num_graphs)
    _connect(algorithm, "model")
    found = algorithm(MaskableModel(model), batch.x, batch.edge_index, target=predicted, graphs=batch)
    return from_edges(found.edge_mask.detach(), batch)


class TrainedPGExplainer:
    """PGExplainer's network, which scores the edges of any graph once it has learned from training graphs."""

    def __init__(self, model: GraphClassifier, train: GraphSet, seed: int) -> None:
        self.model = MaskableModel(model)
        generator = torch.Generator().manual_seed(seed)
        self.algorithm = _PGExplainer(epochs=PG_EPOCHS, lr=PG_LR, edge_size=PG_SIZE / PG_BATCH)
        _connect(self.algorithm, "phenomenon")
        for epoch in range(PG_EPOCHS):
            order = torch.randperm(len(train), generator=generator)[:PG_GRAPHS]
            for batch in train.shuffled(order, PG_BATCH):
                with torch.no_grad():
                    said = self.model(batch.x, batch.edge_index, graphs=batch).argmax(1)
                self.algorithm.train(epoch, self.model, batch.x, batch.edge_index, target=said, graphs=batch)

    def scores(self, batch: Batch, predicted: Tensor) -> Explained:
        """Scores for the predicted classes ``[B]``."""
        found = self.algorithm(self.model, batch.x, batch.edge_index, target=predicted, graphs=batch)
        return from_edges(found.edge_mask.detach(), batch)


def _connect(algorithm: Any, explanation: str) -> None:
    algorithm.connect(
        ExplainerConfig(explanation_type=explanation, edge_mask_type="object"),
        ModelConfig(mode="multiclass_classification", task_level="graph", return_type="raw"),
    )
