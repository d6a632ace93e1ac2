"""Where the true motif is known: how well the evidence ranks its edges above the others."""

from __future__ import annotations

import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor

from protgnn.errors import DataError
from protgnn.graphs.packed import Batch, GraphSet
from protgnn.model.classifier import GraphClassifier
from protgnn.model.evidence import Evidence
from protgnn.model.prototypes import PrototypeHead, similarity
from protgnn.training.evaluate import graphs_at_once

OUTSIDE = 1e-3
"""How much the sampler's word counts outside of the evidence: only to order what is there."""


@torch.no_grad()
def motif_auc(model: GraphClassifier, graphs: GraphSet, shown: bool = True) -> list[float]:
    """The ROC AUC of edge scores against the true motif's edges, for every graph of a motif class predicted as such.

    Scores are those of :func:`edge_share`, where ``shown`` says whether only what is shown as evidence counts. An edge
    is true if both its ends are. Graphs without a true edge, or with true edges only, have no AUC.
    """
    if graphs.node_truth is None or graphs.y is None:
        raise DataError("Expected labelled graphs whose true motif is known (got graphs without it)")
    model.eval()
    found: list[float] = []
    first = 0
    for batch in graphs.batches(graphs_at_once(model)):
        evidence = model.evidence(batch)
        score, predicted = edge_share(model, batch, evidence, shown)
        truth = graphs.node_truth[first : first + len(batch.x)]
        first += len(batch.x)
        source, target = batch.edge_index
        true, owner = truth[source] & truth[target], batch.node_graph[source]
        assert batch.y is not None
        for number in (predicted == batch.y).nonzero().squeeze(1).tolist():
            own = owner == number
            if bool(true[own].any()) and not bool(true[own].all()):
                found.append(float(roc_auc_score(true[own], score[own])))
    return found


def edge_share(model: GraphClassifier, batch: Batch, evidence: Evidence, shown: bool = True) -> tuple[Tensor, Tensor]:
    """How much each edge counts for the predicted class, ``[E]``, and the predicted classes ``[B]``.

    A prototype's share of the logit goes to the edges of its evidence, to each as much as the sampler thinks it likely,
    ``e_ij`` of Eq. 13. Evidence has as many edges as the budget allows, and those that only fill it are unlikely ones.
    Unless only what is ``shown`` counts, the share goes to all edges of the graph, as in the paper's soft masks.
    """
    head = model.head
    assert isinstance(head, PrototypeHead) and model.sampler is not None
    predicted = head.logits(evidence.distance).argmax(1)
    gain = (similarity(evidence.distance, head.epsilon) * head.last.weight[predicted]).clamp(min=0)
    gain = gain * (head.classes[None] == predicted[:, None])
    share = gain / gain.sum(1, keepdim=True).clamp(min=1e-12)  # [B, K]
    source, target = batch.edge_index
    member, owner = evidence.member(batch), batch.node_graph[source]
    inside = (member[source] & member[target]).to(share.dtype) + OUTSIDE if shown else 1.0
    likely = model.sampler(model.encoder(batch).float(), batch.edge_index, head.vectors).sigmoid()
    return (inside * likely * share[owner]).sum(1), predicted
