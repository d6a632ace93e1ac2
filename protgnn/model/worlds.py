"""Norms see two worlds: whole graphs, and small parts of graphs, whose activations have other statistics.

Every batch norm has one set of weights and two sets of running statistics. Prototypes and evidence, which are
compared, are both encoded in the world of parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


class PartStatistics(nn.Module):
    """Running statistics for parts of graphs, one set beside those of each batch norm inside an encoder."""

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
