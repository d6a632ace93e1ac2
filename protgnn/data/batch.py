"""A batch: some graphs as one disconnected graph, as encoders want it, and the index arithmetic that makes one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from protgnn.data.adjacency import CSRAdjacency


def ragged_arange(starts: Tensor, counts: Tensor) -> Tensor:
    """Concatenate ``start, start + 1, …`` of each length ``count``: ``[R], [R] → [sum(counts)]``."""
    ends = counts.cumsum(0)
    shift = starts - (ends - counts)
    return torch.arange(int(ends[-1]) if len(ends) else 0) + shift.repeat_interleave(counts)


def offsets(counts: Tensor) -> Tensor:
    """Prefix sums with a leading zero: ``[G] → [G + 1]``."""
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


def full_precision(x: Tensor) -> Tensor:
    """Features as encoders want them: those of half precision made float32."""
    return x.float() if x.dtype == torch.float16 else x


def numbers(index: Any, count: int) -> Tensor:
    """Any index into ``count`` things as their numbers ``[B]``, range-checked."""
    if isinstance(index, slice):
        return torch.tensor(range(count)[index], dtype=torch.int64)
    chosen = torch.as_tensor(index)
    if chosen.dtype == torch.bool:
        if chosen.shape != (count,):
            raise IndexError(f"Expected a mask over {count} (got one of shape {tuple(chosen.shape)})")
        return chosen.nonzero().squeeze(1)
    if chosen.is_floating_point() and chosen.numel():
        raise IndexError(f"Expected whole numbers (got {chosen.dtype})")
    chosen = chosen.to(torch.int64).reshape(-1)
    outside = (chosen < -count) | (chosen >= count)
    if bool(outside.any()):
        raise IndexError(f"Expected numbers below {count} (got {int(chosen[outside][0])})")
    return torch.where(chosen < 0, chosen + count, chosen)


def reverse_edges(edge_index: Tensor, num_nodes: int) -> Tensor:
    """Where each edge of ``[2, E]`` stands in the other direction, ``[E]``; both directions must be there."""
    source, target = edge_index.cpu().numpy()
    numbers = np.arange(len(source))
    there = csr_array((numbers, (source, target)), shape=(num_nodes, num_nodes))
    back = csr_array((numbers, (target, source)), shape=(num_nodes, num_nodes))
    for matrix in (there, back):
        matrix.sort_indices()
    result = np.empty_like(numbers)
    result[there.data] = back.data
    return torch.from_numpy(result).to(edge_index.device)


class _Taken(Protocol):
    """Graphs that may have been taken out of larger ones: batches and graph sets."""

    @property
    def x(self) -> Tensor: ...

    @property
    def missing_degree(self) -> Tensor | None: ...


def joined_missing_degree(parts: Sequence[_Taken]) -> Tensor | None:
    """The missing degrees of the nodes of all parts, ``[N]``; a graph that stands alone misses nothing."""
    if all(part.missing_degree is None for part in parts):
        return None
    missing = []
    for part in parts:
        none = torch.zeros(len(part.x), dtype=torch.int64, device=part.x.device)
        missing.append(none if part.missing_degree is None else part.missing_degree)
    return torch.cat(missing)


@dataclass(frozen=True, eq=False)
class Batch:
    """Some graphs as one disconnected graph, as encoders want it.

    ``x [N, F]``, ``edge_index [2, E]`` numbered within the batch, ``batch [N]`` says which of the
    ``num_graphs`` graphs a node belongs to, ``targets [B, T]`` are the target nodes, numbered within the batch,
    ``missing_degree [N]`` how many neighbours of each node were left out: they count in its degree and send nothing.
    ``bound [E]`` says of edges whether their ends belong together.
    """

    x: Tensor
    edge_index: Tensor
    batch: Tensor
    num_graphs: int
    edge_attr: Tensor | None = None
    y: Tensor | None = None
    targets: Tensor | None = None
    missing_degree: Tensor | None = None
    bound: Tensor | None = None

    @cached_property
    def adjacency(self) -> CSRAdjacency:
        """The edges in compressed rows, in the order of summation."""
        return CSRAdjacency.from_edge_index(self.edge_index, len(self.x), self.missing_degree)

    @cached_property
    def node_counts(self) -> Tensor:
        """Nodes per graph, ``[B]``."""
        return torch.bincount(self.batch, minlength=self.num_graphs)

    @cached_property
    def edge_counts(self) -> Tensor:
        """Directed edges per graph, ``[B]``."""
        return torch.bincount(self.batch[self.edge_index[0]], minlength=self.num_graphs)

    @cached_property
    def reverse(self) -> Tensor:
        """For every edge the number of the same edge in the other direction, ``[E]``."""
        if "_cut_from" in self.__dict__:  # found once for all batches that are cut from a larger one
            whole, edges = self.__dict__["_cut_from"]
            part: Tensor = whole.reverse[edges] - edges.start
            return part
        return reverse_edges(self.edge_index, len(self.x))

    def joined(self, other: Batch) -> Batch:
        """This batch's graphs followed by the other's; labels are left behind."""
        nodes, graphs = len(self.x), self.num_graphs

        def both(mine: Tensor | None, theirs: Tensor | None, shift: int = 0) -> Tensor | None:
            return None if mine is None or theirs is None else torch.cat([mine, theirs + shift if shift else theirs])

        return Batch(
            torch.cat([self.x, other.x]),
            torch.cat([self.edge_index, other.edge_index + nodes], dim=1),
            torch.cat([self.batch, other.batch + graphs]),
            graphs + other.num_graphs,
            both(self.edge_attr, other.edge_attr),
            targets=both(self.targets, other.targets, nodes),
            missing_degree=joined_missing_degree([self, other]),
            bound=both(self.bound, other.bound),
        )

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device."""
        if torch.device(device) == self.x.device:
            return self

        def move(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.to(device)

        return Batch(
            self.x.to(device),
            self.edge_index.to(device),
            self.batch.to(device),
            self.num_graphs,
            move(self.edge_attr),
            move(self.y),
            move(self.targets),
            move(self.missing_degree),
            move(self.bound),
        )
