"""``fidelity_plus``, the same for every method: remove what a method ranks highest, and see what its model then says.

From each graph the highest edges are removed, with every node that loses its last edge; a target node stays. What
counts is by how much the probability of the class falls that the method's own model predicted. As many edges are
removed as the evidence of ProtGNN+ has on that graph; a fifth of the edges where that is not known or has none.

ProtGNN+ may be trained after the others, so a run keeps what happens for every number of edges up to ``MOST``, graph by
graph; :func:`fidelity_plus` then reads what it needs.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from protgnn.data.batch import ragged_arange
from protgnn.data.graph_set import GraphSet
from protgnn.data.subgraph import cut

FIFTH = 0.2
MOST = 16
ASKED = 100
"""Graphs from which edges are removed, the first ones."""

Logits = Callable[[GraphSet], Tensor]
"""The logits ``[G, C]`` of a method's own model."""


def drops(graphs: GraphSet, edge: Tensor, logits: Logits, seed: int = 0) -> list[list[float]]:
    """By how much the probability of the predicted class falls: per graph for a fifth of the edges, then for 1, 2, …,
    ``MOST`` of them. ``edge [E]`` are scores; equal ones are ordered by chance."""
    graphs = graphs[: min(len(graphs), ASKED)]
    generator = torch.Generator().manual_seed(seed)
    index, masks = [], []
    for number in range(len(graphs)):
        own = slice(int(graphs.edge_ptr[number]), int(graphs.edge_ptr[number + 1]))
        ends = graphs.edge_index[:, own]
        order = ranked_edges(ends, edge[own], generator)
        for size in (max(1, round(FIFTH * len(order))), *range(1, MOST + 1)):
            gone = torch.zeros(ends.shape[1], dtype=torch.bool)
            for pair in order[:size]:
                gone[pair] = True
            index.append(number)
            masks.append(gone)
    before = logits(graphs).softmax(1)
    predicted = before.argmax(1)
    after = _probabilities_without(graphs, torch.tensor(index), torch.cat(masks), logits, before.shape[1])
    rows = torch.tensor(index)
    fall = before[rows, predicted[rows]] - after[torch.arange(len(rows)), predicted[rows]]
    found: list[list[float]] = fall.reshape(len(graphs), MOST + 1).tolist()
    return found


def ranked_edges(ends: Tensor, score: Tensor, generator: torch.Generator) -> list[list[int]]:
    """The undirected edges of one graph, ``[2, E], [E]``, highest first, each as the places of its two directions."""
    places: dict[tuple[int, int], list[int]] = {}
    for place, (source, target) in enumerate(ends.t().tolist()):
        places.setdefault((min(source, target), max(source, target)), []).append(place)
    pairs = list(places.values())
    shuffled = [pairs[number] for number in torch.randperm(len(pairs), generator=generator).tolist()]
    return sorted(shuffled, key=lambda pair: -max(float(score[place]) for place in pair))


def _probabilities_without(graphs: GraphSet, index: Tensor, gone: Tensor, logits: Logits, classes: int) -> Tensor:
    """Probabilities ``[S, C]`` of graphs ``index [S]`` without the edges that are ``gone``, a bool per edge of each of
    them; where nothing is left, every class has the same."""
    counts = graphs.node_counts[index]
    edges = ragged_arange(graphs.edge_ptr[:-1][index], graphs.edge_counts[index])
    first = (counts.cumsum(0) - counts).repeat_interleave(graphs.edge_counts[index])
    ends = graphs.edge_index[:, edges] + first
    total = int(counts.sum())
    if graphs.targets is not None:
        keeps = torch.ones(total, dtype=torch.bool)
        rest = cut(graphs, index, keeps, ~gone)
        if graphs.missing_degree is not None:
            nodes = ragged_arange(graphs.node_ptr[:-1][index], counts)
            rest = replace(rest, missing_degree=graphs.missing_degree[nodes])
        return logits(rest).softmax(1)
    had = torch.zeros(total, dtype=torch.bool).index_fill(0, ends.flatten(), True)
    has = torch.zeros(total, dtype=torch.bool).index_fill(0, ends[:, ~gone].flatten(), True)
    keeps = has | ~had
    owner = torch.arange(len(index)).repeat_interleave(counts)
    some = torch.bincount(owner[keeps], minlength=len(index)) > 0
    found = torch.full((len(index), classes), 1 / classes)
    if bool(some.any()):
        edge_owner = torch.arange(len(index)).repeat_interleave(graphs.edge_counts[index])
        rest = cut(graphs, index[some], keeps[some[owner]], ~gone[some[edge_owner]])
        found[some] = logits(rest).softmax(1)
    return found


def packed(found: Sequence[Sequence[float]]) -> str:
    """Drops as thousandths in one text: ``120 30 …;…``, a graph between semicolons."""
    return ";".join(" ".join(str(round(1000 * value)) for value in row) for row in found)


def fidelity_plus(text: str, sizes: Sequence[int] | None) -> float:
    """The mean drop of packed drops, each for the number of edges in ``sizes``; a fifth of the edges for 0 or none."""
    rows = [[int(value) / 1000 for value in row.split(" ")] for row in text.split(";")]
    if sizes is None:
        return statistics.mean(row[0] for row in rows)
    return statistics.mean(row[min(size, MOST)] for row, size in zip(rows, sizes, strict=True))
