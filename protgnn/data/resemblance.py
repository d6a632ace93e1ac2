"""The resemblance of two parts of graphs: how similar their pictures are, independent of any model.

Each node starts with a label for its visible features. Two rounds of Weisfeiler–Lehman refinement add the labels of the
neighbours *inside the part* and of the edges to them. The *look* of a part is the multiset of the labels of all three
rounds; the resemblance of two looks is their count-Tanimoto similarity, ``Σ min / Σ max``. It is 1 for two parts with
the same picture and 0 for two without a common node label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

ROUNDS = 2

Look = Counter[Hashable]
"""How often each Weisfeiler–Lehman label occurs in a part."""


@dataclass(frozen=True)
class Kinds:
    """The visible labels of one graph.

    Attributes:
        nodes: A label for each node.
        edges: For each node its neighbours, each with the label of the edge to it.
    """

    nodes: Sequence[Hashable]
    edges: Sequence[Sequence[tuple[int, Hashable]]]


def look_of(kinds: Kinds, part: Sequence[int]) -> Look:
    """Count the labels of a part over all rounds.

    Args:
        kinds: The labels of the graph.
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
    """The count-Tanimoto similarity ``Σ min / Σ max`` of two looks, from 0 to 1."""
    shared = sum(min(count, other[label]) for label, count in one.items())
    return shared / (one.total() + other.total() - shared)
