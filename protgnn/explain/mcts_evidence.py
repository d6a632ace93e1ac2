"""Evidence by tree search: the part of a graph most like each prototype, where the model itself compares whole graphs.

This is the paper's ProtGNN+*. It is slow, and what it finds is not what the prediction was computed from.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from protgnn.data.network.instances import Instances
from protgnn.model.classifier import ProtGNN
from protgnn.search.projection import GRAPHS_AT_ONCE
from protgnn.search.tree import SearchSettings, UnitsOf, search

SEARCHED = (
    "the marked parts are those most like each prototype, found by search; the similarities are of the whole graph"
)


def mcts_evidence(
    model: ProtGNN,
    graphs: Instances,
    wanted: Tensor,
    settings: SearchSettings | None = None,
    units: UnitsOf | None = None,
) -> dict[tuple[int, int], tuple[int, ...]]:
    """The nodes of the most similar part for the pairs of a graph and a prototype in ``wanted [G, K]``; with ``units``
    a part is whole."""
    head = model.eval().head
    tuned = replace(settings or SearchSettings(), epsilon=head.epsilon)
    some = wanted.any(1).nonzero().squeeze(1)
    marked: dict[tuple[int, int], tuple[int, ...]] = {}
    vectors, embed = head.vectors.detach(), model.embed_parts
    for start in range(0, len(some), GRAPHS_AT_ONCE):
        chunk = some[start : start + GRAPHS_AT_ONCE]
        numbers, searched = chunk.tolist(), wanted[chunk]
        for found in search(graphs, numbers, vectors, embed, tuned, searched, tie_breaker=0, units=units):
            for prototype in torch.nonzero(wanted[found.graph]).squeeze(1).tolist():
                marked[found.graph, prototype] = tuple(found.nodes(prototype))
    return marked
