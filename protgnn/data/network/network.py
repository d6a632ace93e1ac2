"""One large graph whose nodes, or pairs of nodes, are what gets a label.

Stored for a million nodes and tens of millions of edges: the edges lie in compressed rows by target node, 4 bytes for
each direction, and anything larger is made when it is needed and not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.data.labels import UNKNOWN
from protgnn.data.network.validate import checked_fields
from protgnn.data.pyg import network_fields
from protgnn.data.schema import Schema
from protgnn.data.sorted_arrays import position_in_row

if TYPE_CHECKING:
    from torch_geometric.data import Data


@dataclass(frozen=True, eq=False)
class Network:
    """A graph of N nodes and E directed edges; make one with ``from_edge_index`` or ``from_pyg``, which check it.

    ``x [N, F]``; the edges into node v come from ``source[ptr[v] : ptr[v + 1]]``, ascending, int32 ``[E]``;
    ``edge_attr [E, D]`` in the same order. An undirected edge is stored in both directions with the same attributes.
    ``y [N]`` are classes, ``motif [N]`` says which planted motif a node belongs to, both ``UNKNOWN`` where there is
    none; ``names`` has one text per node.
    """

    x: Tensor
    ptr: Tensor
    source: Tensor
    edge_attr: Tensor | None = None
    y: Tensor | None = None
    motif: Tensor | None = None
    names: tuple[str, ...] | None = None
    schema: Schema = field(default_factory=Schema)
    directed: bool = False

    def __repr__(self) -> str:
        """In a line: tensors would fill the screen."""
        return f"Network({len(self)} nodes, {self.num_edges} directed edges)"

    def __len__(self) -> int:
        return len(self.x)

    @property
    def num_edges(self) -> int:
        """Directed edges; an undirected edge counts twice."""
        return len(self.source)

    @property
    def degree(self) -> Tensor:
        """How many edges lead into each node, ``[N]``."""
        return self.ptr.diff()

    @property
    def edge_index(self) -> Tensor:
        """All edges, source above target, int64 ``[2, E]``, sorted by (target, source)."""
        target = torch.arange(len(self)).repeat_interleave(self.degree, output_size=self.num_edges)
        return torch.stack([self.source.to(torch.int64), target])

    @property
    def node_mask(self) -> Tensor | None:
        """Whether each node belongs to a motif, ``[N]``."""
        return None if self.motif is None else self.motif != UNKNOWN

    @property
    def edge_truth(self) -> Tensor | None:
        """Whether each edge joins two nodes of one motif, ``[E]``."""
        if self.motif is None:
            return None
        source, target = self.edge_index
        return (self.motif[source] == self.motif[target]) & (self.motif[source] != UNKNOWN)

    @property
    def labelled(self) -> Tensor:
        """The nodes whose class is known, ascending, ``[L]``."""
        if self.y is None:
            return torch.zeros(0, dtype=torch.int64)
        return (self.y != UNKNOWN).nonzero().squeeze(1)

    def joined(self, pairs: Tensor) -> Tensor:
        """Whether there is an edge from the first to the second node of each pair, ``[P, 2] → [P]``."""
        first, second = pairs.t().numpy()
        start, degree = self.ptr.numpy()[second], self.degree.numpy()[second]
        return torch.from_numpy(position_in_row(self.source.numpy(), start, degree, first) < degree)

    def name(self, node: int) -> str:
        """What a node is called: its own name, or ``node 7``."""
        return f"node {node}" if self.names is None else self.names[node]

    @cached_property
    def _everything(self) -> Batch:
        edge_index = self.edge_index
        return Batch(self.x, edge_index, torch.zeros(len(self), dtype=torch.int64), 1, self.edge_attr)

    def whole(self, targets: Tensor) -> Batch:
        """The whole network as one batch for B targets, nodes ``[B]`` or pairs ``[B, 2]``, as full-batch training
        wants it.

        All targets share the one graph, so ``batch`` is zero throughout though ``num_graphs`` is B; the adjacency
        is computed once for all calls.
        """
        shared = self._everything
        y = None if self.y is None or targets.dim() == 2 else self.y[targets]
        batch = replace(shared, num_graphs=len(targets), targets=targets.reshape(len(targets), -1), y=y)
        batch.__dict__["adjacency"] = shared.adjacency
        return batch

    @classmethod
    def from_edge_index(
        cls,
        x: Tensor,
        edge_index: Tensor,
        *,
        edge_attr: Tensor | None = None,
        y: Tensor | None = None,
        motif: Tensor | None = None,
        names: Sequence[str] | None = None,
        schema: Schema | None = None,
        directed: bool = False,
    ) -> tuple[Network, list[str]]:
        """A checked network from an edge list.

        Args:
            x: Node features ``[N, F]``.
            edge_index: Edges ``[2, E]`` in any order; one direction is enough unless ``directed``.
            edge_attr: Edge attributes ``[E, D]``.
            y: Classes ``[N]``, ``UNKNOWN`` (-1) for nodes without a label.
            motif: The planted motif of each node ``[N]``, ``UNKNOWN`` for nodes in none.
            names: One name per node.
            schema: Names of columns and classes, where they are known.
            directed: Keep the direction of edges; without it every edge counts in both.

        Returns:
            The network, and a sentence for each kind of repair.

        Raises:
            DataError: Names the node or edge that cannot be repaired.
        """
        found, notes = checked_fields(
            x, edge_index, edge_attr=edge_attr, y=y, motif=motif, names=names, schema=schema, directed=directed
        )
        return cls(**found), notes

    @classmethod
    def from_pyg(cls, data: Data, schema: Schema | None = None, directed: bool = False) -> tuple[Network, list[str]]:
        """A checked network from one PyG ``Data`` with ``x``, ``edge_index`` and perhaps ``edge_attr``, ``y``,
        ``motif`` and ``names``, and a sentence for each kind of repair."""
        return cls.from_edge_index(**network_fields(data), schema=schema, directed=directed)

    def to_pyg(self) -> Data:
        """The network as PyG's ``Data``, as its samplers and transforms want it."""
        from torch_geometric.data import Data

        data = Data(x=self.x, edge_index=self.edge_index)
        for name in ("edge_attr", "y", "motif"):
            if getattr(self, name) is not None:
                data[name] = getattr(self, name)
        if self.names is not None:
            data.names = list(self.names)
        return data
