"""Our classifiers as PyG calls models, so that its explainers and metrics can mask what they see.

PyG hides parts of a graph in two ways: it multiplies node features by the node mask, and it hands the edge mask to
every ``MessagePassing`` layer. Our encoders have no such layers; ``PyGModule`` therefore catches the edge mask and
turns it into presence weights, in which zero means *not there*. What PyG's metrics measure is then the model on the
subgraph itself; thresholded masks (``threshold_config``) make it one that can be drawn.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from protgnn.data.batch import Batch, offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import NetworkInstances, Reach
from protgnn.data.network.network import Network
from protgnn.data.schema import Schema
from protgnn.data.subgraph import cut
from protgnn.data.validate import check
from protgnn.errors import DataError, ProtGNNError
from protgnn.featurizers.part_rule import PartRule
from protgnn.model.classifier import GraphClassifier, ProtGNNPlus
from protgnn.model.encoders import Encoder
from protgnn.model.message_passing import SoftMask
from protgnn.model.pyg_encoder import PyGEncoder
from protgnn.model.readout import targets_read
from protgnn.training.evaluate import evaluation_batches
from protgnn.training.recipe import Recipe
from protgnn.training.resolve import reach_of


class PyGModule(nn.Module):
    """A classifier called as PyG calls models: ``module(x, edge_index, batch=…, edge_attr=…)`` gives logits ``[B, C]``.
    For a classifier of nodes ``module(x, edge_index)`` gives those of all nodes, ``[N, C]``, and for one of links
    ``module(x, edge_index, edge_label_index=…)`` those of the pairs ``[2, P]``, ``[P, C]``.

    Edges are treated as everywhere here: self-loops and duplicates are dropped, an edge given in one direction counts
    in both, the link between a pair is not looked at. With a ``schema`` (``run.schema``, ``data.graphs.schema``) graphs
    with other columns are refused by name. Of a model of a network the ``recipe`` (``run.recipe``) says how much of it
    is seen around a node; one that samples neighbours is refused, and networks are taken to have no direction.
    """

    def __init__(self, model: GraphClassifier, schema: Schema | None = None, recipe: Recipe | None = None) -> None:
        super().__init__()
        if recipe is not None and recipe.fanout not in (0, "auto"):
            raise ProtGNNError(
                f"This model samples {recipe.fanout} neighbours in each layer, which masks on edges cannot follow: "
                "use model.explain, or train with fanout=0"
            )
        self.reach = Reach(hops=_layers(model.encoder)) if recipe is None else reach_of(recipe)
        self.model, self.schema = model, schema or Schema()
        self.num_targets = targets_read(model.readout)
        for part in model.modules():  # of a PyG encoder: the mask numbers the edges as given, it sees repaired ones
            if isinstance(part, MessagePassing):
                part.explain = False
        self.catcher = MessagePassing()

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        batch: Tensor | None = None,
        edge_attr: Tensor | None = None,
        edge_label_index: Tensor | None = None,
    ) -> Tensor:
        graphs = self.graphs(x, edge_index, batch, edge_attr)
        targets = self.targets(graphs, edge_label_index)
        mask = self._edge_mask()
        if mask is None:
            return self._logits(graphs, targets).to(x.device)
        edge = _repaired(mask.cpu(), edge_index.cpu(), graphs)
        # A target stays, whatever it loses.
        node = torch.ones(len(graphs.x), dtype=torch.bool) if self.num_targets else _left(edge.detach() > 0, graphs)
        if self._all_or_nothing():
            edge = torch.maximum(edge, edge[graphs.batch().reverse])  # hard masks may keep one direction of an edge
            return self._logits(cut(graphs, torch.arange(len(graphs)), node, edge > 0), targets).to(x.device)
        return self._masked(graphs, targets, SoftMask(node.to(x.device, edge.dtype), edge.to(x.device)))

    def targets(self, graphs: GraphSet, pairs: Tensor | None) -> Tensor | None:
        """What is classified of a network: all nodes ``[N, 1]``, or the pairs given as columns, ``[P, 2]``."""
        if not self.num_targets:
            return None
        if len(graphs) != 1:
            kind = "nodes" if self.num_targets == 1 else "links"
            raise DataError(f"A classifier of {kind} wants one network, without `batch` (got {len(graphs)} graphs)")
        if self.num_targets == 1:
            return torch.arange(len(graphs.x))[:, None]
        if pairs is None:
            raise DataError("A classifier of links wants `edge_label_index`, the pairs to classify (got none)")
        pairs = pairs.cpu()
        if pairs.dim() != 2 or len(pairs) != 2 or pairs.is_floating_point():
            raise DataError(f"Expected edge_label_index of shape [2, pairs] (got {tuple(pairs.shape)}, {pairs.dtype})")
        if bool(((pairs < 0) | (pairs >= len(graphs.x))).any()) or bool((pairs[0] == pairs[1]).any()):
            raise DataError(f"Expected edge_label_index of pairs of two different nodes among 0 to {len(graphs.x) - 1}")
        return pairs.t().contiguous()

    def _logits(self, graphs: GraphSet, targets: Tensor | None) -> Tensor:
        """Logits of graphs, or of the targets within one."""
        if targets is None or (self.num_targets == 1 and not self.model.compares_evidence):
            logits: Tensor = self.model(_batch(graphs, targets).to(self._device))
            return logits
        seen = evaluation_batches(self.model, self.around(graphs, targets))
        return torch.cat([self.model(batch.to(self._device)) for batch in seen])

    def _masked(self, graphs: GraphSet, targets: Tensor | None, presence: SoftMask) -> Tensor:
        """Logits where edges are there in part; a pair that is joined is computed without the link between them."""
        logits: Tensor = self._present(_batch(graphs, targets), presence)
        if targets is None or self.num_targets == 1:
            return logits
        ends = graphs.edge_index.sort(dim=0).values
        rows = list(logits)
        for number, pair in enumerate(targets.sort(dim=1).values):
            between = (ends == pair[:, None]).all(0).to(logits.device)
            if bool(between.any()):
                assert presence.edge is not None
                without = replace(presence, edge=presence.edge.masked_fill(between, 0))
                rows[number] = self._present(_batch(graphs, targets[number : number + 1]), without)[0]
        return torch.stack(rows)

    def _present(self, batch: Batch, presence: SoftMask) -> Tensor:
        batch = batch.to(self._device)
        present = None if presence.node is None else presence.node > 0
        logits: Tensor = self.model.head(self.model.embed(batch, presence)) + self.model.added(batch, present)
        return logits

    def around(self, graphs: GraphSet, targets: Tensor) -> NetworkInstances:
        """Some nodes ``[G, 1]`` or pairs ``[G, 2]`` of the one graph, each as a classifier sees it alone."""
        made = Network.from_edge_index(graphs.x, graphs.edge_index, edge_attr=graphs.edge_attr, schema=graphs.schema)
        seen = NetworkInstances(made[0], targets, None, graphs.schema)
        return seen.reaching(self.reach)

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
        """The edge attributes that the encoder wants, or that say what belongs together in a molecule, ``[E, D]``."""
        whole = self.model.units is not None if isinstance(self.model, ProtGNNPlus) else self.model.compares_evidence
        bonds = whole and PartRule.of(self.schema).has_units
        width = self.model.encoder.edge_features or (len(self.schema.edge_features) if bonds else 0)
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
        """Whether an edge can only be there or not: PyG encoders and models of evidence know no half presence."""
        return isinstance(self.model.encoder, PyGEncoder) or self.model.compares_evidence

    def _edge_mask(self) -> Tensor | None:
        """The mask ``[E]`` that PyG has set, if any."""
        mask: Tensor | None = self.catcher._edge_mask
        return mask.sigmoid() if mask is not None and self.catcher._apply_sigmoid else mask


def _batch(graphs: GraphSet, targets: Tensor | None) -> Batch:
    """The graphs as one batch, or the one graph for all its targets."""
    batch = graphs.batch()
    return batch if targets is None else replace(batch, num_graphs=len(targets), targets=targets)


def _layers(encoder: Encoder | PyGEncoder) -> int:
    """From how many hops a node gets messages; a PyG encoder is given one more, for the degrees at the rim."""
    if isinstance(encoder, Encoder):
        return len(encoder.convs)
    return int(getattr(encoder.module, "num_layers", 3)) + 1


def _repaired(mask: Tensor, edge_index: Tensor, graphs: GraphSet) -> Tensor:
    """A mask over the edges as given, ``[E]``, for the edges as repaired, ``[E']``.

    A direction that was not given takes the value of the one that was; of duplicates the highest counts.
    """
    batch, total = graphs.batch(), len(graphs.x)
    key = batch.edge_index[1] * total + batch.edge_index[0]  # ascending: this is the order of repaired edges
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
    stays = torch.zeros(batch.num_graphs, dtype=torch.bool).index_fill(0, batch.batch[left | lonely], True)
    return left | lonely | ~stays[batch.batch]
