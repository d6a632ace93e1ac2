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
from protgnn.data.units import members
from protgnn.errors import DataError, ProtGNNError
from protgnn.model.classifier import GraphClassifier, ProtGNNPlus
from protgnn.model.evidence import Evidence
from protgnn.model.mined import ProtGNNMined
from protgnn.model.prototype_layer import similarity
from protgnn.training.evaluate import graphs_at_once

OUTSIDE = 1e-3
"""How much the sampler's word counts outside of the evidence: only to order what is there."""

BORDER = 0.5
"""Share of an edge's score that is the mean of its ends, not the lower of them (docs/decisions/0061)."""


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


def place_share(model: ProtGNNMined, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """How much each node ``[N]`` and each edge ``[E]`` counts for the predicted class, and the predicted classes
    ``[B]``: mined evidence.

    A prototype's share of the logit goes to all its places, to each as much as it is similar, there to each unit alike,
    and to the nodes of the unit: of a hydroxyl on a ring the oxygen has half. A node also has what the composition
    would add less without it.
    """
    several, lone, predicted = _shares(model, batch)
    return several + lone, edges_of_parts(several, lone, batch.edge_index), predicted


def edges_of_parts(several: Tensor, lone: Tensor, edge_index: Tensor) -> Tensor:
    """Scores of edges ``[E]`` from those of nodes ``[N]`` in parts of ``several`` nodes and in parts of a ``lone`` one.

    An edge is in a part if both its ends are, so it has half of the lower of the two, and half of their mean: edges at
    the border of a part come before those further away. A lone node has no edge inside: its edges have the mean.
    """
    source, target = several[edge_index]
    inside = (1 - BORDER) * torch.minimum(source, target) + BORDER * (source + target) / 2
    score: Tensor = inside + lone[edge_index].mean(0)
    return score


def _shares(model: ProtGNNMined, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """What each node has as one of several in a place, and as the only one, ``[N]`` each; the predicted classes."""
    head, found = model.head, model.evidence(batch)
    predicted = (head.logits_of(found.value) + model.base(batch)).argmax(1)
    gain = (found.value * head.last.weight[predicted]).clamp(min=0)
    own = _composition_gain(model, batch, predicted)
    total = gain.sum(1).index_add(0, batch.batch, own).clamp(min=1e-12)
    share = gain / total[:, None]
    starts = (batch.node_counts.cumsum(0) - batch.node_counts).tolist()
    best = found.similar.gather(0, found.places.best).clamp(min=1e-12)
    several, lone = torch.zeros(len(batch.x)), own / total[batch.batch]
    places, units = found.places, [own.all_units() for own in model.rule.units(batch)]
    for graph, row, column in zip(places.graph.tolist(), places.row.tolist(), places.column.tolist(), strict=True):
        if share[graph, column] > 0:
            part = found.parts.masks[row]
            node = lone if part.bit_count() == 1 else several
            inside = [unit for unit in units[graph] if unit & part == unit]
            each = share[graph, column] * found.similar[row, column] / best[graph, column] / len(inside)
            for unit in inside:
                node[[starts[graph] + member for member in members(unit)]] += each / unit.bit_count()
    return several, lone, predicted


def _composition_gain(model: ProtGNNMined, batch: Batch, predicted: Tensor) -> Tensor:
    """By how much the composition favours the predicted class over the mean of the others more with each node than
    without it, ``[N]``; zero where it does not."""
    if model.composition is None or not model.composition.is_fitted:
        return torch.zeros(len(batch.x))
    added = (model.composition(batch)[batch.batch] - model.composition.without_each_node(batch)).cpu()
    own = added.gather(1, predicted[batch.batch, None]).squeeze(1)
    others = (added.sum(1) - own) / max(added.shape[1] - 1, 1)
    found: Tensor = (own - others).clamp(min=0)
    return found


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
