"""Candidate parts: connected, whole, of every size up to a budget of edges; each different part is stored once.

Graphs with units (molecules) have few whole parts, and all of them are candidates, the smallest first. Other graphs
have too many; theirs are grown from every node in the order of a score. Around a target node every part holds the
target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from protgnn.data.batch import Batch, offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.looks import Cut, EdgesBySource, LookCounts, mixed, part_keys, row_hashes, wl_labels
from protgnn.data.units import Units, cuts_none, members

CLOSING = 1.0
"""What a node gains in growing for every further edge to the part: half a cycle is no part that anybody would name."""


@dataclass(frozen=True, eq=False)
class NodeKinds:
    """Hashes of what a person sees of each node and edge of a batch, ``[N]`` and ``[E]``."""

    node: np.ndarray
    edge: np.ndarray


@dataclass(frozen=True, eq=False)
class PartSet:
    """The P candidate parts of B graphs, D of them different.

    Attributes:
        masks: The nodes of each part within its graph, as bit masks.
        graph: The graph of each part, ``[P]``, ascending.
        ptr: The parts ``ptr[b] : ptr[b + 1]`` are those of graph b, ``[B + 1]``.
        nodes: How many nodes each part has, ``[P]``.
        edges: How many edges each part has, ``[P]``.
        distinct: Which of the different parts each is, ``[P]``.
        first: A part for each different one, ``[D]``.
        graphs: The different parts as graphs of their own.
        looks: How they look.
        look_key: A number for each look, ``[D]``.
    """

    masks: list[int]
    graph: np.ndarray
    ptr: np.ndarray
    nodes: np.ndarray
    edges: np.ndarray
    distinct: np.ndarray
    first: np.ndarray
    graphs: GraphSet
    looks: LookCounts
    look_key: np.ndarray

    def __len__(self) -> int:
        return len(self.masks)

    @property
    def num_graphs(self) -> int:
        """B."""
        return len(self.ptr) - 1


def all_parts(units: Units, budget: int, most: int) -> list[int]:
    """Connected whole unions of units of at most ``budget`` edges, fewest units first, at most ``most``.

    A single node that belongs to no group is no part, unless there is no other: of a carbon atom by itself there is
    nothing to be said but how many there are.
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
    """Nested parts of all sizes, grown by node scores ``[n]`` from the nodes ``seeds``, or from every node, the best
    first, about ``most``."""
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
    """The parts of the graphs of a batch, numbered, and those that an encoder of so many layers cannot tell apart
    stored once.

    Args:
        batch: The graphs.
        masks: The parts of each graph.
        kinds: What a person sees of nodes and edges.
        rounds: Labels of all features after so many rounds tell parts apart.
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
    looks = LookCounts.of(small, labels)
    return PartSet(flat, graph, ptr, nodes, edges, distinct, first, _as_graphs(batch, small), looks, look_key)


def _marked(node: np.ndarray, batch: Batch) -> np.ndarray:
    """Hashes of nodes ``[N]``, in which the target of a graph is a kind of its own."""
    if batch.targets is None:
        return node
    found = node.copy()
    targets = batch.targets.reshape(-1).numpy()
    found[targets] = mixed(found[targets])
    return found


def _as_graphs(batch: Batch, cut: Cut) -> GraphSet:
    """Parts that were cut out as graphs of their own, edges sorted by (target, source)."""
    sizes = np.bincount(cut.owner, minlength=cut.parts)
    start = np.cumsum(sizes) - sizes
    order = np.lexsort((cut.source, cut.target))
    owner = cut.owner[cut.target[order]]
    ends = np.stack([cut.source[order], cut.target[order]]) - start[owner]
    edge = torch.from_numpy(cut.edge[order])
    targets = None
    if batch.targets is not None:  # every part holds the target of its graph
        place = np.flatnonzero(np.isin(cut.node, batch.targets.reshape(-1).numpy()))
        targets = torch.from_numpy(place - start[cut.owner[place]])[:, None]
    return GraphSet(
        x=batch.x[torch.from_numpy(cut.node)],
        edge_index=torch.from_numpy(ends),
        node_ptr=offsets(torch.from_numpy(sizes)),
        edge_ptr=offsets(torch.from_numpy(np.bincount(owner, minlength=cut.parts))),
        edge_attr=None if batch.edge_attr is None else batch.edge_attr[edge],
        targets=targets,
    )
