"""Candidate parts for mined prototypes: connected, whole subgraphs of every size up to a budget of edges.

A graph with units (a molecule) has few whole parts, so all of them are candidates, smallest first. Other graphs have
too many; their candidates are grown from every node in the order of a score. In a graph with a target node every
candidate contains the target. Equal parts are stored once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from protgnn.data.batch import Batch, offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.units import CLOSING, Units, cuts_none, members
from protgnn.data.wl_hashes import CutParts, EdgesBySource, LabelCounts, mixed, part_keys, row_hashes, wl_labels


@dataclass(frozen=True, eq=False)
class NodeKinds:
    """Hashes of the visible features of the nodes ``[N]`` and edges ``[E]`` of a batch."""

    node: np.ndarray
    edge: np.ndarray


@dataclass(frozen=True, eq=False)
class PartSet:
    """The P candidate parts of B graphs. An encoder can distinguish D of them, the *distinct* parts.

    Attributes:
        masks: The nodes of each part within its graph, as P bit masks.
        graph: The graph of each part, ``[P]``, ascending.
        ptr: Graph b has the parts ``ptr[b] : ptr[b + 1]``, ``[B + 1]``.
        nodes: The number of nodes of each part, ``[P]``.
        edges: The number of edges of each part, ``[P]``.
        distinct: The distinct part that each part equals, ``[P]`` (the inverse of ``numpy.unique``).
        first: The first part that equals each distinct part, ``[D]`` (the index of ``numpy.unique``).
        graphs: The D distinct parts as graphs of their own.
        looks: The counted labels of the distinct parts (:mod:`protgnn.data.resemblance`).
        look_key: A hash of the look of each distinct part, ``[D]``.
    """

    masks: list[int]
    graph: np.ndarray
    ptr: np.ndarray
    nodes: np.ndarray
    edges: np.ndarray
    distinct: np.ndarray
    first: np.ndarray
    graphs: GraphSet
    looks: LabelCounts
    look_key: np.ndarray

    def __len__(self) -> int:
        return len(self.masks)

    @property
    def num_graphs(self) -> int:
        """The number of graphs, B."""
        return len(self.ptr) - 1


def all_parts(units: Units, budget: int, most: int) -> list[int]:
    """Up to ``most`` connected, whole unions of units with at most ``budget`` edges, fewest units first.

    A single node without a group is left out if there are other parts: a carbon atom alone explains nothing.
    """
    found, named = _unions(units, budget, most), 0
    for group in units.groups:
        named |= group
    return [part for part in found if part.bit_count() > 1 or part & named] or found


def _unions(units: Units, budget: int, most: int) -> list[int]:
    own = units.all_units()
    reach = [(unit, units.around(unit) | unit) for unit in own]
    fragile = units.fragile(own)
    edges = {unit: units.edge_count(unit) for unit in own}
    level = [unit for unit in own if edges[unit] <= budget] or [min(own, key=int.bit_count)]
    seen = {unit: edges[unit] for unit in level}  # each part and its edges
    while level:
        following = []
        for part in level:
            for unit, near in reach:
                union = part | unit
                if not near & part or union == part or union in seen:
                    continue
                count = seen[part] + units.edges_between(union & ~part, part)
                if count > budget or not cuts_none(union, fragile):
                    continue
                seen[union] = count
                following.append(union)
                if len(seen) >= most:
                    return list(seen)
        level = following
    return list(seen)


def grown_parts(
    units: Units, score: np.ndarray, budget: int, most: int, seeds: Sequence[int] | None = None
) -> list[int]:
    """About ``most`` parts, grown node by node from each of the ``seeds``, or from every node, best score first.

    Growth adds the neighbour with the best score ``[n]`` while the part has at most ``budget`` edges; every
    intermediate part is returned as well.
    """
    standard = (score - score.mean()) / (score.std() + 1e-9)
    seen: dict[int, None] = {}
    for seed in np.argsort(-standard, kind="stable") if seeds is None else seeds:
        part = units.closure(1 << int(seed))
        while units.edge_count(part) <= budget:
            seen[part] = None
            around = list(members(units.around(part)))
            if not around:
                break
            worth = [standard[node] + CLOSING * ((units.neighbours[node] & part).bit_count() - 1) for node in around]
            part = units.closure(part | 1 << around[int(np.argmax(worth))])
        if len(seen) >= most:
            break
    return list(seen) or [units.closure(1)]


def part_set(batch: Batch, masks: list[list[int]], kinds: NodeKinds, rounds: int) -> PartSet:
    """Build the part set of a batch; parts that an encoder of ``rounds`` layers cannot distinguish are stored once.

    Args:
        batch: The graphs.
        masks: The parts of each graph, as bit masks.
        kinds: Hashes of the visible features of nodes and edges.
        rounds: Rounds of Weisfeiler–Lehman refinement, one for each layer of the encoder.
    """
    counts = np.array([len(own) for own in masks])
    graph, flat = np.repeat(np.arange(len(masks)), counts), [mask for own in masks for mask in own]
    lists = [list(members(mask)) for mask in flat]
    nodes = np.array([len(own) for own in lists])
    starts = (batch.node_counts.cumsum(0) - batch.node_counts).numpy()
    owner = np.repeat(np.arange(len(flat)), nodes)
    node = np.fromiter((number for own in lists for number in own), np.int64, int(nodes.sum())) + starts[graph[owner]]
    by_source = EdgesBySource.of(batch.edge_index.numpy(), len(batch.x))
    cut = by_source.cut(len(flat), owner, node)
    x, attr = batch.x.numpy(), None if batch.edge_attr is None else batch.edge_attr.numpy()
    features = row_hashes(x), np.zeros(batch.edge_index.shape[1], np.uint64) if attr is None else row_hashes(attr)
    keys = part_keys(cut, wl_labels(cut, _marked(features[0], batch), features[1], rounds)[-1])
    _, first, distinct = np.unique(keys, return_index=True, return_inverse=True)
    edges = np.bincount(cut.owner[cut.source], minlength=len(flat)) // 2
    chosen = np.isin(owner, first)
    number = np.full(len(flat), -1)
    number[first] = np.arange(len(first))
    order = np.argsort(number[owner[chosen]], kind="stable")
    small = by_source.cut(len(first), number[owner[chosen]][order], node[chosen][order])
    seen = _marked(kinds.node, batch)
    labels = wl_labels(small, seen, kinds.edge)
    look_key = part_keys(small, wl_labels(small, seen, kinds.edge, rounds)[-1])
    ptr = np.concatenate([[0], np.cumsum(counts)])
    looks = LabelCounts.of(small, labels)
    return PartSet(flat, graph, ptr, nodes, edges, distinct, first, _as_graphs(batch, small), looks, look_key)


def _marked(node: np.ndarray, batch: Batch) -> np.ndarray:
    """Hashes of nodes ``[N]``, in which a target differs from every other node."""
    if batch.targets is None:
        return node
    found = node.copy()
    targets = batch.targets.reshape(-1).numpy()
    found[targets] = mixed(found[targets])
    return found


def _as_graphs(batch: Batch, cut: CutParts) -> GraphSet:
    """The parts as graphs of their own, with edges sorted by (target, source)."""
    sizes = np.bincount(cut.owner, minlength=cut.num_parts)
    start = np.cumsum(sizes) - sizes
    order = np.lexsort((cut.source, cut.target))
    owner = cut.owner[cut.target[order]]
    ends = np.stack([cut.source[order], cut.target[order]]) - start[owner]
    edge = torch.from_numpy(cut.edge[order])
    targets = None
    if batch.targets is not None:  # every part contains the target of its graph
        place = np.flatnonzero(np.isin(cut.node, batch.targets.reshape(-1).numpy()))
        targets = torch.from_numpy(place - start[cut.owner[place]])[:, None]
    return GraphSet(
        x=batch.x[torch.from_numpy(cut.node)],
        edge_index=torch.from_numpy(ends),
        node_ptr=offsets(torch.from_numpy(sizes)),
        edge_ptr=offsets(torch.from_numpy(np.bincount(owner, minlength=cut.num_parts))),
        edge_attr=None if batch.edge_attr is None else batch.edge_attr[edge],
        targets=targets,
    )
