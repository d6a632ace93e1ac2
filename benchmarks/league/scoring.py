"""How good scores of edges and nodes are where the true motif is known.

==================  =================================================================================================
``motif_auc``       ROC AUC of edge scores against the true edges, those between two true nodes
``precision``       share of true edges among as many of the highest edges as there are true ones
``node_auc``        ROC AUC of node scores against the true nodes
``gea``             GraphXAI's graph explanation accuracy: the Jaccard index of the true nodes and those that score more
                    than half of the highest
==================  =================================================================================================

Each is the mean over the graphs of a motif class that the method's own model predicts to be of it. Graphs in which
every edge is true, or none, have no AUC and are left out. Equal scores count as an order drawn at random would in the
mean.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet

HALF = 0.5
"""Share of the highest score from which on GraphXAI counts a node to the explanation."""


@dataclass(frozen=True, eq=False)
class Explained:
    """Scores of all nodes ``[N]`` and directed edges ``[E]`` of a set of graphs, the more the higher; an edge has the
    same score in both directions."""

    node: Tensor
    edge: Tensor


def from_nodes(node: Tensor, batch: Batch) -> Explained:
    """Scores of nodes ``[N]``; an edge has the mean of its ends."""
    source, target = batch.edge_index
    return Explained(node, (node[source] + node[target]) / 2)


def from_edges(edge: Tensor, batch: Batch) -> Explained:
    """Scores of directed edges ``[E]``, made alike in both directions; a node has the mean of its edges, 0 for none."""
    edge = (edge + edge[batch.reverse]) / 2
    target = batch.edge_index[1]
    total = edge.new_zeros(len(batch.x)).index_add(0, target, edge)
    count = torch.bincount(target, minlength=len(batch.x)).clamp(min=1)
    return Explained(total / count, edge)


def concatenate(found: list[Explained]) -> Explained:
    """The scores of several batches as those of all."""
    return Explained(torch.cat([one.node for one in found]), torch.cat([one.edge for one in found]))


def truth_figures(graphs: GraphSet, explained: Explained, predicted: Tensor) -> dict[str, float]:
    """The figures of labelled graphs; nothing where the motif is not known or no graph can be scored."""
    if graphs.node_mask is None or graphs.y is None:
        return {}
    found: dict[str, list[float]] = {name: [] for name in ("motif_auc", "precision", "node_auc", "gea")}
    for number in (predicted == graphs.y).nonzero().squeeze(1).tolist():
        nodes = slice(int(graphs.node_ptr[number]), int(graphs.node_ptr[number + 1]))
        edges = slice(int(graphs.edge_ptr[number]), int(graphs.edge_ptr[number + 1]))
        true_node = graphs.node_mask[nodes].numpy()
        source, target = graphs.edge_index[:, edges].numpy()
        once = source < target
        true = (true_node[source] & true_node[target])[once]
        if not true.any() or true.all():
            continue
        edge, node = explained.edge[edges].detach().numpy()[once], explained.node[nodes].detach().numpy()
        found["motif_auc"].append(float(roc_auc_score(true, edge)))
        found["precision"].append(precision_at_size(true, edge))
        found["gea"].append(graph_explanation_accuracy(true_node, node))
        if not true_node.all():
            found["node_auc"].append(float(roc_auc_score(true_node, node)))
    figures = {name: statistics.mean(values) for name, values in found.items() if values}
    return figures | ({"explained": len(found["motif_auc"])} if figures else {})


def precision_at_size(true: np.ndarray, score: np.ndarray) -> float:
    """The share of ``true [E]`` among as many of the highest scores ``[E]`` as there are true ones, with those that are
    level at the border in proportion."""
    size = int(true.sum())
    border = np.sort(score)[::-1][size - 1]
    above, level = score > border, score == border
    share = (size - above.sum()) / level.sum()
    return float((true[above].sum() + share * true[level].sum()) / size)


def graph_explanation_accuracy(true: np.ndarray, score: np.ndarray) -> float:
    """Jaccard index of ``true [N]`` and nodes that score more than half of the highest; 0 where none is positive."""
    highest = score.max()
    if highest <= 0:
        return 0.0
    shown = score > HALF * highest
    return float((shown & true).sum() / (shown | true).sum())
