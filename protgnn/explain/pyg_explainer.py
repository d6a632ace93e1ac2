"""Masks for PyG's ``torch_geometric.explain`` from the prototypes of a model that ``PyGModule`` wraps."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn
from torch_geometric.explain import ExplainerAlgorithm, Explanation
from torch_geometric.explain.config import ExplainerConfig, MaskType, ModelConfig, ModelMode, ModelReturnType
from torch_geometric.explain.config import ModelTaskLevel as TaskLevel

from protgnn.data.graph_set import GraphSet
from protgnn.errors import ProtGNNError
from protgnn.explain.explanation import PLAIN, Reasoning, explain
from protgnn.explain.mcts_evidence import mcts_evidence
from protgnn.explain.node_scores import edges_of_parts, node_scores
from protgnn.explain.pyg_module import PyGModule
from protgnn.model.classifier import GraphClassifier, ProtGNN
from protgnn.model.mined import ProtGNNMined
from protgnn.search.tree import SearchSettings

__all__ = ["ProtGNNExplainer"]

LEVELS = {0: TaskLevel.graph, 1: TaskLevel.node, 2: TaskLevel.edge}
"""PyG's word for what gets a label, by the number of its target nodes."""


class ProtGNNExplainer(ExplainerAlgorithm):  # type: ignore[misc]  # PyG's class is untyped
    """Node and edge masks from the prototypes of a ``PyGModule``, for ``torch_geometric.explain.Explainer``.

    An edge scores the sum, over the prototypes of the explained class that speak for it, of their contribution to
    its logit where the edge lies inside the evidence; nodes likewise. Whole graphs of a model with mined prototypes
    are scored by :func:`~protgnn.explain.node_scores.node_scores`. Scores are divided by the highest of their graph,
    so that masks lie in [0, 1].

    Where the model compared the whole graph with a prototype there is no evidence in the computation itself. The
    subgraph most similar to the prototype then stands in for it, as found by the tree search with ``settings``.
    """

    def __init__(self, settings: SearchSettings | None = None) -> None:
        super().__init__()
        self.settings = settings or SearchSettings()

    def connect(self, explainer_config: ExplainerConfig, model_config: ModelConfig) -> None:
        """Take the settings of an ``Explainer``; what is not supported is refused by name."""
        self._explainer_config = ExplainerConfig.cast(explainer_config)
        self._model_config = ModelConfig.cast(model_config)
        refusal = self._refusal()
        if refusal is not None:
            raise ValueError(refusal)

    def supports(self) -> bool:
        return self._refusal() is None

    def _refusal(self) -> str | None:
        """What is wrong with the settings, if anything."""
        config, masks = self.model_config, self.explainer_config
        if config.mode != ModelMode.multiclass_classification:
            return f"Expected mode='multiclass_classification', also for two classes (got '{config.mode.value}')"
        if config.return_type != ModelReturnType.raw:
            return f"Expected return_type='raw', as the model returns logits (got '{config.return_type.value}')"
        if masks.node_mask_type not in (None, MaskType.object):
            return (
                f"Expected node_mask_type='object', as prototypes tell of nodes, not of features "
                f"(got '{masks.node_mask_type.value}')"
            )
        return None

    @torch.no_grad()
    def forward(
        self,
        model: nn.Module,
        x: Tensor,
        edge_index: Tensor,
        *,
        target: Tensor,
        index: int | Tensor | None = None,
        batch: Tensor | None = None,
        edge_attr: Tensor | None = None,
        edge_label_index: Tensor | None = None,
    ) -> Explanation:
        """Masks for the graphs of ``index`` (all if none) and the classes of ``target [B]``; of a classifier of nodes
        masks over the network for the nodes of ``index``, and of one of links for those of the pairs
        ``edge_label_index [2, P]`` that ``index`` says (all if none)."""
        if not isinstance(model, PyGModule):
            raise ValueError(f"Expected a model wrapped by protgnn.explain.PyGModule (got {type(model).__name__})")
        graphs = model.graphs(x, edge_index, batch, edge_attr)
        wanted, got = LEVELS[model.num_targets], self.model_config.task_level
        if got != wanted:
            raise ValueError(f"Expected task_level='{wanted.value}' for this model (got '{got.value}')")
        targets = model.targets(graphs, edge_label_index)
        if targets is not None:
            if index is None and wanted == TaskLevel.node:
                raise ValueError("Expected `index`, the node to explain (got none)")
            chosen = torch.arange(len(targets)) if index is None else torch.as_tensor(index).cpu().reshape(-1)
            classes = target.cpu().reshape(-1)[chosen]
            return self._of_targets(model, graphs, edge_index.cpu(), targets[chosen], classes).to(x.device)
        explained = torch.ones(len(graphs), dtype=torch.bool)
        if index is not None:
            explained = torch.zeros_like(explained).index_fill(0, torch.as_tensor(index).cpu().reshape(-1), True)
        classifier, ends = _on_cpu(model.model), edge_index.cpu()
        if isinstance(classifier, ProtGNNMined):
            node, edge = _mined_scores(classifier, graphs, ends, target.cpu().reshape(-1), explained)
            return self._scaled(node, edge, graphs, ends).to(x.device)
        reasons = explain(classifier, graphs)
        gain = _gain(reasons, target) * explained[:, None]
        inside = _evidence(classifier, graphs, reasons, gain > 0, self.settings)
        owner = graphs.batch().batch
        node = (inside * gain[owner]).sum(1)
        within = inside[ends[0]] & inside[ends[1]] & (ends[0] != ends[1])[:, None]
        edge = (within * gain[owner[ends[0]]]).sum(1)
        return self._scaled(node, edge, graphs, ends).to(x.device)

    def _of_targets(
        self, model: PyGModule, graphs: GraphSet, edge_index: Tensor, targets: Tensor, classes: Tensor
    ) -> Explanation:
        """Masks over one network for some of its nodes ``[G, 1]`` or pairs ``[G, 2]`` and their classes ``[G]``, over
        which scores are summed. The link between a pair was not looked at and scores nothing for it."""
        classifier, instances = _on_cpu(model.model), model.around(graphs, targets)
        reasons, around = explain(classifier, instances), instances.ego_graphs()
        gain = _gain(reasons, classes)
        inside = _evidence(classifier, around, reasons, gain > 0, self.settings)
        assert around.n_id is not None
        node, edge = torch.zeros(len(graphs.x)), torch.zeros(edge_index.shape[1])
        source, sink = edge_index
        for number, (start, stop) in enumerate(zip(around.node_ptr, around.node_ptr[1:], strict=False)):
            member = torch.zeros(len(graphs.x), inside.shape[1], dtype=torch.bool)
            member[around.n_id[start:stop]] = inside[start:stop]
            node += (member * gain[number]).sum(1)
            looked_at = ~(torch.isin(source, targets[number]) & torch.isin(sink, targets[number]))
            edge += ((member[source] & member[sink] & (looked_at & (source != sink))[:, None]) * gain[number]).sum(1)
        one = torch.zeros(1, dtype=torch.int64)
        node, edge = _to_one(node, one.expand(len(node)), 1), _to_one(edge, one.expand(len(edge)), 1)
        return self._explanation(node[:, None], edge)

    def _scaled(self, node: Tensor, edge: Tensor, graphs: GraphSet, ends: Tensor) -> Explanation:
        """Scores ``[N]`` and ``[E]`` as masks, graph by graph."""
        owner = graphs.batch().batch
        node_mask = _to_one(node, owner, len(graphs))[:, None]
        return self._explanation(node_mask, _to_one(edge, owner[ends[0]], len(graphs)))

    def _explanation(self, node_mask: Tensor, edge_mask: Tensor) -> Explanation:
        config = self.explainer_config
        return Explanation(
            node_mask=None if config.node_mask_type is None else node_mask,
            edge_mask=None if config.edge_mask_type is None else edge_mask,
        )


def _mined_scores(
    model: ProtGNNMined, graphs: GraphSet, ends: Tensor, labels: Tensor, explained: Tensor
) -> tuple[Tensor, Tensor]:
    """Scores of nodes ``[N]`` and of the edges ``ends [2, E]`` for the classes ``labels [G]``; zero for graphs that are
    not to be ``explained [G]``, and for loops."""
    batch = graphs.batch()
    several, lone, _ = node_scores(model, batch, labels)
    edge = edges_of_parts(several, lone, ends) * (ends[0] != ends[1])
    return (several + lone) * explained[batch.batch], edge * explained[batch.batch[ends[0]]]


def _on_cpu(model: GraphClassifier) -> ProtGNN:
    """Where reasoning is computed; a model elsewhere stays there."""
    if not isinstance(model, ProtGNN):
        raise ProtGNNError(PLAIN)
    return model if next(model.parameters()).device.type == "cpu" else copy.deepcopy(model).cpu()


def _gain(reasons: list[Reasoning], target: Tensor) -> Tensor:
    """What the prototypes of the class ``target [B]`` add to its logit, ``[B, K]``; nothing where they take away."""
    return torch.tensor(
        [
            [row.contribution(label) if row.label == label else 0.0 for row in why.rows]
            for why, label in zip(reasons, target.reshape(-1).tolist(), strict=True)
        ]
    ).clamp(min=0)


def _evidence(
    model: ProtGNN, graphs: GraphSet, reasons: list[Reasoning], counts: Tensor, settings: SearchSettings
) -> Tensor:
    """Whether a node is in its graph's evidence for a prototype, ``[N, K]``, for the pairs ``[G, K]`` that count."""
    inside = torch.zeros(len(graphs.x), counts.shape[1], dtype=torch.bool)
    start = graphs.node_ptr.tolist()
    missing = torch.zeros_like(counts)
    for graph, prototype in counts.nonzero().tolist():
        nodes = reasons[graph].rows[prototype].marked
        if nodes is None:
            missing[graph, prototype] = True
        else:
            inside[[start[graph] + node for node in nodes], prototype] = True
    for (graph, prototype), nodes in mcts_evidence(model, graphs, missing, settings).items():
        inside[[start[graph] + node for node in nodes], prototype] = True
    return inside


def _to_one(score: Tensor, owner: Tensor, graphs: int) -> Tensor:
    """Scores divided by the highest of their graph; zeros stay zeros."""
    highest = score.new_zeros(graphs).scatter_reduce(0, owner, score, "amax")[owner]
    return score / torch.where(highest > 0, highest, 1.0)
