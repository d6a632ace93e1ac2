"""The networks: encoders, readouts, the prototype layer, the objective, the sampler and the evidence of ProtGNN+.

``classifier.py`` composes them to ``PlainGNN``, ``ProtGNN`` and ``ProtGNNPlus``. All are plain ``nn.Module``s; nothing
here knows about recipes, files or training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.model.classifier import GraphClassifier, PlainGNN, ProtGNN, ProtGNNPlus
    from protgnn.model.encoders import Encoder
    from protgnn.model.evidence import Evidence, EvidenceOptions
    from protgnn.model.message_passing import SoftMask
    from protgnn.model.objective import Costs
    from protgnn.model.prototype_layer import PrototypeHead, similarity, squared_distances
    from protgnn.model.pyg_encoder import PyGEncoder
    from protgnn.model.sampler import Sampler

__all__ = [
    "Costs",
    "Encoder",
    "Evidence",
    "EvidenceOptions",
    "GraphClassifier",
    "PlainGNN",
    "ProtGNN",
    "ProtGNNPlus",
    "PrototypeHead",
    "PyGEncoder",
    "Sampler",
    "SoftMask",
    "similarity",
    "squared_distances",
]

_HOME = {
    "Costs": "objective",
    "Encoder": "encoders",
    "Evidence": "evidence",
    "EvidenceOptions": "evidence",
    "GraphClassifier": "classifier",
    "PlainGNN": "classifier",
    "ProtGNN": "classifier",
    "ProtGNNPlus": "classifier",
    "PrototypeHead": "prototype_layer",
    "PyGEncoder": "pyg_encoder",
    "Sampler": "sampler",
    "SoftMask": "message_passing",
    "similarity": "prototype_layer",
    "squared_distances": "prototype_layer",
}

__getattr__ = lazy_exports(__name__, _HOME)
