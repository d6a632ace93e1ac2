"""Our classifiers in PyG's ``torch_geometric.explain``: a module it can call and an algorithm that reads prototypes.

PyG hides parts of a graph in two ways: it multiplies node features by the node mask, and it hands the edge mask to
every ``MessagePassing`` layer. Our encoders have no such layers; ``PyGModule`` therefore catches the edge mask and
turns it into presence weights, in which zero means *not there*. What PyG's metrics measure is then the model on the
subgraph itself; thresholded masks (``threshold_config``) make it one that can be drawn.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch_geometric.explain import ExplainerAlgorithm, Explanation
from torch_geometric.explain.config import ExplainerConfig, MaskType, ModelConfig, ModelMode, ModelReturnType
from torch_geometric.explain.config import ModelTaskLevel as TaskLevel
from torch_geometric.nn import MessagePassing

from protgnn.errors import DataError
from protgnn.explain.reasoning import Reasoning, explain
from protgnn.explain.searched import searched_evidence
from protgnn.graphs.checks import check
from protgnn.graphs.instances import NetworkInstances, Reach
from protgnn.graphs.network_checks import check_network
from protgnn.graphs.packed import Batch, GraphSet, offsets
from protgnn.graphs.schema import Schema
from protgnn.graphs.subgraphs import cut
from protgnn.model.classifier import GraphClassifier
from protgnn.model.encoders import Encoder
from protgnn.model.foreign import ForeignEncoder
from protgnn.model.neighbours import Presence
from protgnn.model.prototypes import PrototypeHead
from protgnn.model.readout import targets_read
from protgnn.search.tree import SearchSettings
from protgnn.training.evaluate import evaluation_batches


class PyGModule(nn.Module):
    """A classifier called as PyG calls models: ``module(x, edge_index, batch=…, edge_attr=…)`` gives logits ``[B, C]``,
    and for a classifier of nodes ``module(x, edge_index)`` those of all nodes, ``[N, C]``.

    Edges are treated as everywhere here: self-loops and duplicates are dropped, an edge given in one direction counts
    in both. With a ``schema`` (``run.schema``, ``data.graphs.schema``) graphs with other columns are refused by name.
    """

    def __init__(self, model: GraphClassifier, schema: Schema | None = None) -> None:
        super().__init__()
        if targets_read(model.readout) == 2:
            raise ValueError("Expected a classifier of graphs or nodes (got one of pairs of nodes)")
        self.model, self.schema = model, schema or Schema()
        self.of_nodes = targets_read(model.readout) == 1
        for part in model.modules():  # of a foreign encoder: the mask numbers the edges as given, it sees mended ones
            if isinstance(part, MessagePassing):
                part.explain = False
        self.catcher = MessagePassing()

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_attr: Tensor | None = None
    ) -> Tensor:
        graphs = self.graphs(x, edge_index, batch, edge_attr)
        mask = self._edge_mask()
        if mask is None:
            return self._logits(graphs).to(x.device)
        edge = _mended(mask.cpu(), edge_index.cpu(), graphs)
        # A node that is asked about stays, whatever it loses.
        node = torch.ones(len(graphs.x), dtype=torch.bool) if self.of_nodes else _left(edge.detach() > 0, graphs)
        if self._all_or_nothing():
            return self._logits(cut(graphs, torch.arange(len(graphs)), node, edge > 0)).to(x.device)
        presence = Presence(node.to(x.device, edge.dtype), edge.to(x.device))
        masked: Tensor = self.model.head(self.model.embed(self._batch(graphs).to(x.device), presence))
        return masked

    def _logits(self, graphs: GraphSet) -> Tensor:
        """Logits of graphs, or of all nodes of one."""
        if self.of_nodes and self.model.sampler is not None:
            nodes = self.nodes(graphs, torch.arange(len(graphs.x)))
            return torch.cat([self.model(batch.to(self._device)) for batch in evaluation_batches(self.model, nodes)])
        logits: Tensor = self.model(self._batch(graphs).to(self._device))
        return logits

    def _batch(self, graphs: GraphSet) -> Batch:
        if not self.of_nodes:
            return graphs.batch()
        if len(graphs) != 1:
            raise DataError(f"A classifier of nodes wants one network, without `batch` (got {len(graphs)} graphs)")
        everyone = torch.arange(len(graphs.x))
        return replace(graphs.batch(), num_graphs=len(everyone), targets=everyone[:, None])

    def nodes(self, graphs: GraphSet, index: Tensor) -> NetworkInstances:
        """Some nodes of the one graph, as a classifier of nodes sees them apart."""
        made = check_network(graphs.x, graphs.edge_index, edge_attr=graphs.edge_attr, schema=graphs.schema)
        return NetworkInstances.of_nodes(made[0], index).reaching(Reach(hops=_layers(self.model.encoder)))

    @property
    def _device(self) -> torch.device:
        return next(self.model.parameters()).device

    def graphs(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_attr: Tensor | None = None
    ) -> GraphSet:
        """PyG's flat batch as checked graphs; their nodes keep their order."""
        x, edge_index = x.cpu(), edge_index.cpu()
        owner = torch.zeros(len(x), dtype=torch.int64) if batch is None else batch.cpu()
        if owner.shape != (len(x),) or bool((owner.diff() < 0).any()):
            raise DataError(
                f"Expected `batch` to give the graph of each of {len(x)} nodes in ascending order "
                f"(got shape {tuple(owner.shape)}): make it with torch_geometric.data.Batch"
            )
        if bool(((edge_index < 0) | (edge_index >= len(x))).any()):
            raise DataError(f"Expected edges between the nodes 0 to {len(x) - 1} (got {int(edge_index.max())})")
        node_ptr = offsets(torch.bincount(owner, minlength=1))
        home = owner[edge_index[0]]
        order = home.argsort(stable=True)
        attr = self._attributes(edge_attr)
        given = GraphSet(
            x=x,
            edge_index=(edge_index - node_ptr[home])[:, order],
            node_ptr=node_ptr,
            edge_ptr=offsets(torch.bincount(home, minlength=len(node_ptr) - 1)),
            edge_attr=None if attr is None else attr[order],
            schema=self.schema,
        )
        return check(given, training=False)[0]

    def _attributes(self, edge_attr: Tensor | None) -> Tensor | None:
        """The edge attributes that the encoder wants, ``[E, D]``."""
        width = self.model.encoder.edge_features
        if not width:
            return None
        if edge_attr is None:
            raise DataError(f"This model uses {width} attributes of every edge: pass edge_attr=…")
        attr = edge_attr.cpu()
        attr = attr[:, None] if attr.dim() == 1 else attr
        if attr.shape[1:] != (width,):
            raise DataError(f"Expected edge_attr of shape [edges, {width}] (got {tuple(edge_attr.shape)})")
        return attr

    def _all_or_nothing(self) -> bool:
        """Whether an edge can only be there or not: foreign encoders and samplers of evidence know no half presence."""
        return isinstance(self.model.encoder, ForeignEncoder) or self.model.sampler is not None

    def _edge_mask(self) -> Tensor | None:
        """The mask ``[E]`` that PyG has set, if any."""
        mask: Tensor | None = self.catcher._edge_mask
        return mask.sigmoid() if mask is not None and self.catcher._apply_sigmoid else mask


def _layers(encoder: Encoder | ForeignEncoder) -> int:
    """How many hops a node hears; a foreign encoder is given one more, for the degrees at the rim."""
    if isinstance(encoder, Encoder):
        return len(encoder.convs)
    return int(getattr(encoder.module, "num_layers", 3)) + 1


def _mended(mask: Tensor, edge_index: Tensor, graphs: GraphSet) -> Tensor:
    """A mask over the edges as given, ``[E]``, for the edges as mended, ``[E']``.

    A direction that was not given takes the value of the one that was; of duplicates the highest counts.
    """
    batch, total = graphs.batch(), len(graphs.x)
    key = batch.edge_index[1] * total + batch.edge_index[0]  # ascending: this is the order of mended edges
    real = edge_index[0] != edge_index[1]
    (source, target), value = edge_index[:, real], mask[real]
    nothing = value.new_zeros(len(key))
    forward, backward = (torch.searchsorted(key, ends) for ends in (target * total + source, source * total + target))
    listed = torch.zeros(len(key), dtype=torch.bool).index_fill(0, forward, True)
    return torch.where(
        listed, nothing.scatter_reduce(0, forward, value, "amax"), nothing.scatter_reduce(0, backward, value, "amax")
    )


def _left(edge: Tensor, graphs: GraphSet) -> Tensor:
    """Which nodes are left, ``[N]``, when only some edges are, ``[E]``: a node goes with the last of its edges.

    A node that never had any stays, and so do the nodes of a graph that loses all its edges: an empty graph has no
    prediction.
    """
    batch = graphs.batch()
    ends = torch.zeros(len(batch.x), dtype=torch.bool)
    left = ends.index_fill(0, batch.edge_index[:, edge].flatten(), True)
    lonely = ~ends.index_fill(0, batch.edge_index.flatten(), True)
    stays = torch.zeros(batch.num_graphs, dtype=torch.bool).index_fill(0, batch.node_graph[left | lonely], True)
    return left | lonely | ~stays[batch.node_graph]


class ProtGNNExplainer(ExplainerAlgorithm):  # type: ignore[misc]  # PyG's class is untyped
    """Node and edge masks from the prototypes of a ``PyGModule``, for ``torch_geometric.explain.Explainer``.

    An edge scores the sum, over the prototypes of the explained class that speak for it, of their contribution to
    its logit where the edge lies inside the evidence; nodes likewise. Scores are divided by the highest of their
    graph, so that masks lie in [0, 1].

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
        if config.task_level not in (TaskLevel.graph, TaskLevel.node):
            return f"Expected task_level='graph' or 'node' (got '{config.task_level.value}')"
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
    ) -> Explanation:
        """Masks for the graphs of ``index`` (all if none) and the classes of ``target [B]``; of a classifier of nodes
        masks over the network for the nodes of ``index``."""
        if not isinstance(model, PyGModule):
            raise ValueError(f"Expected a model wrapped by protgnn.explain.PyGModule (got {type(model).__name__})")
        graphs = model.graphs(x, edge_index, batch, edge_attr)
        if model.of_nodes != (self.model_config.task_level == TaskLevel.node):
            wanted = "node" if model.of_nodes else "graph"
            raise ValueError(f"Expected task_level='{wanted}' for this model (got the other one)")
        if model.of_nodes:
            if index is None:
                raise ValueError("Expected `index`, the node to explain (got none)")
            chosen = torch.as_tensor(index).cpu().reshape(-1)
            return self._of_nodes(model, graphs, edge_index.cpu(), chosen, target.cpu().reshape(-1)[chosen])
        asked = torch.ones(len(graphs), dtype=torch.bool)
        if index is not None:
            asked = torch.zeros_like(asked).index_fill(0, torch.as_tensor(index).cpu().reshape(-1), True)
        reasons = explain(model.model, graphs)
        gain = _gain(reasons, target) * asked[:, None]
        inside = _evidence(model.model, graphs, reasons, gain > 0, self.settings)
        owner, ends = graphs.batch().node_graph, edge_index.cpu()
        node = (inside * gain[owner]).sum(1)
        within = inside[ends[0]] & inside[ends[1]] & (ends[0] != ends[1])[:, None]
        edge = (within * gain[owner[ends[0]]]).sum(1)
        node_mask = _to_one(node, owner, len(graphs))[:, None].to(x.device)
        edge_mask = _to_one(edge, owner[ends[0]], len(graphs)).to(x.device)
        return self._explanation(node_mask, edge_mask)

    def _of_nodes(
        self, model: PyGModule, graphs: GraphSet, edge_index: Tensor, index: Tensor, target: Tensor
    ) -> Explanation:
        """Masks over one network for some of its nodes and their classes: scores are summed over these nodes."""
        instances = model.nodes(graphs, index)
        reasons, around = explain(model.model, instances), instances.apart()
        gain = _gain(reasons, target)
        inside = _evidence(model.model, around, reasons, gain > 0, self.settings)
        assert around.origin is not None
        node, edge = torch.zeros(len(graphs.x)), torch.zeros(edge_index.shape[1])
        source, sink = edge_index
        for number, (start, stop) in enumerate(zip(around.node_ptr, around.node_ptr[1:], strict=False)):
            member = torch.zeros(len(graphs.x), inside.shape[1], dtype=torch.bool)
            member[around.origin[start:stop]] = inside[start:stop]
            node += (member * gain[number]).sum(1)
            edge += ((member[source] & member[sink] & (source != sink)[:, None]) * gain[number]).sum(1)
        one = torch.zeros(1, dtype=torch.int64)
        node, edge = _to_one(node, one.expand(len(node)), 1), _to_one(edge, one.expand(len(edge)), 1)
        return self._explanation(node[:, None], edge)

    def _explanation(self, node_mask: Tensor, edge_mask: Tensor) -> Explanation:
        config = self.explainer_config
        return Explanation(
            node_mask=None if config.node_mask_type is None else node_mask,
            edge_mask=None if config.edge_mask_type is None else edge_mask,
        )


def _gain(reasons: list[Reasoning], target: Tensor) -> Tensor:
    """What the prototypes of the class ``target [B]`` add to its logit, ``[B, K]``; nothing where they take away."""
    return torch.tensor(
        [
            [row.contribution(label) if row.label == label else 0.0 for row in why.rows]
            for why, label in zip(reasons, target.reshape(-1).tolist(), strict=True)
        ]
    ).clamp(min=0)


def _evidence(
    model: GraphClassifier, graphs: GraphSet, reasons: list[Reasoning], counts: Tensor, settings: SearchSettings
) -> Tensor:
    """Whether a node is in its graph's evidence for a prototype, ``[N, K]``, for the pairs ``[G, K]`` that count."""
    head = model.head
    assert isinstance(head, PrototypeHead)
    inside = torch.zeros(len(graphs.x), counts.shape[1], dtype=torch.bool)
    start = graphs.node_ptr.tolist()
    missing = torch.zeros_like(counts)
    for graph, prototype in counts.nonzero().tolist():
        nodes = reasons[graph].rows[prototype].evidence
        if nodes is None:
            missing[graph, prototype] = True
        else:
            inside[[start[graph] + node for node in nodes], prototype] = True
    for (graph, prototype), nodes in searched_evidence(model, graphs, missing, settings).items():
        inside[[start[graph] + node for node in nodes], prototype] = True
    return inside


def _to_one(score: Tensor, owner: Tensor, graphs: int) -> Tensor:
    """Scores divided by the highest of their graph; zeros stay zeros."""
    highest = score.new_zeros(graphs).scatter_reduce(0, owner, score, "amax")[owner]
    return score / torch.where(highest > 0, highest, 1.0)
