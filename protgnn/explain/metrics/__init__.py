"""Metrics of explanations: wholeness, resemblance, agreement with a true motif, fidelity.

======================  =========================================================================
``motif_auc``           ROC AUC of the edges' scores against the edges of the true motif
``looks``               the share of whole parts, and the resemblance of evidence and prototype
``prototypes_at_work``  how well each prototype separates its class, and idle prototypes
``removal``             fidelity: the change when evidence, or a unit of it, is removed
``summary``             all of them that apply to a model and graphs
======================  =========================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.explain.metrics.looks import look_figures
    from protgnn.explain.metrics.motif_auc import MotifAUC, edge_share
    from protgnn.explain.metrics.prototypes_at_work import prototype_figures
    from protgnn.explain.metrics.removal import removal_figures
    from protgnn.explain.metrics.summary import explanation_figures

__all__ = ["MotifAUC", "edge_share", "explanation_figures", "look_figures", "prototype_figures", "removal_figures"]

_HOME = {
    "MotifAUC": "motif_auc",
    "edge_share": "motif_auc",
    "explanation_figures": "summary",
    "look_figures": "looks",
    "prototype_figures": "prototypes_at_work",
    "removal_figures": "removal",
}

__getattr__ = lazy_exports(__name__, _HOME)
