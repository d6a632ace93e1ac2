"""The subgraphs nearest to the prototypes of a class: kept as the search goes on, sent between ranks, and assigned."""

from __future__ import annotations

import json
from dataclasses import dataclass

import safetensors.torch
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from protgnn.model.prototype_layer import squared_distances
from protgnn.search.tree import Explored

SAME = 1e-5
"""Embeddings closer than this (relative to their size) are of subgraphs that look the same."""


@dataclass(frozen=True, eq=False)
class Shortlist:
    """S subgraphs and how far ``[S, m]`` each is from the m prototypes of a class.

    ``found`` says of each its graph and its node set, ``embeddings [S, H]`` are theirs.
    """

    found: list[tuple[int, int]]
    embeddings: Tensor
    distance: Tensor

    def __add__(self, other: Shortlist) -> Shortlist:
        return Shortlist(
            self.found + other.found,
            torch.cat([self.embeddings, other.embeddings]),
            torch.cat([self.distance, other.distance]),
        )

    def take(self, rows: list[int]) -> Shortlist:
        """Some of them, by their rows."""
        return Shortlist([self.found[row] for row in rows], self.embeddings[rows], self.distance[rows])


def to_message(shortlists: list[Shortlist]) -> bytes:
    """Shortlists as bytes for another rank."""
    tensors: dict[str, Tensor] = {}
    for place, one in enumerate(shortlists):
        found = json.dumps([[graph, hex(nodes)] for graph, nodes in one.found]).encode()
        tensors[f"{place}/found"] = torch.frombuffer(bytearray(found), dtype=torch.uint8)
        tensors[f"{place}/embeddings"] = one.embeddings.contiguous()
        tensors[f"{place}/distance"] = one.distance.contiguous()
    return safetensors.torch.save(tensors)


def from_message(message: bytes) -> list[Shortlist]:
    """What :func:`to_message` made bytes of."""
    tensors = safetensors.torch.load(message)
    shortlists = []
    for place in range(len(tensors) // 3):
        found = json.loads(tensors[f"{place}/found"].numpy().tobytes())
        places = [(graph, int(nodes, 16)) for graph, nodes in found]
        shortlists.append(Shortlist(places, tensors[f"{place}/embeddings"], tensors[f"{place}/distance"]))
    return shortlists


def gather(results: list[Explored], prototypes: Tensor) -> Shortlist:
    """All that was explored, with its distances to prototypes ``[m, H]``."""
    embeddings = torch.cat([result.embeddings for result in results])
    found = [(result.graph, nodes) for result in results for nodes in result.node_sets]
    return Shortlist(found, embeddings, squared_distances(embeddings, prototypes))


def shorten(full: Shortlist) -> Shortlist:
    """For each of the m prototypes the m nearest subgraphs that differ: enough for all to get one of their own."""
    wanted = full.distance.shape[1]
    rows = {row for prototype in range(wanted) for row in _nearest_distinct(full, prototype, wanted)}
    distinct: list[int] = []
    left = torch.tensor(sorted(rows))
    while len(left):  # two prototypes may have picked twins
        distinct.append(int(left[0]))
        left = _without_twins(full.embeddings, distinct[-1], left)
    return full.take(distinct)


def _nearest_distinct(full: Shortlist, prototype: int, wanted: int) -> list[int]:
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


def assign(distance: Tensor) -> list[int]:
    """A row of ``[S, m]`` for each prototype: all different, least total distance.

    Where there are fewer subgraphs than prototypes, those left without one share their nearest.
    """
    rows = distance.argmin(0).tolist()
    for row, prototype in zip(*linear_sum_assignment(distance.numpy()), strict=True):
        rows[prototype] = int(row)
    return rows
