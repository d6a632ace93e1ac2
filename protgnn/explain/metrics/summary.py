"""All metrics of the explanations of labelled graphs."""

from __future__ import annotations

import statistics

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.explain.explanation import RunContext, explain
from protgnn.explain.metrics.looks import look_figures
from protgnn.explain.metrics.motif_auc import motif_auc
from protgnn.explain.metrics.prototypes_at_work import prototype_figures
from protgnn.explain.metrics.removal import removal_figures
from protgnn.model.classifier import ProtGNN


def explanation_figures(model: ProtGNN, graphs: Instances, context: RunContext) -> dict[str, float]:
    """Compute all metrics that apply to a model and graphs.

    ``removal`` applies to graphs of a ProtGNN+; ``motif_auc``, the mean over graphs, to those with a known true motif.
    """
    if context.prototypes is None:
        return {}
    reasonings = explain(model, graphs, context)
    figures = look_figures(reasonings, context) | prototype_figures(reasonings, context.prototypes)
    if isinstance(graphs, GraphSet) and graphs.targets is None:
        figures |= removal_figures(model, graphs, reasonings)
        if model.compares_evidence and graphs.node_mask is not None:
            aucs = motif_auc(model, graphs).every
            figures |= {"motif_auc": statistics.mean(aucs)} if aucs else {}
    return figures
