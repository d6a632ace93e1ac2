"""Where the true motif is known: how well the evidence ranks its edges above the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import roc_auc_score
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet
from protgnn.errors import DataError, ProtGNNError
from protgnn.explain.node_scores import place_share
from protgnn.model.classifier import GraphClassifier, ProtGNNPlus
from protgnn.model.evidence import Evidence
from protgnn.model.mined import ProtGNNMined
from protgnn.model.prototype_layer import similarity
from protgnn.training.evaluate import graphs_at_once

OUTSIDE = 1e-3
"""How much the sampler's word counts outside of the evidence: only to order what is there."""


@dataclass(frozen=True)
class MotifAUC:
    """ROC AUC of edge scores against true edges, one for every graph that has one.

    ``every`` asks for all true edges, ``one`` for those of one motif: evidence is connected, and in a graph that holds
    the motif in several places it shows one of them. The place that is found best counts, the others neither way.
    ``soft`` asks for all true edges of the paper's soft mask, which has no budget and need not be connected.
    """

    every: list[float]
    one: list[float]
    soft: list[float]


@torch.no_grad()
def motif_auc(model: GraphClassifier, graphs: GraphSet) -> MotifAUC:
    """How well the motif is found in the graphs of a motif class that are predicted as such.

    Scores are those of :func:`edge_share`. An edge is true if both its ends are. Graphs without a true edge, or with
    true edges only, have no AUC.
    """
    if graphs.node_mask is None or graphs.y is None:
        raise DataError("Expected labelled graphs whose true motif is known (got graphs without it)")
    model.eval()
    found = MotifAUC([], [], [])
    first = 0
    for batch in graphs.batches(graphs_at_once(model, graphs)):
        if isinstance(model, ProtGNNMined):
            _, score, predicted = place_share(model, batch)
            soft = score
        elif isinstance(model, ProtGNNPlus):
            evidence = model.evidence(batch)
            score, predicted = edge_share(model, batch, evidence)
            soft, _ = edge_share(model, batch, evidence, shown=False)
        else:
            raise ProtGNNError("Only ProtGNN+ has evidence to compare with a motif: train with --plus")
        truth = graphs.node_mask[first : first + len(batch.x)]
        first += len(batch.x)
        place, owner = _places(batch.edge_index, truth), batch.batch[batch.edge_index[0]]
        assert batch.y is not None
        for number in (predicted == batch.y).nonzero().squeeze(1).tolist():
            own = owner == number
            places = place[own]
            if bool((places >= 0).any()) and bool((places < 0).any()):
                found.every.append(_auc(places >= 0, score[own]))
                found.one.append(_best_place(places, score[own]))
                found.soft.append(_auc(places >= 0, soft[own]))
    return found


def _places(edge_index: Tensor, truth: Tensor) -> Tensor:
    """The motif that each edge is in, ``[2, E], [N] → [E]``: joined true edges are one motif; -1 for other edges."""
    source, target = edge_index
    true = truth[source] & truth[target]
    ends = edge_index[:, true].cpu().numpy()
    _, component = connected_components(coo_matrix((np.ones(ends.shape[1]), ends), shape=(len(truth), len(truth))))
    return torch.where(true, torch.from_numpy(component).long().to(source.device)[source], -1)


def _best_place(places: Tensor, score: Tensor) -> float:
    """The highest AUC of the edges of one motif against the edges of none."""
    outside = places < 0
    aucs = []
    for number in sorted(set(places[~outside].tolist())):
        counted = outside | (places == number)
        aucs.append(_auc(~outside[counted], score[counted]))
    return max(aucs)


def _auc(true: Tensor, score: Tensor) -> float:
    return float(roc_auc_score(true.cpu(), score.cpu()))


def edge_share(model: ProtGNNPlus, batch: Batch, evidence: Evidence, shown: bool = True) -> tuple[Tensor, Tensor]:
    """How much each edge counts for the predicted class, ``[E]``, and the predicted classes ``[B]``.

    A prototype's share of the logit goes to the edges of its evidence, to each as much as the sampler thinks it likely,
    ``e_ij`` of Eq. 13. Evidence has as many edges as the budget allows, and those that only fill it are unlikely ones.
    Unless only what is ``shown`` counts, the share goes to all edges of the graph, as in the paper's soft masks.
    """
    head = model.head
    predicted = head.logits(evidence.distance).argmax(1)
    gain = (similarity(evidence.distance, head.epsilon) * head.last.weight[predicted]).clamp(min=0)
    gain = gain * (head.classes[None] == predicted[:, None])
    share = gain / gain.sum(1, keepdim=True).clamp(min=1e-12)  # [B, K]
    source, target = batch.edge_index
    member, owner = evidence.member(batch), batch.batch[source]
    inside = (member[source] & member[target]).to(share.dtype) + OUTSIDE if shown else 1.0
    likely = model.sampler(model.encoder(batch).float(), batch.edge_index, head.vectors).sigmoid()
    return (inside * likely * share[owner]).sum(1), predicted
