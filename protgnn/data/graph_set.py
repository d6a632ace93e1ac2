"""Packed storage: a dataset is a handful of flat tensors with offsets, and a batch is index arithmetic.

Graph ``g`` owns the rows ``node_ptr[g] : node_ptr[g + 1]`` of every node tensor and ``edge_ptr[g] : edge_ptr[g + 1]``
of every edge tensor. Node numbers in ``edge_index`` and ``targets`` are local to their graph, so that graphs can be
reordered without touching them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from protgnn.data.batch import Batch, full_precision, joined_missing_degree, numbers, offsets, ragged_arange
from protgnn.data.labels import label_names
from protgnn.data.pyg import graph_set_fields, to_data_list
from protgnn.data.schema import Schema

if TYPE_CHECKING:
    from torch_geometric.data import Data

SHUFFLED_AT_ONCE = 4096
"""Graphs gathered in one go for training: fast, and no second copy of a large dataset."""


@dataclass(frozen=True, eq=False)
class GraphSet:
    """Many graphs in flat tensors.

    Shapes for G graphs with N nodes and E directed edges in all: ``x [N, F]``, ``edge_index [2, E]``,
    ``node_ptr [G + 1]``, ``edge_ptr [G + 1]``, ``edge_attr [E, D]``, ``y [G]``, ``targets [G, T]`` with T = 1 for
    node and 2 for link tasks, ``node_mask [N]`` true for nodes of the known motif, ``names`` one text per graph,
    ``lines [G]`` the lines of the file that they were read from.

    ``x`` may be of half precision where there is much of it; batches are float32 in any case.

    A graph that was taken out of a larger one may say so: ``n_id [N]`` is the number that a node has there, and
    ``missing_degree [N]`` how many of its neighbours were left behind. A graph without them stands alone.

    ``bound [E]`` is true for edges whose ends belong together: they are shown whole or not at all (``data/units.py``).
    """

    x: Tensor
    edge_index: Tensor
    node_ptr: Tensor
    edge_ptr: Tensor
    edge_attr: Tensor | None = None
    y: Tensor | None = None
    targets: Tensor | None = None
    node_mask: Tensor | None = None
    names: tuple[str, ...] | None = None
    lines: Tensor | None = None
    schema: Schema = field(default_factory=Schema)
    missing_degree: Tensor | None = None
    n_id: Tensor | None = None
    bound: Tensor | None = None

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
    def labels(self) -> np.ndarray:
        """The name of the class of each graph, ``[G]``: what predictions are compared with."""
        return label_names(self.y, self.schema.class_names)

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
            node_mask=None if self.node_mask is None else self.node_mask[nodes],
            names=None if self.names is None else tuple(self.names[number] for number in chosen.tolist()),
            lines=None if self.lines is None else self.lines[chosen],
            missing_degree=None if self.missing_degree is None else self.missing_degree[nodes],
            n_id=None if self.n_id is None else self.n_id[nodes],
            bound=None if self.bound is None else self.bound[edges],
        )

    def _features(self, chosen: Tensor, nodes: Tensor) -> Tensor:
        """The features of some graphs; of most graphs, if they stand side by side, without a second copy in memory."""
        if 2 * len(chosen) > len(self) and bool((chosen.diff() == 1).all()):
            return self.x[int(self.node_ptr[chosen[0]]) : int(self.node_ptr[chosen[-1] + 1])]
        return self.x.index_select(0, nodes)  # faster than indexing

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
            batch=torch.arange(len(index)).repeat_interleave(node_counts),
            num_graphs=len(index),
            edge_attr=None if self.edge_attr is None else self.edge_attr.index_select(0, edges),
            y=None if self.y is None else self.y[index],
            targets=None if self.targets is None else self.targets[index] + first[:, None],
            missing_degree=None if self.missing_degree is None else self.missing_degree[nodes],
            bound=None if self.bound is None else self.bound[edges],
        )

    @cached_property
    def _as_one(self) -> Batch:
        """All graphs as one batch, its features as they are stored: what contiguous batches are cut from."""
        first = self.node_ptr[:-1]
        return Batch(
            x=self.x,
            edge_index=self.edge_index + first.repeat_interleave(self.edge_counts),
            batch=torch.arange(len(self)).repeat_interleave(self.node_counts),
            num_graphs=len(self),
            edge_attr=self.edge_attr,
            y=self.y,
            targets=None if self.targets is None else self.targets + first[:, None],
            missing_degree=self.missing_degree,
            bound=self.bound,
        )

    def slice_batch(self, start: int, stop: int) -> Batch:
        """Graphs ``start : stop`` as one batch: views of the flat tensors, next to no work."""
        whole, stop = self._as_one, min(stop, len(self))
        node_start, node_stop = int(self.node_ptr[start]), int(self.node_ptr[stop])
        edge_start, edge_stop = int(self.edge_ptr[start]), int(self.edge_ptr[stop])
        batch = Batch(
            x=full_precision(whole.x[node_start:node_stop]),
            edge_index=whole.edge_index[:, edge_start:edge_stop] - node_start,
            batch=whole.batch[node_start:node_stop] - start,
            num_graphs=stop - start,
            edge_attr=None if whole.edge_attr is None else whole.edge_attr[edge_start:edge_stop],
            y=None if whole.y is None else whole.y[start:stop],
            targets=None if whole.targets is None else whole.targets[start:stop] - node_start,
            missing_degree=None if whole.missing_degree is None else whole.missing_degree[node_start:node_stop],
            bound=None if whole.bound is None else whole.bound[edge_start:edge_stop],
        )
        # Known beforehand, as part of the whole; a batch made from this one by `replace` computes its own.
        batch.__dict__["adjacency"] = whole.adjacency.slice(slice(node_start, node_stop), slice(edge_start, edge_stop))
        batch.__dict__["_cut_from"] = whole, slice(edge_start, edge_stop)
        return batch

    def batches(self, size: int, ego: bool = False) -> Iterator[Batch]:
        """All graphs in order, ``size`` at a time; each is a graph of its own, whatever ``ego`` says."""
        return (self.slice_batch(start, start + size) for start in range(0, len(self), size))

    def shuffled(
        self, order: Tensor, size: int, rng: torch.Generator | None = None, ego: object = None
    ) -> Iterator[Batch]:
        """Batches in the order ``[G]``; graphs are gathered many batches at a time and then only sliced."""
        step = max(SHUFFLED_AT_ONCE // size, 1) * size
        for start in range(0, len(order), step):
            yield from self[order[start : start + step]].batches(size)

    @property
    def num_targets(self) -> int:
        return 0 if self.targets is None else self.targets.shape[1]

    def without_metadata(self) -> GraphSet:
        """The same graphs without names, lines and known motifs, which encoding does not need."""
        return replace(self, names=None, lines=None, node_mask=None)

    def ego_graphs(self) -> GraphSet:
        """The same graphs: each is a graph of its own already."""
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
            node_mask=joined("node_mask"),
            names=None
            if any(part.names is None for part in parts)
            else tuple(name for part in parts for name in part.names or ()),
            lines=joined("lines"),
            missing_degree=joined_missing_degree(parts),
            n_id=joined("n_id"),
            bound=joined("bound"),
        )

    @classmethod
    def from_pyg(cls, graphs: Sequence[Data] | Data, schema: Schema | None = None) -> GraphSet:
        """Pack PyG ``Data`` objects (one, a list or an ``InMemoryDataset``); ``to_pyg`` gives them back."""
        return cls(**graph_set_fields(graphs), schema=schema or Schema())

    def to_pyg(self) -> list[Data]:
        """One PyG ``Data`` per graph, with everything that is stored here."""
        return to_data_list({part.name: getattr(self, part.name) for part in fields(self)})
