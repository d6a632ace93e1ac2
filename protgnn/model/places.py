"""Where prototypes are found in graphs: the best part of each graph, and every other place that looks alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from protgnn.data.parts import PartSet

NODE_COST = 0.01
"""Similarity that a node of evidence must earn: of two parts as good as each other the smaller is shown."""


@dataclass(frozen=True, eq=False)
class Places:
    """Where prototypes are found: entry i says that part ``row[i]`` of graph ``graph[i]`` is a place for prototype
    ``column[i]``; the best of each graph and prototype, ``best [B, K]``, is always one, and comes first."""

    graph: Tensor
    row: Tensor
    column: Tensor
    best: Tensor

    def values(self, similar: Tensor, counts: Tensor) -> Tensor:
        """``[P, K], [K] → [B, K]``: the similarity of the best place, or where each ``counts`` the sum over all."""
        single = similar.gather(0, self.best)
        each = similar[self.row, self.column]
        total = torch.zeros_like(single).index_put((self.graph, self.column), each, accumulate=True)
        return torch.where(counts[None], total, single)


def best_parts(similar: Tensor, parts: PartSet) -> Tensor:
    """Of each graph's parts the one with the highest similarity less its cost, the first of equals, ``[B, K]``."""
    cost = torch.from_numpy(parts.nodes).to(similar.dtype) * NODE_COST
    merit = (similar.detach() - cost[:, None]).round(decimals=4).nan_to_num(nan=-torch.inf)  # NaN is told of later
    lengths = torch.from_numpy(np.diff(parts.ptr))
    top = torch.segment_reduce(merit, "max", lengths=lengths, axis=0)
    rows = torch.arange(len(merit), dtype=torch.float64)[:, None].expand_as(merit)
    rows = torch.where(merit >= top[torch.from_numpy(parts.graph)], rows, float(len(merit)))
    return torch.segment_reduce(rows, "min", lengths=lengths, axis=0).long()


def find_places(similar: Tensor, alike: Tensor, parts: PartSet) -> Places:
    """The best part for each prototype, and every other that looks ``alike [P, K]`` and shares less than half of its
    nodes with better places, the best first."""
    best = best_parts(similar, parts)
    graphs, columns = best.shape
    first, masks = best.tolist(), parts.masks
    owner = torch.from_numpy(parts.graph)
    several = torch.zeros(graphs, columns).index_add(0, owner, alike.float()) > 1
    row, column = (alike & several[owner]).nonzero(as_tuple=True)
    order = torch.argsort(-similar.detach()[row, column].round(decimals=4), stable=True)
    taken: dict[tuple[int, int], int] = {}
    further: list[tuple[int, int, int]] = []
    for part, prototype, graph in zip(
        row[order].tolist(), column[order].tolist(), owner[row[order]].tolist(), strict=True
    ):
        held = taken.get((graph, prototype), masks[first[graph][prototype]])
        if part != first[graph][prototype] and 2 * (held & masks[part]).bit_count() < masks[part].bit_count():
            taken[graph, prototype] = held | masks[part]
            further.append((graph, part, prototype))
    rest = torch.tensor(further, dtype=torch.int64).reshape(-1, 3).t()
    every = torch.arange(graphs)[:, None].expand(-1, columns).reshape(-1)
    each = torch.arange(columns)[None].expand(graphs, -1).reshape(-1)
    return Places(torch.cat([every, rest[0]]), torch.cat([best.reshape(-1), rest[1]]), torch.cat([each, rest[2]]), best)
