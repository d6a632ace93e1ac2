"""The composed model: ``head(readout(encoder(G)))``."""

from __future__ import annotations

from torch import Tensor, nn

from protgnn.graphs.packed import Batch
from protgnn.model.encoders import Encoder
from protgnn.model.foreign import ForeignEncoder
from protgnn.model.neighbours import Presence
from protgnn.model.prototypes import PrototypeHead
from protgnn.model.readout import ReadoutName, readout


class GraphClassifier(nn.Module):
    """A graph classifier; the head is linear for the plain GNN and made of prototypes for ProtGNN."""

    def __init__(
        self, encoder: Encoder | ForeignEncoder, readout: ReadoutName, head: nn.Linear | PrototypeHead
    ) -> None:
        super().__init__()
        self.encoder, self.readout, self.head = encoder, readout, head

    def embed(self, batch: Batch, presence: Presence | None = None) -> Tensor:
        """One embedding per graph, ``[B, H]``."""
        return readout(self.readout, self.encoder(batch, presence), batch, presence)

    def forward(self, batch: Batch) -> Tensor:
        """Logits ``[B, C]``."""
        result: Tensor = self.head(self.embed(batch))
        return result
