"""Prototype projection: every prototype moves onto the nearest subgraph of a training graph of its class.

``p_j ← argmin ‖h̃ - p_j‖`` over the embeddings h̃ of subgraphs of the graphs of class k (section Prototype
Projection). The subgraphs are those that the tree search explores in the graphs nearest to the prototypes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import safetensors.torch
import torch
from torch import Tensor

from protgnn.data.network.instances import Instances
from protgnn.data.units import members
from protgnn.errors import DataError
from protgnn.io.ranks import ALONE, Ranks
from protgnn.model.prototype_layer import squared_distances
from protgnn.search.pool import Cutter, Encode
from protgnn.search.shortlist import Shortlist, assign, from_message, gather, shorten, to_message
from protgnn.search.tree import SearchSettings, UnitsOf, search

Progress = Callable[[int, int], None]

GRAPHS_AT_ONCE = 128
"""Graphs searched in lockstep: enough to fill encoder calls, few enough to bound memory."""


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
    units: UnitsOf | None = None,
    ranks: Ranks = ALONE,
) -> Projection:
    """Project prototypes onto the nearest subgraphs of labelled graphs of their class (Eq. 7).

    Each graph is searched for the prototypes that it is near to, and every explored subgraph is scored against all
    prototypes of the class. Prototypes of one class get different subgraphs as long as there are enough.

    Args:
        graphs: The training instances, with labels.
        prototypes: ``[K, H]``.
        prototype_class: The class of each prototype, ``[K]``.
        encode: Maps a batch of S graphs to embeddings ``[S, H]``; must be in evaluation mode.
        settings: Settings of the tree search.
        candidates: The number of graphs to search for each prototype, the nearest first; all of its class if ``None``.
        progress: Called with the number of graphs searched so far and in total.
        units: The units of the graphs; with them prototypes are whole.
        ranks: Processes that share the search. The result is that of a single process, call for call.

    Raises:
        DataError: The graphs have no labels, or a class has none of them.
    """
    settings = settings or SearchSettings()
    to_search = _graphs_to_search(graphs, prototypes, prototype_class, encode, candidates, ranks)
    chunks = [
        (label, slice(start, start + GRAPHS_AT_ONCE))
        for label, (numbers, _) in to_search.items()
        for start in range(0, len(numbers), GRAPHS_AT_ONCE)
    ]
    own = {label: (prototype_class == label).nonzero().squeeze(1) for label in to_search}
    done, mine = 0, chunks[ranks.rank :: ranks.world_size]
    total = sum(len(to_search[label][0][some]) for label, some in mine)
    found: list[Shortlist] = []
    for label, some in mine:
        numbers, wanted = to_search[label]
        near = prototypes[own[label]]
        explored = search(graphs, numbers[some], near, encode, settings, wanted[some], units=units)
        found.append(shorten(gather(explored, prototypes[own[label]])))
        done += len(explored)
        if progress is not None:
            progress(done, total)
    shortlists: dict[int, Shortlist] = {}
    for (label, _), part in zip(chunks, _of_all_ranks(found, len(chunks), ranks), strict=True):
        shortlists[label] = shorten(shortlists[label] + part) if label in shortlists else part
    chosen: dict[int, tuple[int, int]] = {}
    for label, shortlist in shortlists.items():
        for prototype, row in zip(own[label].tolist(), assign(shortlist.distance), strict=True):
            chosen[prototype] = shortlist.found[row]
    return _moved(graphs, prototypes, prototype_class, encode, [chosen[number] for number in range(len(prototypes))])


def _of_all_ranks(mine: list[Shortlist], count: int, ranks: Ranks) -> list[Shortlist]:
    """The shortlists of all ``count`` chunks; rank r searched the chunks r, r + world_size, …"""
    if ranks.alone:
        return mine
    gathered = [from_message(message) for message in ranks.all_gather(to_message(mine))]
    return [gathered[chunk % ranks.world_size][chunk // ranks.world_size] for chunk in range(count)]


def _moved(
    graphs: Instances, prototypes: Tensor, prototype_class: Tensor, encode: Encode, chosen: list[tuple[int, int]]
) -> Projection:
    """Prototypes at their (graph, node set), encoded once more, independent of the batches of the search."""
    owners = graphs[[graph for graph, _ in chosen]].ego_graphs()
    batches = Cutter(owners).batches(range(len(chosen)), [nodes for _, nodes in chosen])
    vectors = torch.cat([encode(batch) for batch in batches])
    rows = zip(chosen, prototype_class.tolist(), (vectors - prototypes).square().sum(1).tolist(), strict=True)
    return Projection(
        vectors,
        tuple(PrototypeSource(graph, tuple(members(nodes)), label, moved) for (graph, nodes), label, moved in rows),
    )


def embed_all(graphs: Instances, encode: Encode, at_once: int = 256, ranks: Ranks = ALONE) -> Tensor:
    """Embeddings of whole graphs, ``[G, H]``; the ranks divide the batches."""
    if ranks.alone:
        return torch.cat([encode(batch) for batch in graphs.batches(at_once)])
    mine = ranks.block(-(-len(graphs) // at_once))
    some = slice(mine.start * at_once, min(mine.stop * at_once, len(graphs)))
    parts = [encode(batch) for batch in graphs[some].batches(at_once)] if some.stop > some.start else []
    found = ranks.all_gather(safetensors.torch.save({"h": torch.cat(parts)}) if parts else b"")
    return torch.cat([safetensors.torch.load(message)["h"] for message in found if message])


def _graphs_to_search(
    graphs: Instances,
    prototypes: Tensor,
    prototype_class: Tensor,
    encode: Encode,
    candidates: int | None,
    ranks: Ranks,
) -> dict[int, tuple[list[int], Tensor]]:
    """For each class with m prototypes, the G' graphs to search, and for which prototypes, bool ``[G', m]``."""
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
    whole = embed_all(graphs, encode, ranks=ranks)
    nearest: dict[int, tuple[list[int], Tensor]] = {}
    for label, own in members.items():
        distance = squared_distances(whole[own], prototypes[prototype_class == label])
        order = distance.argsort(dim=0, stable=True)[:candidates]
        near = torch.zeros(distance.shape, dtype=torch.bool).scatter(0, order, True)
        rows = near.any(1).nonzero().squeeze(1)
        nearest[label] = own[rows].tolist(), near[rows]
    return nearest
