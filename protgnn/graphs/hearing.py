"""Who hears whom: the edges of a batch in the order in which encoders sum over them, computed for many batches at once.

Messages run along directed edges, and every node hears itself too. Entries are sorted by listener, a node's own entry
last among those it hears. A run of whole graphs has a run of entries, so what is computed for a large set of graphs
serves all batches that are cut from it.
"""

from __future__ import annotations

from functools import cached_property

import torch
from scipy.sparse import csr_array
from torch import Tensor


class Hearing:
    """``source [E + N]`` speaks in each entry; entries ``ptr[v] : ptr[v + 1]`` are those that node v hears.

    ``place [E]`` says which entry an edge became. ``outside [N]``, where given, is how many more each node hears in
    the larger graph that this one was taken out of: they have no entry but count in its degree.
    """

    def __init__(self, source: Tensor, ptr: Tensor, place: Tensor, outside: Tensor | None = None) -> None:
        self.source, self.ptr, self.place, self.outside = source, ptr, place, outside
        self._whole: tuple[Hearing, int, slice, slice] | None = None
        self._gcn: dict[torch.dtype, Tensor] = {}

    @classmethod
    def of(cls, edge_index: Tensor, num_nodes: int, outside: Tensor | None = None) -> Hearing:
        """The entries of edges ``[2, E]`` in any order."""
        source, target = edge_index
        rank = torch.arange(len(source), device=source.device)
        if not bool((target[1:] >= target[:-1]).all()):
            rank = torch.empty_like(rank).index_copy(0, torch.argsort(target, stable=True), rank)
        nodes = torch.arange(num_nodes, device=source.device)
        heard = torch.bincount(target, minlength=num_nodes) + 1
        place = rank + target  # each edge moves on by the selves before it
        ptr = torch.cat([heard.new_zeros(1), heard.cumsum(0)])
        entry = torch.empty(len(source) + num_nodes, dtype=torch.int64, device=source.device)
        return cls(entry.index_copy(0, place, source).index_copy(0, ptr[1:] - 1, nodes), ptr, place, outside)

    def part(self, nodes: slice, edges: slice) -> Hearing:
        """The entries of a run of whole graphs, given the runs of their nodes and edges: views, renumbered."""
        entries = slice(nodes.start + edges.start, nodes.stop + edges.stop)
        rows = slice(nodes.start, nodes.stop + 1)
        small = Hearing(
            self.source[entries] - nodes.start, self.ptr[rows] - entries.start, self.place[edges] - entries.start
        )
        small._whole = self, nodes.start, rows, entries
        return small

    @cached_property
    def target(self) -> Tensor:
        """Who hears each entry, ``[E + N]``."""
        if self._whole is not None:
            whole, first, _, entries = self._whole
            return whole.target[entries] - first
        return torch.arange(len(self.ptr) - 1, device=self.ptr.device).repeat_interleave(self.ptr.diff())

    @cached_property
    def matrix(self) -> tuple[Tensor, Tensor]:
        """Row pointers and columns of the matrix that sums, in the integers that sparse products want."""
        if self._whole is not None:
            whole, first, rows, entries = self._whole
            ptr, column = whole.matrix
            return ptr[rows] - entries.start, column[entries] - first
        return self.ptr.to(torch.int32), self.source.to(torch.int32)

    @cached_property
    def transposed(self) -> tuple[Tensor, Tensor, Tensor]:
        """Row pointers and columns of its transpose, and which entries the values of that are."""
        if self._whole is not None:
            whole, first, rows, entries = self._whole
            ptr, column, entry = whole.transposed
            return ptr[rows] - entries.start, column[entries] - first, entry[entries] - entries.start
        pointers, columns = (tensor.cpu().numpy() for tensor in self.matrix)
        numbers = torch.arange(len(columns)).numpy()
        size = len(pointers) - 1
        turned = csr_array((numbers, columns, pointers), shape=(size, size)).tocsc()
        device = self.ptr.device
        ptr, column = (torch.from_numpy(part).to(device, torch.int32) for part in (turned.indptr, turned.indices))
        return ptr, column, torch.from_numpy(turned.data).to(device)

    def gcn(self, dtype: torch.dtype) -> Tensor:
        """The entries of D̂^-½ Â D̂^-½ (Eq. 1), ``[E + N]``, when all is there."""
        if self._whole is not None:
            whole, _, _, entries = self._whole
            return whole.gcn(dtype)[entries]
        if dtype not in self._gcn:
            degree = self.ptr.diff() if self.outside is None else self.ptr.diff() + self.outside
            root = degree.to(dtype).rsqrt()
            self._gcn[dtype] = root[self.source] * root[self.target]
        return self._gcn[dtype]
