"""The composed model: ``head(readout(encoder(G)))``, and in ProtGNN+ the same of the evidence for each prototype."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from protgnn.graphs.packed import Batch
from protgnn.model.encoders import Encoder
from protgnn.model.evidence import Evidence, Exploration, Proposals, Sizes, nearest, propose
from protgnn.model.foreign import ForeignEncoder
from protgnn.model.neighbours import Presence
from protgnn.model.prototypes import PrototypeHead, squared_distances
from protgnn.model.readout import ReadoutName, readout
from protgnn.model.sampler import Sampler
from protgnn.model.worlds import PartStatistics


class GraphClassifier(nn.Module):
    """A graph classifier; the head is linear for the plain GNN and made of prototypes for ProtGNN.

    With a sampler it is ProtGNN+: every prototype is compared with a part of the graph, the evidence for it. The same
    weights then still make a ProtGNN, which compares the whole graph: ``whole=True``.
    """

    def __init__(
        self,
        encoder: Encoder | ForeignEncoder,
        readout: ReadoutName,
        head: nn.Linear | PrototypeHead,
        sampler: Sampler | None = None,
        sizes: Sizes | None = None,
    ) -> None:
        super().__init__()
        self.encoder, self.readout, self.head, self.sampler = encoder, readout, head, sampler
        self.sizes = sizes or Sizes()
        self.parts = None if sampler is None else PartStatistics(encoder)

    def embed(self, batch: Batch, presence: Presence | None = None) -> Tensor:
        """One embedding per graph, ``[B, H]``."""
        return readout(self.readout, self.encoder(batch, presence), batch, presence)

    def embed_parts(self, batch: Batch) -> Tensor:
        """One embedding per graph, ``[B, H]``, where graphs are prototypes' subgraphs or evidence."""
        if self.parts is None:
            return self.embed(batch)
        with self.parts.in_use():
            return self.embed(batch)

    def forward(self, batch: Batch, whole: bool = False) -> Tensor:
        """Logits ``[B, C]``."""
        if isinstance(self.head, PrototypeHead):
            return self.head.logits(self.distances(batch, whole))
        result: Tensor = self.head(self.embed(batch))
        return result

    def distances(self, batch: Batch, whole: bool = False) -> Tensor:
        """Squared distance ``[B, K]`` of every prototype to what it is compared with."""
        assert isinstance(self.head, PrototypeHead)
        if self.sampler is None or whole:
            return self.head.distances(self.embed(batch))
        return self.evidence(batch).distance

    def evidence(self, batch: Batch) -> Evidence:
        """What every prototype is compared with."""
        assert isinstance(self.head, PrototypeHead)
        parts = self.propose(batch).parts
        h = self.embed_parts(parts.batch.to(batch.x.device))
        return nearest(squared_distances(h, self.head.vectors), parts)

    def propose(self, batch: Batch, exploration: Exploration | None = None) -> Proposals:
        """The parts that the sampler makes of the node embeddings in whole graphs; only the sampler has a gradient."""
        assert self.sampler is not None and isinstance(self.head, PrototypeHead)
        with torch.no_grad():
            z = self.encoder(batch).float()
        return propose(self.sampler, z, batch, self.head.vectors.detach(), self.sizes, exploration)
