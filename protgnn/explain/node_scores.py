"""Scores of single nodes and edges in a ProtGNN+ with mined prototypes, where one number for each is asked for.

Rows of an explanation are about parts. For masks, for fidelity and where the true motif is known, the share that each
row has of the logit of a class is divided among its places and their nodes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.data.units import members
from protgnn.model.mined import ProtGNNMined

BORDER = 0.5
"""Share of an edge's score that is the mean of its ends, not the lower of them (docs/decisions/0061)."""


def place_share(model: ProtGNNMined, batch: Batch, labels: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """How much each node ``[N]`` and each edge ``[E]`` counts for a class; the classes ``[B]``, which are the predicted
    ones unless ``labels [B]`` are given.

    A prototype's share of the logit goes to all its places, to each as much as it is similar, there to each unit alike,
    and to the nodes of the unit: of a hydroxyl on a ring the oxygen has half. A node also has what the composition
    would add less without it.
    """
    several, lone, chosen = node_scores(model, batch, labels)
    return several + lone, edges_of_parts(several, lone, batch.edge_index), chosen


def edges_of_parts(several: Tensor, lone: Tensor, edge_index: Tensor) -> Tensor:
    """Scores of edges ``[E]`` from those of nodes ``[N]`` in parts of ``several`` nodes and in parts of a ``lone`` one.

    An edge is in a part if both its ends are, so it has half of the lower of the two, and half of their mean: edges at
    the border of a part come before those further away. A lone node has no edge inside: its edges have the mean.
    """
    source, target = several[edge_index]
    inside = (1 - BORDER) * torch.minimum(source, target) + BORDER * (source + target) / 2
    score: Tensor = inside + lone[edge_index].mean(0)
    return score


@torch.no_grad()
def node_scores(model: ProtGNNMined, batch: Batch, labels: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """How much each node counts for a class as one of several in a place, and by itself, ``[N]`` each; the classes
    ``[B]``, which are the predicted ones unless ``labels [B]`` are given."""
    head, found = model.eval().head, model.evidence(batch)
    chosen = (head.logits_of(found.value) + model.base(batch)).argmax(1) if labels is None else labels
    gain = (found.value * head.last.weight[chosen]).clamp(min=0)
    own = _composition_gain(model, batch, chosen)
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
    return several, lone, chosen


def _composition_gain(model: ProtGNNMined, batch: Batch, labels: Tensor) -> Tensor:
    """By how much the composition favours the class of ``labels [B]`` over the mean of the others more with each node
    than without it, ``[N]``; zero where it does not."""
    if model.composition is None or not model.composition.is_fitted:
        return torch.zeros(len(batch.x))
    added = (model.composition(batch)[batch.batch] - model.composition.without_each_node(batch)).cpu()
    own = added.gather(1, labels[batch.batch, None]).squeeze(1)
    others = (added.sum(1) - own) / max(added.shape[1] - 1, 1)
    found: Tensor = (own - others).clamp(min=0)
    return found
