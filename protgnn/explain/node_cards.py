"""Nodes of a network as a person knows them: what they are called, of what kind and class, and what stands out.

What stands out of a node are the features in which it differs most from the mean of the network, in the units of the
table that it was read from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.labels import UNKNOWN
from protgnn.data.network.network import Network

LEADING = 3
"""Features of a node that are told."""

_NAMED = 4  # nodes of a part that are called by name
_LETTERS = 40  # of a name
_STANDS_OUT = 0.5  # standard deviations from the mean of the network


@dataclass(frozen=True)
class NodeCard:
    """One node: its id, the kind that its columns say it is of, its labelled class, and its leading features, each a
    name and a value (a text that says when a column is only there or not)."""

    id: str
    kind: str | None
    label: str | None
    features: tuple[tuple[str, float], ...]

    def to_json(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {**asdict(self), "features": dict(self.features)}

    @property
    def beside(self) -> str:
        """Kind and class in few letters: ``b, dogs``."""
        return ", ".join(text.replace("degree", "deg.") for text in (self.kind, self.label) if text)

    def __str__(self) -> str:
        """All of it in a line: ``user-3: b, labelled dogs, age 41``."""
        said = [self.kind] if self.kind else []
        said += [f"labelled {self.label}"] if self.label else []
        said += [name if value == 1 else f"{name} {value:.3g}" for name, value in self.features]
        return f"{_short(self.id)}: {', '.join(said)}" if said else _short(self.id)


def node_cards(network: Network, nodes: Sequence[int]) -> list[NodeCard]:
    """The cards of some nodes of a network."""
    columns = network.schema.node_features
    kinds, mean, spread, binary = _usual(network)
    scale = network.schema.node_scale or tuple((0.0, 1.0) for _ in columns)
    cards = []
    for node in nodes:
        own = network.x[node].float()
        apart = ((own - mean) / spread.clamp(min=1e-9)).abs() * (spread > 0)
        apart[list(kinds)] = 0
        apart[binary & (own == 0)] = 0  # what is not there does not stand out
        order = apart.argsort(descending=True, stable=True)[:LEADING].tolist()
        features = tuple(
            (columns[column], float(own[column]) * scale[column][1] + scale[column][0])
            for column in order
            if column < len(columns) and float(apart[column]) > _STANDS_OUT
        )
        kind = next((name for column, name in kinds.items() if own[column] > 0), None)
        label = None if network.y is None else int(network.y[node])
        named = None if label in (None, UNKNOWN) else network.schema.class_names[int(label or 0)]
        cards.append(NodeCard(network.name(node), kind, named, features))
    return cards


def describe_nodes(cards: Sequence[NodeCard], edges: int) -> str:
    """Some nodes by name, what they are, and how they are joined:
    ``user-3, user-9 and 4 more (4× b, 2× a; 6× cats), 7 edges``."""
    shown = ", ".join(_short(card.id) for card in cards[:_NAMED])
    more = f" and {len(cards) - _NAMED} more" if len(cards) > _NAMED else ""
    counts = [Counter(card.kind for card in cards if card.kind), Counter(card.label for card in cards if card.label)]
    told = "; ".join(", ".join(f"{count}× {what}" for what, count in own.most_common(3)) for own in counts if own)
    joined = f", {edges} edge{'' if edges == 1 else 's'}" if len(cards) > 1 else ""
    return f"{shown}{more}{f' ({told})' if told else ''}{joined}"


def _short(name: str) -> str:
    return name if len(name) <= _LETTERS else name[: _LETTERS - 1] + "…"


@lru_cache(maxsize=2)
def _usual(network: Network) -> tuple[dict[int, str], Tensor, Tensor, Tensor]:
    """Of a network the columns of kinds, mean and standard deviation of every column, and which hold 0 and 1 alone."""
    x = network.x.float()
    return _kind_columns(network), x.mean(0), x.std(0, unbiased=False), ((x == 0) | (x == 1)).all(0)


def _kind_columns(network: Network) -> dict[int, str]:
    """The columns of the first table column that says what a node is, as in ``kind=a``, and what each says."""
    groups: dict[str, dict[int, str]] = {}
    for column in network.schema.kinds:
        name, sign, value = network.schema.node_features[column].rpartition("=")
        if sign:
            groups.setdefault(name, {})[column] = f"degree {value}" if name == "degree" else value
    for columns in groups.values():
        x = network.x[:, list(columns)]
        if len(columns) > 1 and bool(((x == 0) | (x == 1)).all()) and bool((x.sum(1) <= 1).all()):
            return columns
    return {}


def targets_first(nodes: Sequence[int], graph: GraphSet) -> list[int]:
    """Some nodes of a graph, those first that are asked about."""
    targets = [] if graph.targets is None else graph.targets[0].tolist()
    return sorted(nodes, key=lambda node: node not in targets)


def edges_between(edge_index: Tensor, nodes: Sequence[int]) -> int:
    """How many undirected edges lie between some nodes of a graph."""
    chosen = set(nodes)
    return sum(a < b and a in chosen and b in chosen for a, b in edge_index.t().tolist())
