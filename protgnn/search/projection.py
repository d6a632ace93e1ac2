"""Prototype projection: every prototype moves onto the nearest subgraph of a training graph of its class.

``p_j ← argmin ‖h̃ - p_j‖`` over the embeddings h̃ of subgraphs of the graphs of class k (section Prototype
Projection). The subgraphs are those that the tree search explores in the graphs nearest to the prototypes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from protgnn.data.network.instances import Instances
from protgnn.errors import DataError
from protgnn.model.prototype_layer import squared_distances
from protgnn.search.bitsets import to_nodes
from protgnn.search.pool import Cutter, Encode
from protgnn.search.tree import Explored, SearchSettings, search

Progress = Callable[[int, int], None]

GRAPHS_AT_ONCE = 128
"""Graphs searched in lockstep: enough to fill encoder calls, few enough to bound memory."""

SAME = 1e-5
"""Embeddings closer than this (relative to their size) are of subgraphs that look the same."""


@dataclass(frozen=True)
class PrototypeSource:
    """The training subgraph that a prototype came from; ``distance`` is ‖h̃ - p‖² before the prototype moved."""

    graph: int
    nodes: tuple[int, ...]
    label: int
    distance: float


@dataclass(frozen=True, eq=False)
class Projection:
    """New prototype vectors ``[K, H]`` and the subgraph behind each."""

    vectors: Tensor
    sources: tuple[PrototypeSource, ...]


@dataclass(frozen=True, eq=False)
class _Shortlist:
    """Some subgraphs and how far ``[S, m]`` each is from the m prototypes of a class."""

    found: list[tuple[int, int]]  # graph, node set
    embeddings: Tensor
    distance: Tensor

    def __add__(self, other: _Shortlist) -> _Shortlist:
        return _Shortlist(
            self.found + other.found,
            torch.cat([self.embeddings, other.embeddings]),
            torch.cat([self.distance, other.distance]),
        )

    def take(self, rows: list[int]) -> _Shortlist:
        return _Shortlist([self.found[row] for row in rows], self.embeddings[rows], self.distance[rows])


@torch.no_grad()
def project(
    graphs: Instances,
    prototypes: Tensor,
    prototype_class: Tensor,
    encode: Encode,
    settings: SearchSettings | None = None,
    *,
    candidates: int | None = None,
    progress: Progress | None = None,
) -> Projection:
    """Project prototypes ``[K, H]`` of classes ``[K]`` onto subgraphs of ``graphs``, which carry labels.

    Searched are the ``candidates`` graphs nearest to each prototype of a class (all graphs of the class if it is
    ``None``), each for the prototypes that it is near to; what is explored is scored against all prototypes of the
    class.
    Two prototypes of a class land on different subgraphs as long as there are enough of them. ``progress`` is told
    how many graphs are searched, of how many.
    """
    settings = settings or SearchSettings()
    to_search = _graphs_to_search(graphs, prototypes, prototype_class, encode, candidates)
    total, done = sum(len(numbers) for numbers, _ in to_search.values()), 0
    chosen: dict[int, tuple[int, int]] = {}
    for label, (numbers, wanted) in to_search.items():
        own = (prototype_class == label).nonzero().squeeze(1)
        shortlist = None
        for start in range(0, len(numbers), GRAPHS_AT_ONCE):
            chunk, near = numbers[start : start + GRAPHS_AT_ONCE], wanted[start : start + GRAPHS_AT_ONCE]
            explored = search(graphs, chunk, prototypes[own], encode, settings, near)
            found = _shorten(_gather(explored, prototypes[own]))
            shortlist = found if shortlist is None else _shorten(shortlist + found)
            done += len(chunk)
            if progress is not None:
                progress(done, total)
        assert shortlist is not None  # a class without graphs was refused
        for prototype, row in zip(own.tolist(), _assign(shortlist.distance), strict=True):
            chosen[prototype] = shortlist.found[row]
    return _moved(graphs, prototypes, prototype_class, encode, [chosen[number] for number in range(len(prototypes))])


def _moved(
    graphs: Instances, prototypes: Tensor, prototype_class: Tensor, encode: Encode, chosen: list[tuple[int, int]]
) -> Projection:
    """The prototypes on their (graph, node set): encoded once more, so that nothing of the search is left in them."""
    owners = graphs[[graph for graph, _ in chosen]].ego_graphs()
    batches = Cutter(owners).batches(range(len(chosen)), [nodes for _, nodes in chosen])
    vectors = torch.cat([encode(batch) for batch in batches])
    rows = zip(chosen, prototype_class.tolist(), (vectors - prototypes).square().sum(1).tolist(), strict=True)
    return Projection(
        vectors,
        tuple(PrototypeSource(graph, tuple(to_nodes(nodes)), label, moved) for (graph, nodes), label, moved in rows),
    )


def embed_all(graphs: Instances, encode: Encode, at_once: int = 256) -> Tensor:
    """Embeddings of whole graphs, ``[G, H]``."""
    return torch.cat([encode(batch) for batch in graphs.batches(at_once)])


def _graphs_to_search(
    graphs: Instances,
    prototypes: Tensor,
    prototype_class: Tensor,
    encode: Encode,
    candidates: int | None,
) -> dict[int, tuple[list[int], Tensor]]:
    """For each class that has prototypes, the graphs to search ``[G']`` and for which of them ``[G', m]``."""
    if graphs.y is None:
        raise DataError("Expected training graphs with labels to project on (got graphs without any)")
    members: dict[int, Tensor] = {}
    for label in sorted(set(prototype_class.tolist())):
        members[label] = (graphs.y == label).nonzero().squeeze(1)
        if not len(members[label]):
            names = graphs.schema.class_names
            name = f" ({names[label]})" if label < len(names) else ""
            raise DataError(f"Expected training graphs of class {label}{name} to project its prototypes on (got none)")
    if candidates is None:
        sizes = {label: int((prototype_class == label).sum()) for label in members}
        return {
            label: (own.tolist(), torch.ones(len(own), sizes[label], dtype=torch.bool))
            for label, own in members.items()
        }
    if candidates < 1:
        raise ValueError(f"Expected at least 1 candidate graph per prototype (got {candidates})")
    whole = embed_all(graphs, encode)
    nearest: dict[int, tuple[list[int], Tensor]] = {}
    for label, own in members.items():
        distance = squared_distances(whole[own], prototypes[prototype_class == label])
        order = distance.argsort(dim=0, stable=True)[:candidates]
        near = torch.zeros(distance.shape, dtype=torch.bool).scatter(0, order, True)
        rows = near.any(1).nonzero().squeeze(1)
        nearest[label] = own[rows].tolist(), near[rows]
    return nearest


def _gather(results: list[Explored], prototypes: Tensor) -> _Shortlist:
    embeddings = torch.cat([result.embeddings for result in results])
    found = [(result.graph, nodes) for result in results for nodes in result.node_sets]
    return _Shortlist(found, embeddings, squared_distances(embeddings, prototypes))


def _shorten(full: _Shortlist) -> _Shortlist:
    """For each of the m prototypes the m nearest subgraphs that differ: enough for all to get one of their own."""
    wanted = full.distance.shape[1]
    rows = {row for prototype in range(wanted) for row in _nearest_distinct(full, prototype, wanted)}
    distinct: list[int] = []
    left = torch.tensor(sorted(rows))
    while len(left):  # two prototypes may have picked twins
        distinct.append(int(left[0]))
        left = _without_twins(full.embeddings, distinct[-1], left)
    return full.take(distinct)


def _nearest_distinct(full: _Shortlist, prototype: int, wanted: int) -> list[int]:
    """The first ``wanted`` rows by distance with embeddings that differ from each other."""
    order = full.distance[:, prototype].argsort(stable=True)
    picked: list[int] = []
    while len(order) and len(picked) < wanted:
        first = int(order[0])
        picked.append(first)
        order = _without_twins(full.embeddings, first, order)
    return picked


def _without_twins(embeddings: Tensor, row: int, order: Tensor) -> Tensor:
    """``order`` without the rows whose embedding is that of ``row``."""
    h = embeddings[row]
    tolerance = SAME * max(1.0, float(h.abs().max()))
    # One column rules nearly all rows out, so that whole embeddings are compared for few.
    alike = ((embeddings[order, 0] - h[0]).abs() <= tolerance).nonzero().squeeze(1)
    twins = (embeddings[order[alike]] - h).abs().amax(1) <= tolerance
    keep = torch.ones(len(order), dtype=torch.bool)
    keep[alike[twins]] = False
    return order[keep]


def _assign(distance: Tensor) -> list[int]:
    """A row of ``[S, m]`` for each prototype: all different, least total distance.

    Where there are fewer subgraphs than prototypes, those left without one share their nearest.
    """
    rows = distance.argmin(0).tolist()
    for row, prototype in zip(*linear_sum_assignment(distance.numpy()), strict=True):
        rows[prototype] = int(row)
    return rows
