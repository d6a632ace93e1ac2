"""The training subgraphs behind prototypes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from protgnn.errors import DataError
from protgnn.graphs.instances import Instances
from protgnn.graphs.packed import GraphSet
from protgnn.graphs.subgraphs import cut


def anchors_of(graphs: Instances, sources: list[dict[str, Any]]) -> GraphSet:
    """Cut the subgraph of each source (graph number and node numbers) out: K graphs in the order of the sources."""
    around = graphs[[source["graph"] for source in sources]].apart()
    counts = around.node_counts
    first = (counts.cumsum(0) - counts).tolist()
    mask = torch.zeros(int(counts.sum()), dtype=torch.bool)
    for start, source in zip(first, sources, strict=True):
        mask[start + torch.tensor(source["nodes"])] = True
    return cut(around, torch.arange(len(around)), mask)


def random_graphs(graphs: Instances, classes: Tensor, generator: torch.Generator) -> Tensor:
    """A random graph of each class in ``classes [K]``, as different ones as there are: ``[K]`` numbers."""
    assert graphs.y is not None
    chosen = torch.empty_like(classes)
    for label in sorted(set(classes.tolist())):
        members, places = (graphs.y == label).nonzero().squeeze(1), (classes == label).nonzero().squeeze(1)
        if not len(members):
            raise DataError(f"There is no training graph of class {graphs.schema.class_names[label]}: split otherwise")
        order = members[torch.randperm(len(members), generator=generator)]
        chosen[places] = order.repeat(-(-len(places) // len(order)))[: len(places)]
    return chosen
