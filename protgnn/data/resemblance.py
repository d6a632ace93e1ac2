"""How alike two parts of graphs look, independent of any model.

Nodes are labelled by what they are, labels are refined twice with those of the neighbours and the edges to them
*inside the part* (Weisfeiler–Lehman), and the counts of all labels of the three rounds are compared:
``Σ min / Σ max``, the count-Tanimoto. Two parts that are drawn alike have 1, two that share no atom 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

ROUNDS = 2

Look = Counter[Hashable]
"""How often each label occurs in a part."""


@dataclass(frozen=True)
class Kinds:
    """What a person sees of one graph: a label per node, and the labelled edges of every node.

    Attributes:
        nodes: One label per node.
        edges: For every node its neighbours, each with the label of the edge to it.
    """

    nodes: Sequence[Hashable]
    edges: Sequence[Sequence[tuple[int, Hashable]]]


def look_of(kinds: Kinds, part: Sequence[int]) -> Look:
    """The labels of a part, counted over all rounds.

    Args:
        kinds: The graph.
        part: The nodes of the part.
    """
    inside = set(part)
    labels: dict[int, Hashable] = {node: kinds.nodes[node] for node in part}
    found: Look = Counter((0, label) for label in labels.values())
    for number in range(1, ROUNDS + 1):
        near = {node: [(edge, labels[other]) for other, edge in kinds.edges[node] if other in inside] for node in part}
        labels = {node: (labels[node], frozenset(Counter(near[node]).items())) for node in part}
        found.update((number, label) for label in labels.values())
    return found


def resemblance(one: Look, other: Look) -> float:
    """The count-Tanimoto of two looks, from 0 to 1."""
    shared = sum(min(count, other[label]) for label, count in one.items())
    return shared / (one.total() + other.total() - shared)
