"""Metrics of explanations: does evidence look like its prototype, and is it where the truth is?

==============  =============================================================================
``motif_auc``   ROC AUC of the edges' scores against the edges of the true motif
``looks``       whole parts, and how much evidence resembles its prototype
==============  =============================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.explain.metrics.looks import look_figures
    from protgnn.explain.metrics.motif_auc import MotifAUC, edge_share

__all__ = ["MotifAUC", "edge_share", "look_figures"]

_HOME = {"MotifAUC": "motif_auc", "edge_share": "motif_auc", "look_figures": "looks"}

__getattr__ = lazy_exports(__name__, _HOME)
