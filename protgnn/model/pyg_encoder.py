"""Any PyG encoder as ours: a module called as ``module(x, edge_index[, edge_attr=, batch=])``."""

from __future__ import annotations

import inspect
from typing import Any

from torch import Tensor, nn

from protgnn.data.batch import Batch
from protgnn.errors import ProtGNNError
from protgnn.model.message_passing import SoftMask
from protgnn.model.norms import NormName


class PyGEncoder(nn.Module):
    """Adapts a PyG module to a batch.

    We cannot know what a module of PyG or of the user makes of edge weights (few drop an edge of weight zero from
    degrees or attention), so absent parts are cut out before it runs, never masked.
    """

    def __init__(self, module: nn.Module, width_out: int | None = None, edge_features: int = 0) -> None:
        super().__init__()
        width = width_out if width_out is not None else getattr(module, "out_channels", None)
        if not isinstance(width, int):
            raise ValueError(f"Expected {type(module).__name__} to have `out_channels`, its output width: set that")
        self.module, self.width_out = module, width
        accepted = inspect.signature(module.forward).parameters
        self.edge_features = edge_features if "edge_attr" in accepted and _takes_edge_attr(module) else 0
        self.wants_batch = "batch" in accepted  # norms over a graph must know where it ends

    def forward(self, batch: Batch, presence: SoftMask | None = None) -> Tensor:
        if presence is not None:
            raise ValueError(
                "Expected absent nodes and edges to be cut out for a foreign encoder (got presence weights)"
            )
        extra = {"edge_attr": batch.edge_attr} if self.edge_features else {}
        if self.wants_batch:
            extra["batch"] = batch.batch
        result: Tensor = self.module(batch.x, batch.edge_index, **extra)
        if result.shape != (len(batch.x), self.width_out):
            raise ProtGNNError(
                f"Expected {type(self.module).__name__} to give an embedding of width {self.width_out} for each of "
                f"{len(batch.x)} nodes (got shape {tuple(result.shape)}): leave pooling to the readout"
            )
        return result


def _takes_edge_attr(module: nn.Module) -> bool:
    """PyG's own models name ``edge_attr`` in any case: they take it where they were made with an ``edge_dim``."""
    if not hasattr(module, "supports_edge_attr"):
        return True
    made_for = any(getattr(part, "edge_dim", None) is not None for part in module.modules())
    return bool(module.supports_edge_attr) and made_for


PYG_NORMS: dict[NormName, dict[str, Any]] = {
    "batch": {"norm": "batch_norm", "norm_kwargs": {"allow_single_element": True}},  # a batch may be one node
    "layer": {"norm": "layer_norm", "norm_kwargs": {"mode": "node"}},
    "none": {},
}


def pyg_encoder(
    name: str, width_in: int, hidden: int, layers: int, norm: NormName, dropout: float, edge_features: int
) -> PyGEncoder:
    """A model of ``torch_geometric.nn.models`` by its class name, such as GraphSAGE."""
    from torch_geometric.nn import models
    from torch_geometric.nn.models.basic_gnn import BasicGNN

    known: dict[str, Any] = {
        key: value for key, value in vars(models).items() if inspect.isclass(value) and issubclass(value, BasicGNN)
    }
    if name not in known:
        raise ValueError(f"Expected a PyG model of {', '.join(sorted(known))} (got {name!r})")
    extra = {"edge_dim": edge_features} if edge_features and known[name].supports_edge_attr else {}
    module = known[name](width_in, hidden, layers, dropout=dropout, **PYG_NORMS[norm], **extra)
    return PyGEncoder(module, hidden, edge_features)
