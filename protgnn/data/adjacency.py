"""Adjacency in compressed sparse rows: the edges of a batch in the order in which encoders sum over them.

Row ``i`` lists the sources of the messages to node ``i``, ascending by source as stored, and node ``i`` itself last
(every node sends a message to itself). A run of whole graphs has a run of entries, so the adjacency of a large set of
graphs serves all batches that are sliced from it.
"""

from __future__ import annotations

from functools import cached_property

import torch
from scipy.sparse import csr_array
from torch import Tensor


class CSRAdjacency:
    """``col [E + N]`` is the source of each entry; entries ``rowptr[i] : rowptr[i + 1]`` are the messages to node i.

    ``entry_of_edge [E]`` says which entry an edge became. ``missing_degree [N]``, where given, is how many more
    neighbours each node has in the larger graph that this one was taken out of: they have no entry but count in its
    degree.
    """

    def __init__(
        self, col: Tensor, rowptr: Tensor, entry_of_edge: Tensor, missing_degree: Tensor | None = None
    ) -> None:
        self.col, self.rowptr, self.entry_of_edge, self.missing_degree = col, rowptr, entry_of_edge, missing_degree
        self._sliced_from: tuple[CSRAdjacency, int, slice, slice] | None = None
        self._gcn_norm: dict[torch.dtype, Tensor] = {}

    @classmethod
    def from_edge_index(cls, edge_index: Tensor, num_nodes: int, missing_degree: Tensor | None = None) -> CSRAdjacency:
        """The adjacency of edges ``[2, E]`` in any order."""
        source, target = edge_index
        rank = torch.arange(len(source), device=source.device)
        if not bool((target[1:] >= target[:-1]).all()):
            rank = torch.empty_like(rank).index_copy(0, torch.argsort(target, stable=True), rank)
        nodes = torch.arange(num_nodes, device=source.device)
        row_size = torch.bincount(target, minlength=num_nodes) + 1
        entry_of_edge = rank + target  # each edge moves on by the self-loops before it
        rowptr = torch.cat([row_size.new_zeros(1), row_size.cumsum(0)])
        col = torch.empty(len(source) + num_nodes, dtype=torch.int64, device=source.device)
        col = col.index_copy(0, entry_of_edge, source).index_copy(0, rowptr[1:] - 1, nodes)
        return cls(col, rowptr, entry_of_edge, missing_degree)

    def slice(self, nodes: slice, edges: slice) -> CSRAdjacency:
        """The adjacency of a run of whole graphs, given the runs of their nodes and edges: views, renumbered."""
        entries = slice(nodes.start + edges.start, nodes.stop + edges.stop)
        rows = slice(nodes.start, nodes.stop + 1)
        small = CSRAdjacency(
            self.col[entries] - nodes.start,
            self.rowptr[rows] - entries.start,
            self.entry_of_edge[edges] - entries.start,
        )
        small._sliced_from = self, nodes.start, rows, entries
        return small

    @cached_property
    def row(self) -> Tensor:
        """The node that each entry is a message to, ``[E + N]``."""
        if self._sliced_from is not None:
            whole, first, _, entries = self._sliced_from
            return whole.row[entries] - first
        return torch.arange(len(self.rowptr) - 1, device=self.rowptr.device).repeat_interleave(self.rowptr.diff())

    @cached_property
    def csr(self) -> tuple[Tensor, Tensor]:
        """Row pointers and columns in the int32 that sparse products want."""
        if self._sliced_from is not None:
            whole, first, rows, entries = self._sliced_from
            rowptr, col = whole.csr
            return rowptr[rows] - entries.start, col[entries] - first
        return self.rowptr.to(torch.int32), self.col.to(torch.int32)

    @cached_property
    def csc(self) -> tuple[Tensor, Tensor, Tensor]:
        """Row pointers and columns of the transpose, and which entries its values are."""
        if self._sliced_from is not None:
            whole, first, rows, entries = self._sliced_from
            rowptr, col, entry = whole.csc
            return rowptr[rows] - entries.start, col[entries] - first, entry[entries] - entries.start
        pointers, columns = (tensor.cpu().numpy() for tensor in self.csr)
        numbers = torch.arange(len(columns)).numpy()
        size = len(pointers) - 1
        turned = csr_array((numbers, columns, pointers), shape=(size, size)).tocsc()
        device = self.rowptr.device
        rowptr, col = (torch.from_numpy(part).to(device, torch.int32) for part in (turned.indptr, turned.indices))
        return rowptr, col, torch.from_numpy(turned.data).to(device)

    def gcn_norm(self, dtype: torch.dtype) -> Tensor:
        """The entries of D̂^-½ Â D̂^-½ (Eq. 1), ``[E + N]``, when all nodes and edges are present."""
        if self._sliced_from is not None:
            whole, _, _, entries = self._sliced_from
            return whole.gcn_norm(dtype)[entries]
        if dtype not in self._gcn_norm:
            degree = self.rowptr.diff() if self.missing_degree is None else self.rowptr.diff() + self.missing_degree
            root = degree.to(dtype).rsqrt()
            self._gcn_norm[dtype] = root[self.col] * root[self.row]
        return self._gcn_norm[dtype]
