"""Metrics of explanations: are they whole, do they look alike, are they where the truth is, do they matter?

======================  =========================================================================
``motif_auc``           ROC AUC of the edges' scores against the edges of the true motif
``looks``               whole parts, and how much evidence resembles its prototype
``prototypes_at_work``  whether every prototype tells its class apart, and none is idle
``removal``             what happens when evidence, or a unit of it, is removed
``figures``             all of them that apply to a model and graphs
======================  =========================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.explain.metrics.figures import explanation_figures
    from protgnn.explain.metrics.looks import look_figures
    from protgnn.explain.metrics.motif_auc import MotifAUC, edge_share
    from protgnn.explain.metrics.prototypes_at_work import prototype_figures
    from protgnn.explain.metrics.removal import removal_figures

__all__ = ["MotifAUC", "edge_share", "explanation_figures", "look_figures", "prototype_figures", "removal_figures"]

_HOME = {
    "MotifAUC": "motif_auc",
    "edge_share": "motif_auc",
    "explanation_figures": "figures",
    "look_figures": "looks",
    "prototype_figures": "prototypes_at_work",
    "removal_figures": "removal",
}

__getattr__ = lazy_exports(__name__, _HOME)
