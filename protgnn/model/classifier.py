"""The three models of the paper, each a composition of the same parts.

==================  ==================================================================================
``PlainGNN``        ``linear(readout(encoder(G)))``: the black box that the others are compared with
``ProtGNN``         ``last(similarity(readout(encoder(G)), prototypes))``
``ProtGNNPlus``     the same for the subgraph of ``G`` that each prototype takes as its evidence
==================  ==================================================================================

The state dict holds ``encoder.*``, ``head.*`` and, where the readout learns, ``pooling.*``; for ProtGNN+ also
``sampler.*`` and ``parts.*``, the batch-norm statistics of subgraphs. ``composition.*``, where there is one, is what
the make-up of the graph adds (``model/composition.py``; ours).
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet
from protgnn.featurizers.batch_units import BatchUnits
from protgnn.model.batch_norm_stats import SubgraphBatchNormStats
from protgnn.model.composition import Composition
from protgnn.model.encoders import Encoder
from protgnn.model.evidence import Evidence, EvidenceOptions, Exploration, Proposals, nearest, propose
from protgnn.model.message_passing import SoftMask
from protgnn.model.prototype_layer import PrototypeHead, squared_distances
from protgnn.model.pyg_encoder import PyGEncoder
from protgnn.model.readout import Pooling, ReadoutName, readout
from protgnn.model.sampler import Sampler


class GraphClassifier(nn.Module):
    """What all three models share: an encoder, a readout and a head on the embedding."""

    compares_evidence: ClassVar[bool] = False
    """Whether prototypes are compared with subgraphs, for which every instance must be a graph of its own."""

    head: nn.Linear | PrototypeHead
    sampler: Sampler | None
    parts: SubgraphBatchNormStats | None
    composition: Composition | None

    def __init__(self, encoder: Encoder | PyGEncoder, readout: ReadoutName, head: nn.Linear | PrototypeHead) -> None:
        super().__init__()
        self.encoder, self.readout, self.head = encoder, readout, head
        self.pooling = Pooling(encoder.width_out) if readout == "all" else None
        self.sampler = self.parts = self.composition = None

    @property
    def subgraphs_per_graph(self) -> int:
        """How many subgraphs (the graph itself is one) are encoded to classify one graph."""
        return 1

    def embed(self, batch: Batch, presence: SoftMask | None = None) -> Tensor:
        """One embedding per graph, ``[B, H]``."""
        z = self.encoder(batch, presence)
        if self.pooling is not None:
            pooled: Tensor = self.pooling(z, batch, presence)
            return pooled
        return readout(self.readout, z, batch, presence)

    def embed_parts(self, batch: Batch) -> Tensor:
        """One embedding per graph, ``[B, H]``, where the graphs are subgraphs: those of prototypes, or evidence."""
        return self.embed(batch)

    def added(self, batch: Batch, present: Tensor | None = None) -> Tensor | float:
        """What the composition of the graphs adds to their logits, ``[B, C]``, where only some nodes are ``present
        [N]`` that of these; zero without one."""
        if self.composition is None or not self.composition.is_fitted:
            return 0.0
        added: Tensor = self.composition(batch, present)
        return added

    def forward(self, batch: Batch, whole: bool = False) -> Tensor:
        """Logits ``[B, C]``; ``whole`` compares whole graphs even in ProtGNN+."""
        raise NotImplementedError

    def divide_logits(self, temperature: float) -> None:
        """Divide all logits by a number, in the weights that make them."""
        if self.composition is not None:
            self.composition.divide(temperature)

    def distances(self, batch: Batch, whole: bool = False) -> Tensor:
        """Squared distance ``[B, K]`` of every prototype to what it is compared with; ProtGNN and ProtGNN+ only."""
        raise TypeError(f"A {type(self).__name__} has no prototypes")

    def evidence(self, batch: Batch) -> Evidence:
        """What every prototype is compared with; ProtGNN+ only."""
        raise TypeError(f"A {type(self).__name__} has no evidence")

    def propose(self, batch: Batch, exploration: Exploration | None = None) -> Proposals:
        """The candidates for evidence; ProtGNN+ only."""
        raise TypeError(f"A {type(self).__name__} has no evidence")


class PlainGNN(GraphClassifier):
    """A graph neural network with a linear head."""

    head: nn.Linear

    def forward(self, batch: Batch, whole: bool = False) -> Tensor:
        result: Tensor = self.head(self.embed(batch)) + self.added(batch)
        return result

    @torch.no_grad()
    def divide_logits(self, temperature: float) -> None:
        super().divide_logits(temperature)
        self.head.weight.div_(temperature)
        self.head.bias.div_(temperature)


class ProtGNN(GraphClassifier):
    """Classifies a graph by its similarities to prototypes, Eq. 2."""

    head: PrototypeHead

    def forward(self, batch: Batch, whole: bool = False) -> Tensor:
        return self.head.logits(self.distances(batch, whole)) + self.added(batch)

    def divide_logits(self, temperature: float) -> None:
        super().divide_logits(temperature)
        self.head.divide_logits(temperature)

    def distances(self, batch: Batch, whole: bool = False) -> Tensor:
        return self.head.distances(self.embed(batch))

    def similarities(self, batch: Batch, whole: bool = False) -> Tensor:
        """Similarity ``[B, K]`` of every prototype to what it is compared with, Eq. 2."""
        return self.head.similarity(self.distances(batch, whole))

    def similarities_of_parts(self, parts: GraphSet) -> Tensor:
        """Similarity ``[S, K]`` of S subgraphs, cut out and by themselves, to every prototype, Eq. 2."""
        return self.head.similarity(self.head.distances(self.embed_parts(parts.batch())))

    def base(self, batch: Batch) -> Tensor:
        """Logits ``[B, C]`` without any evidence, to which the contributions of prototypes are added: here what the
        composition adds."""
        weight = self.head.last.weight
        return weight.new_zeros(batch.num_graphs, len(weight)) + self.added(batch)

    def begin_anchored_stage(self) -> None:
        """Get ready to embed prototypes' subgraphs; ProtGNN+ begins to count statistics of subgraphs."""


class ProtGNNPlus(ProtGNN):
    """Compares every prototype with a subgraph of the graph, the evidence for it.

    The same weights also make a ProtGNN, which compares whole graphs: ``whole=True``, or :meth:`as_protgnn`. With
    ``units`` evidence cuts nothing that belongs together.
    """

    compares_evidence = True

    sampler: Sampler
    parts: SubgraphBatchNormStats

    def __init__(
        self,
        encoder: Encoder | PyGEncoder,
        readout: ReadoutName,
        head: PrototypeHead,
        sampler: Sampler,
        options: EvidenceOptions | None = None,
        units: BatchUnits | None = None,
    ) -> None:
        super().__init__(encoder, readout, head)
        self.sampler, self.options, self.units = sampler, options or EvidenceOptions(), units
        self.parts = SubgraphBatchNormStats(encoder)

    @property
    def subgraphs_per_graph(self) -> int:
        return len(self.head.classes) + self.options.extra_candidates

    def embed_parts(self, batch: Batch) -> Tensor:
        with self.parts.in_use():
            return self.embed(batch)

    def begin_anchored_stage(self) -> None:
        self.parts.begin()

    def distances(self, batch: Batch, whole: bool = False) -> Tensor:
        return super().distances(batch) if whole else self.evidence(batch).distance

    def evidence(self, batch: Batch) -> Evidence:
        candidates = self.propose(batch).candidates
        h = self.embed_parts(candidates.batch.to(batch.x.device))
        return nearest(squared_distances(h, self.head.vectors), candidates)

    def propose(self, batch: Batch, exploration: Exploration | None = None) -> Proposals:
        # Made of node embeddings in whole graphs; only the sampler has a gradient.
        with torch.no_grad():
            z = self.encoder(batch).float()
        units = None if self.units is None else self.units(batch)
        return propose(self.sampler, z, batch, self.head.vectors.detach(), self.options, exploration, units)

    def as_protgnn(self) -> ProtGNN:
        """The ProtGNN of the same weights, which this model shares with it."""
        model = ProtGNN(self.encoder, self.readout, self.head)
        model.pooling = self.pooling
        return model.train(self.training)
