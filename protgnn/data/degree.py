"""The degree of a node as columns of its own.

A part that is cut out of a graph shows fewer neighbours than its nodes had. Where the degree is a feature, the part
still tells where it was cut, and a prototype that was a whole small molecule is not met by a piece of a large one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import DEGREES, MAX_DEGREE


def one_hot_degrees(edges: np.ndarray, num_nodes: int) -> Tensor:
    """How many neighbours each node has, ``[E, 2] → [N, 11]``; edges may be listed once or in both directions."""
    pairs = np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    degree = np.bincount(pairs[:, 0], minlength=num_nodes).clip(max=MAX_DEGREE)
    return torch.eye(len(DEGREES))[torch.from_numpy(degree)]


def with_degrees(graphs: GraphSet) -> GraphSet:
    """The same graphs with the degree of every node behind its other columns."""
    first = graphs.node_ptr[:-1].repeat_interleave(graphs.edge_counts)
    degrees = one_hot_degrees((graphs.edge_index + first).t().numpy(), len(graphs.x))
    names = (*graphs.schema.node_features, *DEGREES)
    return replace(graphs, x=torch.cat([graphs.x, degrees], 1), schema=replace(graphs.schema, node_features=names))
