"""The units of whole batches, each graph looked at once: what a search and a sampler ask again and again."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from protgnn.data.batch import Batch
from protgnn.data.schema import Schema
from protgnn.data.units import Units
from protgnn.featurizers.part_rule import PartRule

KEPT = 20_000
"""Graphs whose units are remembered."""


class BatchUnits:
    """Says what belongs together in graphs of one schema: rings and functional groups of molecules, and nodes that are
    ``bound`` to each other, such as the words of a compound."""

    def __init__(self, rule: PartRule) -> None:
        self._rule = rule
        self._known: OrderedDict[int, Units] = OrderedDict()

    @classmethod
    def of(cls, schema: Schema) -> BatchUnits | None:
        """For graphs of that schema; none where every node stands for itself."""
        rule = PartRule.of(schema)
        return cls(rule) if rule.has_units or schema.kind == "sentence" else None

    def __deepcopy__(self, memo: Any) -> BatchUnits:
        return self  # copies of a model see the same graphs

    def __call__(self, batch: Batch) -> list[Units] | None:
        """The units of every graph; none where every node stands for itself."""
        if not self._rule.has_units and batch.bound is None:
            return None
        batch = batch.to("cpu")
        keys = graph_keys(batch)
        missing = [number for number, key in enumerate(keys) if key not in self._known]
        if missing:
            found = self._rule.units(batch) if self._rule.has_units else bound_units(batch)
            self._known.update(zip(keys, found, strict=True))
        units = [self._known[key] for key in keys]
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return units


def bound_units(batch: Batch) -> list[Units]:
    """Nodes that are joined by bound edges, together."""
    assert batch.bound is not None
    size, (source, target) = len(batch.x), batch.edge_index.numpy()
    tied = batch.bound.numpy()
    _, group = connected_components(
        coo_array((np.ones(int(tied.sum())), (source[tied], target[tied])), shape=(size, size)), directed=False
    )
    graph, counts = batch.batch.numpy(), batch.node_counts.numpy()
    local = np.arange(size) - np.repeat(np.cumsum(counts) - counts, counts)
    neighbours = [[0] * count for count in counts.tolist()]
    for start, end in zip(source.tolist(), target.tolist(), strict=True):
        neighbours[graph[end]][local[end]] |= 1 << int(local[start])
    groups: list[dict[int, int]] = [{} for _ in neighbours]
    for node, number in enumerate(group.tolist()):
        own = groups[graph[node]]
        own[number] = own.get(number, 0) | 1 << int(local[node])
    return [
        Units(tuple(near), tuple(mask for mask in own.values() if mask.bit_count() > 1))
        for near, own in zip(neighbours, groups, strict=True)
    ]


def graph_keys(batch: Batch) -> list[int]:
    """A number for each graph of a batch that is equal for equal graphs, and for others but for chance."""
    counts = batch.node_counts.numpy()
    stop = np.cumsum(counts)
    owner = batch.batch.numpy()[batch.edge_index[1].numpy()]
    order = np.argsort(owner, kind="stable")
    edge_stop = np.cumsum(np.bincount(owner, minlength=batch.num_graphs))
    first = np.repeat(stop - counts, np.diff(edge_stop, prepend=0))[:, None]
    columns = [np.ascontiguousarray(batch.edge_index.numpy().T[order] - first)]
    for tensor in (batch.edge_attr, batch.bound):
        if tensor is not None:
            columns.append(np.ascontiguousarray(tensor.numpy()[order]))
    x = np.ascontiguousarray(batch.x.numpy())
    keys = []
    for number in range(batch.num_graphs):
        nodes = slice(int(stop[number] - counts[number]), int(stop[number]))
        edges = slice(int(edge_stop[number - 1]) if number else 0, int(edge_stop[number]))
        keys.append(hash((x[nodes].tobytes(), *(column[edges].tobytes() for column in columns))))
    return keys
