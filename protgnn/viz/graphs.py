"""Graphs that are neither molecules nor sentences: a layout that is the same every time, and kinds in the nodes."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from protgnn.data.graph_set import GraphSet
from protgnn.explain.node_cards import NodeCard
from protgnn.viz.nearest import nearest_nodes
from protgnn.viz.picture import Picture, Spot
from protgnn.viz.svg_text import body_text, shortened, text_width

_EDGE = 34.0  # how long a typical edge is drawn
_RADIUS = 8.0
_RING = 3.5  # how far outside of a node its ring runs
_ROOM = 2 * (_RADIUS + _RING) + 1  # from node to node at the least: two rings side by side
_MOST_NODES_OF_KAMADA_KAWAI = 80  # it is the prettier layout, and cubic
_FLATTER = 0.8  # how near nodes with names may be from above to below
_WIDEST = 84.0  # the text in a node
_MOST_KINDS = 30
_MOST_PUSHES = 200
_MOST_NODES = 250  # of a larger graph only the surroundings of what matters can be seen


def draw_graph(
    graph: GraphSet,
    only: Collection[int] | None = None,
    focus: Collection[int] = (),
    cards: Sequence[NodeCard] | None = None,
) -> Picture:
    """Draw one graph as nodes and edges.

    Of a graph that is too large, the nodes nearest to ``only``, ``focus`` and the targets are drawn, and the note says
    so.

    Args:
        graph: A set of one graph.
        only: The nodes to emphasise; the others are pale. ``None`` emphasises all.
        focus: Further nodes that must be in the picture.
        cards: In a network, the name, kind and class of each node, to be written into it.
    """
    targets = set() if graph.targets is None else set(graph.targets[0].tolist())
    pairs = graph.edge_index.t().numpy()
    nearest = nearest_nodes(len(graph.x), pairs, [*sorted(targets), *(only or ()), *focus], _MOST_NODES)
    chosen: list[int] = nearest.tolist()
    shown = np.zeros(len(graph.x), dtype=bool)
    shown[nearest] = True
    pairs = pairs[shown[pairs].all(1)]
    edges = sorted({(min(a, b), max(a, b)) for a, b in pairs.tolist() if a != b})
    hints = node_hints(graph)
    signs = {node: _circle(hints[node]) if cards is None else _label(cards[node]) for node in chosen}
    spots, width, height = _spots(signs, edges, named=cards is not None)
    links = {(a, b): f"M{spots[a].x:.1f} {spots[a].y:.1f}L{spots[b].x:.1f} {spots[b].y:.1f}" for a, b in edges}
    emphasised = set(chosen) if only is None else set(only)
    svg = [
        f'<path d="{path}" stroke="{{{_ink({a, b}, emphasised)}}}" stroke-width="1.6" fill="none"/>'
        for (a, b), path in links.items()
    ]
    for node, spot in spots.items():
        svg.append(signs[node].drawn(spot.x, spot.y, "{" + _ink({node}, emphasised) + "}", node in targets))
    notes = [f"{len(chosen)} of {len(graph.x)} nodes are shown"] if len(chosen) < len(graph.x) else []
    notes += _legend(graph, len(targets), hints, None if cards is None else [cards[node] for node in chosen])
    return Picture(width, height, "".join(svg), spots, links, note="; ".join(notes))


def _spots(signs: dict[int, _Sign], edges: list[tuple[int, int]], named: bool) -> tuple[dict[int, Spot], float, float]:
    """Where each sign is drawn, and the width and height of the picture; ``named`` signs are wide."""
    width, height = (max(getattr(sign, side) for sign in signs.values()) for side in ("width", "height"))
    room = width + 4 * _RING + 1 if named else _ROOM
    position = {node: number for number, node in enumerate(signs)}
    points = _layout(len(signs), [(position[a], position[b]) for a, b in edges], max(_EDGE, 1.1 * room), room)
    if named:
        points = _lying(points)
    left = min(x for x, _ in points) - width / 2 - 6
    top = min(y for _, y in points) - height / 2 - 6
    right = max(x for x, _ in points) + width / 2 + 6
    bottom = max(y for _, y in points) + height / 2 + 6
    spots = {
        node: Spot(x - left, y - top, sign.width + 11, sign.height + 11)
        for (node, sign), (x, y) in zip(signs.items(), points, strict=True)
    }
    return spots, right - left, bottom - top


def _legend(graph: GraphSet, targets: int, hints: list[str], cards: list[NodeCard] | None) -> list[str]:
    """What rings and texts in the picture mean, given the cards of the nodes drawn, if they have any."""
    notes = []
    if targets:
        notes.append("ring: the node you asked about" if targets == 1 else "rings: the nodes you asked about")
    if cards is not None:
        written = [what for what in ("kind", "label") if any(getattr(card, what) for card in cards)]
        notes += [f"below each name: {' and '.join(written)} of the node"] if written else []
    elif any(hints) and (kind := _kind(graph)):
        notes.append(f"in the nodes: {kind}")
    return notes


@dataclass(frozen=True)
class _Sign:
    """What a node is drawn as: a box with round ends, and lines of text in it, the first of them larger."""

    width: float
    height: float
    lines: tuple[str, ...]
    size: float

    def drawn(self, x: float, y: float, ink: str, ringed: bool) -> str:
        """The sign around a point; what is asked about has a ring around it."""
        parts = [self._box(x, y, 0.0, ink, "{paper}")]
        if ringed:
            parts.append(self._box(x, y, _RING, ink, "none"))
        down = y + 0.36 * self.size - 5.0 * (len(self.lines) - 1)
        for number, line in enumerate(self.lines):
            size = self.size if not number else 0.82 * self.size
            parts.append(
                f'<text x="{x:.1f}" y="{down + 10.0 * number:.1f}" font-size="{size:g}" fill="{ink}" '
                f'text-anchor="middle">{body_text(line)}</text>'
            )
        return "".join(parts)

    def _box(self, x: float, y: float, wider: float, ink: str, fill: str) -> str:
        width, height = self.width + 2 * wider, self.height + 2 * wider
        if width == height:
            return (
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{width / 2:g}" fill="{fill}" stroke="{ink}" stroke-width="1.6"/>'
            )
        return (
            f'<rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'rx="{min(width, height) / 2:.1f}" fill="{fill}" stroke="{ink}" stroke-width="1.6"/>'
        )


def _circle(hint: str) -> _Sign:
    return _Sign(2 * _RADIUS, 2 * _RADIUS, (hint,) if hint else (), 9.0 if len(hint) < 3 else 7.0)


def _label(card: NodeCard) -> _Sign:
    lines = tuple(shortened(text, _WIDEST, 10.0) for text in (card.id, card.beside) if text)
    wide = max(text_width(line, 10.0 if not number else 8.2) for number, line in enumerate(lines))
    return _Sign(max(wide + 14, 2 * _RADIUS), 18.0 if len(lines) == 1 else 28.0, lines, 10.0)


def node_hints(graph: GraphSet) -> list[str]:
    """A short text per node where its columns are kinds with names."""
    columns = graph.schema.kinds
    names = [graph.schema.node_features[column] for column in columns]
    if len(graph.schema.node_features) != graph.x.shape[1]:
        return [""] * len(graph.x)
    x = graph.x[:, columns]
    one_hot = bool(((x == 0) | (x == 1)).all()) and bool((x.sum(1) == 1).all())
    if not one_hot or not 1 < len(names) <= _MOST_KINDS:
        return [""] * len(x)
    kinds = x.argmax(1).tolist()
    return [names[kind].rpartition("=")[2][:3] for kind in kinds]


def _kind(graph: GraphSet) -> str:
    """What the texts in the nodes are kinds of, where the names of all columns say the same, as in ``degree=3``."""
    kinds = {graph.schema.node_features[column].rpartition("=")[0] for column in graph.schema.kinds}
    return kinds.pop() if len(kinds) == 1 else ""


def _ink(nodes: set[int], kept: set[int]) -> str:
    """Which colour of the theme: what does not matter is pale."""
    return "ink" if nodes <= kept else "faint"


def _layout(nodes: int, edges: list[tuple[int, int]], edge: float, room: float) -> list[tuple[float, float]]:
    """Where the nodes are, the same for the same graph; parts that hang apart stand in a row, the largest first. A
    typical edge is ``edge`` long, and nodes are ``room`` apart at the least."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(edges)
    places: dict[int, tuple[float, float]] = {}
    right = 0.0
    for part in sorted(nx.connected_components(graph), key=lambda part: (-len(part), min(part))):
        found = _connected_layout(nx.Graph(graph.subgraph(sorted(part))), edge, room)
        left = min(x for x, _ in found.values())
        centre = sum(y for _, y in found.values()) / len(found)
        for node, (x, y) in found.items():
            places[node] = (x - left + right, y - centre)
        right = max(places[node][0] for node in part) + 1.5 * edge
    return [places[node] for node in range(nodes)]


def _lying(places: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Places turned so that they are wider than high, and nearer to each other from above to below: names are wide."""
    points = np.array(places) - np.mean(places, axis=0)
    _, _, axes = np.linalg.svd(points, full_matrices=False)
    turned = points @ np.array([axes[0], [-axes[0][1], axes[0][0]]]).T
    return [(float(x), _FLATTER * float(y)) for x, y in turned]


def _connected_layout(graph: Any, edge: float, room: float) -> dict[int, tuple[float, float]]:
    import networkx as nx

    if len(graph) == 1:
        return dict.fromkeys(graph, (0.0, 0.0))
    if len(graph) <= _MOST_NODES_OF_KAMADA_KAWAI:
        found = nx.kamada_kawai_layout(graph)
    else:
        found = nx.spring_layout(graph, seed=0, iterations=60)
    lengths = [math.dist(found[a], found[b]) for a, b in graph.edges]
    scale = edge / max(sum(lengths) / len(lengths), 1e-9)
    spread = _spread(np.array([found[node] for node in graph]) * scale, room)
    return {int(node): (float(x), float(y)) for node, (x, y) in zip(graph, spread, strict=True)}


def _spread(places: np.ndarray, room: float) -> np.ndarray:
    """Places ``[N, 2]`` with nodes closer than ``room`` pushed apart, pair by pair and a little at a time."""
    one, other = np.triu_indices(len(places), 1)
    turn = one + 2.4 * other  # nodes at one and the same place go apart at angles of their own
    for _ in range(_MOST_PUSHES):
        apart = places[other] - places[one]
        distance = np.hypot(*apart.T)
        close = distance < room - 0.1
        if not close.any():
            break
        same = distance < 1e-6
        apart[same] = np.stack([np.cos(turn[same]), np.sin(turn[same])], axis=1)
        push = 0.5 * (apart / np.where(same, 1.0, distance)[:, None] * (room - distance)[:, None])[close]
        places = places.copy()
        np.add.at(places, one[close], -0.6 * push)
        np.add.at(places, other[close], 0.6 * push)
    return places
