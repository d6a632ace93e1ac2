"""Batch-norm statistics of subgraphs, beside those of whole graphs.

Activations in small subgraphs have other means and variances than in whole graphs, so every batch norm of a ProtGNN+
has one set of weights and two sets of running statistics. Prototypes and evidence are compared with each other: both
are encoded with the statistics of subgraphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


class SubgraphBatchNormStats(nn.Module):
    """A second set of running mean and variance for each batch norm inside an encoder, counted on subgraphs only."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self._norms = [norm for norm in encoder.modules() if isinstance(norm, _BatchNorm) and norm.track_running_stats]
        for number, norm in enumerate(self._norms):
            for name in STATISTICS:
                self.register_buffer(f"{number}_{name}", getattr(norm, name).clone())

    def begin(self) -> None:
        """Start from the statistics of whole graphs."""
        for number, norm in enumerate(self._norms):
            for name in STATISTICS:
                getattr(self, f"{number}_{name}").copy_(getattr(norm, name))

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Inside, the encoder's norms read and update these statistics instead of their own."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        for number, norm in enumerate(self._norms):
            for name in STATISTICS:
                mine = f"{number}_{name}"
                norm._buffers[name], self._buffers[mine] = self._buffers[mine], norm._buffers[name]
