"""Instances: what gets a label. A graph, or one or two target nodes of a network, behind the same few methods.

Models are trained and used on instances of either kind in the same way. Instances come in two forms. To be encoded as a
whole, targets of a small network share one pass over it, and those of a large one come with a sample of their
computation graph. As *ego graphs*, each is a graph of its own that can be searched, cut and drawn; of a network that is
what is nearest to the targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from protgnn.data.batch import Batch, numbers
from protgnn.data.graph_set import GraphSet
from protgnn.data.labels import UNKNOWN, label_names
from protgnn.data.network.computation_graphs import computation_graphs
from protgnn.data.network.ego import near_targets
from protgnn.data.network.link_split import LinkPart
from protgnn.data.network.network import Network
from protgnn.data.schema import Schema
from protgnn.data.subgraph import cut

Steps = Callable[[int], bool]
"""Says of the number of a training step whether something holds for it."""

CUT_AT_ONCE = 64
"""Computation graphs that are made in one go before they are cut down to the surroundings of their targets; with hubs
each may be the whole network."""

SAMPLED_AT_ONCE = 64
"""Computation graphs that are encoded in one call: enough to fill it, few enough to stay in a processor's cache."""

KEPT_NODES = 1_000_000
"""Nodes of all ego graphs up to which these are made once and kept, rather than made again for each use."""


class Instances(Protocol):
    """G instances of one schema, perhaps with labels ``y [G]``; a ``GraphSet`` is one kind of them."""

    @property
    def y(self) -> Tensor | None: ...

    @property
    def schema(self) -> Schema: ...

    @property
    def names(self) -> tuple[str, ...] | None: ...

    @property
    def num_targets(self) -> int:
        """How many target nodes an instance has: none, one or two."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any) -> Instances:
        """Some of them, by number, slice, list, mask or tensor."""

    def without_metadata(self) -> Instances:
        """The same without what encoding does not need."""

    def ego_graphs(self) -> GraphSet:
        """Each as a graph of its own."""

    def batches(self, size: int, ego: bool = False) -> Iterator[Batch]:
        """All of them in order to be encoded, about ``size`` at a time; with ``ego`` as ego graphs."""

    def shuffled(self, order: Tensor, size: int, rng: torch.Generator, ego: Steps) -> Iterator[Batch]:
        """All of them in the order ``[G]`` to be trained on, ``size`` in each step. ``rng`` draws neighbours where
        they are sampled; ``ego`` says of a step whether its instances come as ego graphs."""


@dataclass(frozen=True)
class Reach:
    """How far an instance of a network goes.

    An encoder gets messages from up to ``hops`` away, each node from at most ``fanout`` sampled neighbours (all if
    none); the ego graph of an instance has the ``nodes`` nearest to its targets. Outside of training, ``seed`` decides
    which neighbours are sampled.
    """

    hops: int = 3
    fanout: int | None = None
    nodes: int = 30
    seed: int = 0


@dataclass(frozen=True, eq=False)
class NetworkInstances:
    """Target nodes ``[G, 1]`` or pairs of nodes ``[G, 2]`` of a network, with classes ``y [G]`` where all are known."""

    network: Network
    targets: Tensor
    y: Tensor | None
    schema: Schema
    reach: Reach = field(default_factory=Reach)

    @classmethod
    def of_nodes(cls, network: Network, nodes: Tensor) -> NetworkInstances:
        """Nodes ``[G]``, labelled if every one of them is."""
        y = None if network.y is None else network.y[nodes]
        unknown = y is None or bool((y == UNKNOWN).any())
        return cls(network, nodes.reshape(-1, 1), None if unknown else y, network.schema)

    @classmethod
    def of_links(cls, part: LinkPart) -> NetworkInstances:
        """The pairs of a part of a link task."""
        return cls(part.network, part.pairs, part.y, part.network.schema)

    def __repr__(self) -> str:
        """In a line: tensors would fill the screen."""
        return f"NetworkInstances({len(self)} {'nodes' if self.num_targets == 1 else 'pairs'} of {self.network!r})"

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def shape(self) -> tuple[int]:
        """``(G,)``: what scikit-learn asks of anything it splits."""
        return (len(self),)

    @property
    def num_targets(self) -> int:
        return self.targets.shape[1]

    @property
    def labels(self) -> np.ndarray:
        """The name of the class of each target, ``[G]``: what predictions are compared with."""
        return label_names(self.y, self.schema.class_names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the targets are called."""
        return tuple(" – ".join(map(self.network.name, row)) for row in self.targets.tolist())

    def __getitem__(self, index: Any) -> NetworkInstances:
        if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:  # how scikit-learn asks
            index = index[0]
        chosen = index if isinstance(index, slice) else numbers(index, len(self))
        return replace(self, targets=self.targets[chosen], y=None if self.y is None else self.y[chosen])

    def without_metadata(self) -> NetworkInstances:
        return self

    def reaching(self, reach: Reach) -> NetworkInstances:
        """The same instances as a model of that reach sees them."""
        return replace(self, reach=reach)

    def ego_graphs(self) -> GraphSet:
        return self._kept_ego_graphs if self._few else self._make_ego_graphs()

    def batches(self, size: int, ego: bool = False) -> Iterator[Batch]:
        if not ego and self._as_one:
            yield self._whole(slice(None))
            return
        if ego and self._few:
            yield from self._kept_ego_graphs.batches(size)
            return
        size = min(size, SAMPLED_AT_ONCE)
        for start in range(0, len(self), size):
            some = self[start : start + size]
            yield (some.ego_graphs() if ego else some._graphs(self.reach.seed)).batch()

    def shuffled(self, order: Tensor, size: int, rng: torch.Generator, ego: Steps) -> Iterator[Batch]:
        for step, start in enumerate(range(0, len(order), size)):
            index = order[start : start + size]
            if ego(step):
                yield self._kept_ego_graphs.batch(index) if self._few else self[index].ego_graphs().batch()
            elif self._as_one:
                yield self._whole(index)
            else:
                yield self[index]._graphs(rng).batch()

    @cached_property
    def _as_one(self) -> bool:
        """Whether one pass over the network serves all targets: the link between a pair must not be there."""
        return self.reach.fanout is None and (self.num_targets < 2 or not bool(self.network.joined(self.targets).any()))

    def _whole(self, index: Tensor | slice) -> Batch:
        batch = self.network.whole(self.targets[index])
        labelled = replace(batch, y=None if self.y is None else self.y[index])
        labelled.__dict__["adjacency"] = batch.adjacency
        return labelled

    def _graphs(self, rng: torch.Generator | int) -> GraphSet:
        """The computation graphs."""
        found = computation_graphs(self.network, self.targets, self.reach.hops, self.reach.fanout, rng)
        return replace(found, y=self.y, schema=self.schema)

    @property
    def _few(self) -> bool:
        return len(self) * self.reach.nodes <= KEPT_NODES

    @cached_property
    def _kept_ego_graphs(self) -> GraphSet:
        return self._make_ego_graphs()

    def _make_ego_graphs(self) -> GraphSet:
        parts = [self[start : start + CUT_AT_ONCE] for start in range(0, len(self), CUT_AT_ONCE)]
        return GraphSet.concatenate([part._near_targets() for part in parts or [self]])

    def _near_targets(self) -> GraphSet:
        graphs = self._graphs(self.reach.seed)
        return cut(graphs, torch.arange(len(graphs)), near_targets(graphs, self.reach.nodes))
