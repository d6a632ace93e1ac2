"""Our own explanations as scores of edges and nodes.

==============  =====================================================================================================
``plus``        ProtGNN+ of the default recipe: each prototype's share of the logit goes to its evidence
``sampled``     ProtGNN+ with the paper's sampler: the share goes to the edges of the evidence as the sampler thinks
                them likely
``soft``        the same model's soft mask over all edges, which is not what is computed
``searched``    ProtGNN, which compares whole graphs, with the part most like each prototype found by tree search
==============  =====================================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from benchmarks.league.scoring import Explained, concatenate, from_edges
from protgnn.data.graph_set import GraphSet
from protgnn.explain.explanation import Reasoning, explain
from protgnn.explain.metrics.motif_auc import edge_share
from protgnn.explain.metrics.removal import deciding_rows
from protgnn.explain.node_scores import place_share
from protgnn.model.classifier import ProtGNN, ProtGNNPlus
from protgnn.model.mined import ProtGNNMined
from protgnn.training.evaluate import graphs_at_once


@torch.no_grad()
def evidence_scores(model: ProtGNN, graphs: GraphSet, shown: bool = True) -> Explained:
    """The scores of a ProtGNN+; without ``shown`` those of the sampler's soft mask."""
    found = []
    for batch in graphs.batches(graphs_at_once(model, graphs)):
        if isinstance(model, ProtGNNMined):
            node, edge, _ = place_share(model, batch)
            found.append(Explained(node, edge))
        else:
            assert isinstance(model, ProtGNNPlus)
            found.append(from_edges(edge_share(model, batch, model.evidence(batch), shown)[0], batch))
    return concatenate(found)


def searched_scores(model: ProtGNN, graphs: GraphSet) -> Explained:
    """What the prototypes of the predicted class add to its logit, for nodes and edges of the part found for each."""
    node, edge = torch.zeros(len(graphs.x)), torch.zeros(graphs.edge_index.shape[1])
    for number, why in enumerate(explain(model, graphs, evidence="search")):
        first, edges = int(graphs.node_ptr[number]), slice(*graphs.edge_ptr[number : number + 2].tolist())
        ends = graphs.edge_index[:, edges]
        for row in why.rows:
            gain = row.contribution(why.predicted)
            if row.label == why.predicted and gain > 0 and row.marked:
                inside = _members(row.marked, int(graphs.node_counts[number]))
                node[first : first + len(inside)] += gain * inside
                edge[edges] += gain * (inside[ends[0]] & inside[ends[1]])
    return Explained(node, edge)


def evidence_edges(graphs: GraphSet, reasonings: Iterable[Reasoning]) -> list[int]:
    """How many edges the evidence of the deciding rows has on each graph, in all its places; 0 where none decided. A
    lone node has the edges that it is on."""
    counts = []
    for number, why in enumerate(reasonings):
        ends = graphs.edge_index[:, slice(*graphs.edge_ptr[number : number + 2].tolist())]
        shown = torch.zeros(ends.shape[1], dtype=torch.bool)
        for row in deciding_rows(why):
            for place in row.places or (() if row.evidence is None else (row.evidence,)):
                inside = _members(place, int(graphs.node_counts[number]))
                shown |= inside[ends[0]] & inside[ends[1]] if len(place) > 1 else inside[ends].any(0)
        counts.append(int(shown.sum()) // 2)
    return counts


def _members(nodes: Iterable[int], count: int) -> Tensor:
    mask = torch.zeros(count, dtype=torch.bool)
    mask[list(nodes)] = True
    return mask
