"""The surroundings of targets: what to search when a computation graph is most of a network.

Three hops from any node of a network with hubs is nearly everywhere, while what explains a node is close to it.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet


def near_targets(graphs: GraphSet, most: int) -> Tensor:
    """A mask ``[N]`` over the nodes of all graphs: the ``most`` nodes of each that are nearest to its targets.

    Of nodes equally far, those with more links to nearer ones come first, then those of lower degree, since hubs are
    near everything, then in order. Direction plays no part, and every chosen node is joined to a target by chosen
    ones. Nodes that no target can reach are never chosen.

    The search has its own walk over bitsets (``search.bitsets``): it starts at many sets of one small graph, this one
    at the targets of many large graphs at once.
    """
    if graphs.targets is None:
        raise ValueError("Expected graphs with targets (got none)")
    first = graphs.node_ptr[:-1]
    source, target = (graphs.edge_index + first.repeat_interleave(graphs.edge_counts)).numpy()
    far = len(graphs.x)
    distance = np.full(far, far)
    distance[(graphs.targets + first[:, None]).reshape(-1).numpy()] = 0
    for hop in range(far):
        forth, back = distance[source] == hop, distance[target] == hop
        new = np.concatenate([target[forth], source[back]])
        new = new[distance[new] == far]
        if not len(new):
            break
        distance[new] = hop + 1

    links = np.bincount(target[distance[source] < distance[target]], minlength=far)
    links += np.bincount(source[distance[target] < distance[source]], minlength=far)
    degree = np.bincount(target, minlength=far)
    if graphs.missing_degree is not None:
        degree = degree + graphs.missing_degree.numpy()
    owner = np.repeat(np.arange(len(graphs)), graphs.node_counts.numpy())
    order = np.lexsort((degree, -links, distance, owner))  # the last is the first to sort by; ties stay in order
    rank = np.empty(far, dtype=np.int64)
    rank[order] = np.arange(far) - graphs.node_ptr.numpy()[owner]
    return torch.from_numpy((rank < most) & (distance < far))
