"""Masks over the nodes and edges of one graph, in the shapes of ``torch_geometric.explain.Explanation``.

A prototype of the class gives what it adds to the logit to every node of its places, and to every edge between these;
with mined prototypes, whole graphs are scored by :func:`~protgnn.explain.node_scores.place_share`. Sums are divided by
the highest. This is what :class:`~protgnn.explain.pyg_explainer.ProtGNNExplainer` computes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.errors import ProtGNNError
from protgnn.explain.explanation import Reasoning
from protgnn.explain.node_scores import place_share


def node_mask(why: Reasoning, label: int | None = None) -> Tensor:
    """How much each node speaks for a class (the predicted one if none), ``[N, 1]``."""
    graph, chosen = _asked(why, label)
    if why.scored_by is not None:
        return _to_one(place_share(why.scored_by, graph.batch(), torch.tensor([chosen]))[0])[:, None]
    member, gain = _spoken(why, graph, chosen)
    return _to_one((member * gain).sum(1, keepdim=True)) if len(gain) else torch.zeros(len(graph.x), 1)


def edge_mask(why: Reasoning, label: int | None = None) -> Tensor:
    """How much each edge speaks for a class (the predicted one if none), ``[E]``."""
    graph, chosen = _asked(why, label)
    if why.scored_by is not None:
        return _to_one(place_share(why.scored_by, graph.batch(), torch.tensor([chosen]))[1])
    member, gain = _spoken(why, graph, chosen)
    source, target = graph.edge_index
    return _to_one(((member[source] & member[target]) * gain).sum(1))


def _asked(why: Reasoning, label: int | None) -> tuple[GraphSet, int]:
    """The graph, and the class that is asked about."""
    graph, chosen = why.graph, why.predicted if label is None else label
    if graph is None:
        raise ProtGNNError("This reasoning does not know its graph: make it with explain, which keeps it")
    if not 0 <= chosen < len(why.class_names):
        raise ProtGNNError(f"Expected a class from 0 to {len(why.class_names) - 1} (got {chosen})")
    return graph, chosen


def _spoken(why: Reasoning, graph: GraphSet, label: int) -> tuple[Tensor, Tensor]:
    """Which nodes ``[N, R]`` the rows of a class compared, and what each row adds to it ``[R]``."""
    rows = [row for row in why.rows if row.label == label and row.contribution(label) > 0]
    member = torch.zeros(len(graph.x), len(rows), dtype=torch.bool)
    for column, row in enumerate(rows):
        member[slice(None) if row.marked is None else list(row.marked), column] = True
    return member, torch.tensor([row.contribution(label) for row in rows])


def _to_one(score: Tensor) -> Tensor:
    """Scores divided by the highest; zeros stay zeros."""
    highest = score.max() if score.numel() else score.new_zeros(())
    return score / torch.where(highest > 0, highest, 1.0)
