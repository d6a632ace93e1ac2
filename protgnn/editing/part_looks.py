"""A hashable key for how a part looks, independent of any model: see :mod:`protgnn.data.resemblance`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.data.resemblance import ROUNDS, look_of
from protgnn.featurizers.kinds import kinds_of
from protgnn.training.edits import ForbiddenPart

LookKey = frozenset[tuple[Hashable, int]]
"""The labels of a part with their counts. Two parts have equal keys if and only if their resemblance is 1."""


def look_key(graph: GraphSet, nodes: Sequence[int]) -> LookKey:
    """The look of some nodes of a set of one graph."""
    return frozenset(look_of(kinds_of(graph), nodes).items())


def look_size(look: LookKey) -> int:
    """The number of nodes of a part with this look."""
    return sum(count for _, count in look) // (ROUNDS + 1)


def training_look(train: Instances, graph: int, nodes: Sequence[int]) -> LookKey:
    """The look of some nodes of a training graph."""
    return look_key(train[[graph]].ego_graphs(), nodes)


def forbidden_looks(train: Instances, forbidden: Iterable[ForbiddenPart]) -> dict[LookKey, str]:
    """The looks that no prototype may have, each with the text that the user wrote."""
    return {training_look(train, part.graph, part.nodes): one.text for one in forbidden for part in one.parts}
