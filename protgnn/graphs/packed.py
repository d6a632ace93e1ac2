"""Packed storage: a dataset is a handful of flat tensors with offsets, and a batch is index arithmetic.

Graph ``g`` owns the rows ``node_ptr[g] : node_ptr[g + 1]`` of every node tensor and ``edge_ptr[g] : edge_ptr[g + 1]``
of every edge tensor. Node numbers in ``edge_index`` and ``targets`` are local to their graph, so that graphs can be
reordered without touching them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from protgnn.graphs.hearing import Hearing
from protgnn.graphs.schema import Schema

if TYPE_CHECKING:
    from torch_geometric.data import Data

SHUFFLED_AT_ONCE = 4096
"""Graphs gathered in one go for training: fast, and no second copy of a large dataset."""


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


def _all_outside(parts: Sequence[Batch | GraphSet]) -> Tensor | None:
    """What is outside of each node of all parts; nothing is outside of a graph that stands alone."""
    if all(part.outside is None for part in parts):
        return None
    return torch.cat(
        [
            torch.zeros(len(part.x), dtype=torch.int64, device=part.x.device) if part.outside is None else part.outside
            for part in parts
        ]
    )


@dataclass(frozen=True, eq=False)
class Batch:
    """Some graphs as one disconnected graph, as encoders want it.

    ``x [N, F]``, ``edge_index [2, E]`` numbered within the batch, ``node_graph [N]`` says which of the
    ``num_graphs`` graphs a node belongs to, ``targets [B, T]`` are the target nodes, numbered within the batch,
    ``outside [N]`` how many neighbours each node hears elsewhere, which count in its degree and send nothing.
    """

    x: Tensor
    edge_index: Tensor
    node_graph: Tensor
    num_graphs: int
    edge_attr: Tensor | None = None
    y: Tensor | None = None
    targets: Tensor | None = None
    outside: Tensor | None = None

    @cached_property
    def hearing(self) -> Hearing:
        """Who hears whom, in the order of summation."""
        return Hearing.of(self.edge_index, len(self.x), self.outside)

    @cached_property
    def node_counts(self) -> Tensor:
        """Nodes per graph, ``[B]``."""
        return torch.bincount(self.node_graph, minlength=self.num_graphs)

    @cached_property
    def edge_counts(self) -> Tensor:
        """Directed edges per graph, ``[B]``."""
        return torch.bincount(self.node_graph[self.edge_index[0]], minlength=self.num_graphs)

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
            torch.cat([self.node_graph, other.node_graph + graphs]),
            graphs + other.num_graphs,
            both(self.edge_attr, other.edge_attr),
            targets=both(self.targets, other.targets, nodes),
            outside=_all_outside([self, other]),
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
            self.node_graph.to(device),
            self.num_graphs,
            move(self.edge_attr),
            move(self.y),
            move(self.targets),
            move(self.outside),
        )


@dataclass(frozen=True, eq=False)
class GraphSet:
    """Many graphs in flat tensors.

    Shapes for G graphs with N nodes and E directed edges in all: ``x [N, F]``, ``edge_index [2, E]``,
    ``node_ptr [G + 1]``, ``edge_ptr [G + 1]``, ``edge_attr [E, D]``, ``y [G]``, ``targets [G, T]`` with T = 1 for
    node and 2 for link tasks, ``node_truth [N]`` true for nodes of the known motif, ``names`` one text per graph,
    ``lines [G]`` the lines of the file that they were read from.

    ``x`` may be of half precision where there is much of it; batches are float32 in any case.

    A graph that was taken out of a larger one may say so: ``origin [N]`` is the number that a node has there, and
    ``outside [N]`` how many of those it hears were left behind. A graph without them stands alone.
    """

    x: Tensor
    edge_index: Tensor
    node_ptr: Tensor
    edge_ptr: Tensor
    edge_attr: Tensor | None = None
    y: Tensor | None = None
    targets: Tensor | None = None
    node_truth: Tensor | None = None
    names: tuple[str, ...] | None = None
    lines: Tensor | None = None
    schema: Schema = field(default_factory=Schema)
    outside: Tensor | None = None
    origin: Tensor | None = None

    def __repr__(self) -> str:
        """In a line: tensors would fill the screen."""
        counts = f"{len(self)} {self.schema.kind}s, {len(self.x)} nodes, {self.edge_index.shape[1]} directed edges"
        named = f", classes {', '.join(self.schema.class_names)}" if self.schema.class_names else ""
        return f"GraphSet({counts}{named})"

    def __len__(self) -> int:
        return len(self.node_ptr) - 1

    @property
    def shape(self) -> tuple[int]:
        """``(G,)``: what scikit-learn asks of anything it splits."""
        return (len(self),)

    def __iter__(self) -> Iterator[GraphSet]:
        return (self[number] for number in range(len(self)))

    @property
    def node_counts(self) -> Tensor:
        return self.node_ptr.diff()

    @property
    def edge_counts(self) -> Tensor:
        """Directed edges per graph; an undirected edge counts twice."""
        return self.edge_ptr.diff()

    @property
    def num_features(self) -> int:
        return self.x.shape[1]

    @property
    def num_edge_features(self) -> int:
        return 0 if self.edge_attr is None else self.edge_attr.shape[1]

    def __getitem__(self, index: Any) -> GraphSet:
        """Graphs by number, slice, list, mask or tensor; always a ``GraphSet``, of one graph for a number."""
        if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:  # how scikit-learn asks
            index = index[0]
        chosen = numbers(index, len(self))
        node_counts, edge_counts = self.node_counts[chosen], self.edge_counts[chosen]
        nodes = ragged_arange(self.node_ptr[chosen], node_counts)
        edges = ragged_arange(self.edge_ptr[chosen], edge_counts)
        return replace(
            self,
            x=self._features(chosen, nodes),
            edge_index=self.edge_index[:, edges],
            node_ptr=offsets(node_counts),
            edge_ptr=offsets(edge_counts),
            edge_attr=None if self.edge_attr is None else self.edge_attr[edges],
            y=None if self.y is None else self.y[chosen],
            targets=None if self.targets is None else self.targets[chosen],
            node_truth=None if self.node_truth is None else self.node_truth[nodes],
            names=None if self.names is None else tuple(self.names[number] for number in chosen.tolist()),
            lines=None if self.lines is None else self.lines[chosen],
            outside=None if self.outside is None else self.outside[nodes],
            origin=None if self.origin is None else self.origin[nodes],
        )

    def _features(self, chosen: Tensor, nodes: Tensor) -> Tensor:
        """The features of some graphs; of most graphs, if they stand side by side, without a second copy in memory."""
        if 2 * len(chosen) > len(self) and bool((chosen.diff() == 1).all()):
            return self.x[int(self.node_ptr[chosen[0]]) : int(self.node_ptr[chosen[-1] + 1])]
        return self.x[nodes]

    def batch(self, index: Tensor | None = None) -> Batch:
        """The graphs of ``index [B]`` (all if none) as one batch, without a Python step per graph."""
        if index is None:
            return self.slice_batch(0, len(self))
        node_counts, edge_counts = self.node_counts[index], self.edge_counts[index]
        # Without its last entry a pointer has one start per graph, so that negative numbers count from the end.
        nodes = ragged_arange(self.node_ptr[:-1][index], node_counts)
        edges = ragged_arange(self.edge_ptr[:-1][index], edge_counts)
        first = node_counts.cumsum(0) - node_counts
        return Batch(
            x=full_precision(self.x.index_select(0, nodes)),
            edge_index=self.edge_index.index_select(1, edges) + first.repeat_interleave(edge_counts),
            node_graph=torch.arange(len(index)).repeat_interleave(node_counts),
            num_graphs=len(index),
            edge_attr=None if self.edge_attr is None else self.edge_attr.index_select(0, edges),
            y=None if self.y is None else self.y[index],
            targets=None if self.targets is None else self.targets[index] + first[:, None],
            outside=None if self.outside is None else self.outside[nodes],
        )

    @cached_property
    def _as_one(self) -> Batch:
        """All graphs as one batch, its features as they are stored: what contiguous batches are cut from."""
        first = self.node_ptr[:-1]
        return Batch(
            x=self.x,
            edge_index=self.edge_index + first.repeat_interleave(self.edge_counts),
            node_graph=torch.arange(len(self)).repeat_interleave(self.node_counts),
            num_graphs=len(self),
            edge_attr=self.edge_attr,
            y=self.y,
            targets=None if self.targets is None else self.targets + first[:, None],
            outside=self.outside,
        )

    def slice_batch(self, start: int, stop: int) -> Batch:
        """Graphs ``start : stop`` as one batch: views of the flat tensors, next to no work."""
        whole, stop = self._as_one, min(stop, len(self))
        node_start, node_stop = int(self.node_ptr[start]), int(self.node_ptr[stop])
        edge_start, edge_stop = int(self.edge_ptr[start]), int(self.edge_ptr[stop])
        batch = Batch(
            x=full_precision(whole.x[node_start:node_stop]),
            edge_index=whole.edge_index[:, edge_start:edge_stop] - node_start,
            node_graph=whole.node_graph[node_start:node_stop] - start,
            num_graphs=stop - start,
            edge_attr=None if whole.edge_attr is None else whole.edge_attr[edge_start:edge_stop],
            y=None if whole.y is None else whole.y[start:stop],
            targets=None if whole.targets is None else whole.targets[start:stop] - node_start,
            outside=None if whole.outside is None else whole.outside[node_start:node_stop],
        )
        # Known beforehand, as part of the whole; a batch made from this one by `replace` computes its own.
        batch.__dict__["hearing"] = whole.hearing.part(slice(node_start, node_stop), slice(edge_start, edge_stop))
        batch.__dict__["_cut_from"] = whole, slice(edge_start, edge_stop)
        return batch

    def batches(self, size: int, apart: bool = False) -> Iterator[Batch]:
        """All graphs in order, ``size`` at a time; they are apart in any case."""
        return (self.slice_batch(start, start + size) for start in range(0, len(self), size))

    def shuffled(
        self, order: Tensor, size: int, chance: torch.Generator | None = None, apart: object = None
    ) -> Iterator[Batch]:
        """Batches in the order ``[G]``; graphs are gathered many batches at a time and then only sliced."""
        step = max(SHUFFLED_AT_ONCE // size, 1) * size
        for start in range(0, len(order), step):
            yield from self[order[start : start + step]].batches(size)

    @property
    def num_targets(self) -> int:
        return 0 if self.targets is None else self.targets.shape[1]

    def bare(self) -> GraphSet:
        """The same graphs without names, lines and known motifs, which encoding does not need."""
        return replace(self, names=None, lines=None, node_truth=None)

    def apart(self) -> GraphSet:
        """Each graph by itself, which they are."""
        return self

    @classmethod
    def concatenate(cls, parts: Sequence[GraphSet]) -> GraphSet:
        """Several sets of one schema as one; what not all of them have is left out."""
        if any(part.schema != parts[0].schema for part in parts):
            raise ValueError("Expected sets of one schema (got different ones): their columns or classes differ")

        def joined(name: str) -> Tensor | None:
            tensors = [getattr(part, name) for part in parts]
            return None if any(tensor is None for tensor in tensors) else torch.cat(tensors)

        return replace(
            parts[0],
            x=torch.cat([part.x for part in parts]),
            edge_index=torch.cat([part.edge_index for part in parts], dim=1),
            node_ptr=offsets(torch.cat([part.node_counts for part in parts])),
            edge_ptr=offsets(torch.cat([part.edge_counts for part in parts])),
            edge_attr=joined("edge_attr"),
            y=joined("y"),
            targets=joined("targets"),
            node_truth=joined("node_truth"),
            names=None
            if any(part.names is None for part in parts)
            else tuple(name for part in parts for name in part.names or ()),
            lines=joined("lines"),
            outside=_all_outside(parts),
            origin=joined("origin"),
        )

    @classmethod
    def from_pyg(cls, graphs: Sequence[Data] | Data, schema: Schema | None = None) -> GraphSet:
        """Pack PyG ``Data`` objects (one, a list or an ``InMemoryDataset``); ``to_pyg`` gives them back."""
        from protgnn.graphs.pyg import pack

        return pack(graphs, schema)

    def to_pyg(self) -> list[Data]:
        """One PyG ``Data`` per graph, with everything that is stored here."""
        from protgnn.graphs.pyg import unpack

        return unpack(self)
