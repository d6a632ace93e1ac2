"""When two parts look the same: by what a person sees of them, not by what a model has learned."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.data.resemblance import ROUNDS, look_of
from protgnn.featurizers.kinds import kinds_of
from protgnn.training.edits import ForbiddenPart

LookKey = frozenset[tuple[Hashable, int]]
"""The labels of a part and how often each occurs: equal for two parts whose resemblance is 1."""


def look_key(graph: GraphSet, nodes: Sequence[int]) -> LookKey:
    """The look of some nodes of one graph, a set of one."""
    return frozenset(look_of(kinds_of(graph), nodes).items())


def look_size(look: LookKey) -> int:
    """How many nodes a part of that look has."""
    return sum(count for _, count in look) // (ROUNDS + 1)


def training_look(train: Instances, graph: int, nodes: Sequence[int]) -> LookKey:
    """The look of some nodes of a training graph."""
    return look_key(train[[graph]].ego_graphs(), nodes)


def forbidden_looks(train: Instances, forbidden: Iterable[ForbiddenPart]) -> dict[LookKey, str]:
    """The looks that no prototype may have, and how the user wrote each."""
    return {training_look(train, part.graph, part.nodes): one.text for one in forbidden for part in one.parts}
