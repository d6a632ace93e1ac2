"""Graphs that are neither molecules nor sentences: a layout that is the same every time, and kinds in the nodes."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from protgnn.data.graph_set import GraphSet
from protgnn.viz.nearest import nearest_nodes
from protgnn.viz.picture import Picture, Spot
from protgnn.viz.svg_text import body_text

_EDGE = 34.0  # how long a typical edge is drawn
_RADIUS = 8.0
_RING = 3.5  # how far outside of a node its ring runs
_ROOM = 2 * (_RADIUS + _RING) + 1  # from node to node at the least: two rings side by side
_MOST_NODES_OF_KAMADA_KAWAI = 80  # it is the prettier layout, and cubic
_MOST_KINDS = 30
_MOST_PUSHES = 200
_MOST_NODES = 250  # of a larger graph only the surroundings of what matters can be seen


def draw_graph(graph: GraphSet, only: Collection[int] | None = None, focus: Collection[int] = ()) -> Picture:
    """One graph; with ``only`` some nodes matter, and the rest is there but pale.

    Of a graph that is too large to be seen, the nodes nearest to ``focus`` are shown, and the picture says so.
    """
    targets = set() if graph.targets is None else set(graph.targets[0].tolist())
    pairs = graph.edge_index.t().numpy()
    nearest = nearest_nodes(len(graph.x), pairs, [*sorted(targets), *(only or ()), *focus], _MOST_NODES)
    chosen: list[int] = nearest.tolist()
    shown = np.zeros(len(graph.x), dtype=bool)
    shown[nearest] = True
    pairs = pairs[shown[pairs].all(1)]
    edges = sorted({(min(a, b), max(a, b)) for a, b in pairs.tolist() if a != b})
    position = {node: place for place, node in enumerate(chosen)}
    places = _layout(len(chosen), [(position[a], position[b]) for a, b in edges])
    margin = _RADIUS + 6
    left, top = (min(place[axis] for place in places) - margin for axis in (0, 1))
    right, bottom = (max(place[axis] for place in places) + margin for axis in (0, 1))
    size = 2 * _RADIUS + 11
    spots = {node: Spot(x - left, y - top, size, size) for node, (x, y) in zip(chosen, places, strict=True)}
    links = {(a, b): f"M{spots[a].x:.1f} {spots[a].y:.1f}L{spots[b].x:.1f} {spots[b].y:.1f}" for a, b in edges}
    kept = set(chosen) if only is None else set(only)
    hints = node_hints(graph)
    parts = [
        f'<path d="{path}" stroke="{{{_ink({a, b}, kept)}}}" stroke-width="1.6" fill="none"/>'
        for (a, b), path in links.items()
    ]
    for number, spot in spots.items():
        centre, ink = f'cx="{spot.x:.1f}" cy="{spot.y:.1f}"', "{" + _ink({number}, kept) + "}"
        parts.append(f'<circle {centre} r="{_RADIUS:g}" fill="{{paper}}" stroke="{ink}" stroke-width="1.6"/>')
        if number in targets:  # what is asked about: a ring around it
            parts.append(f'<circle {centre} r="{_RADIUS + _RING:g}" fill="none" stroke="{ink}" stroke-width="1.6"/>')
        if hints[number]:
            size = 9 if len(hints[number]) < 3 else 7
            parts.append(
                f'<text x="{spot.x:.1f}" y="{spot.y + size * 0.36:.1f}" font-size="{size}" fill="{ink}" '
                f'text-anchor="middle">{body_text(hints[number])}</text>'
            )
    notes = [f"{len(chosen)} of {len(graph.x)} nodes are shown"] if len(chosen) < len(graph.x) else []
    if targets:
        notes.append("ringed: the node asked about" if len(targets) == 1 else "ringed: the nodes asked about")
    if any(hints) and (kind := _kind(graph)):
        notes.append(f"in the nodes: {kind}")
    note = "; ".join(notes)
    return Picture(right - left, bottom - top, "".join(parts), spots, links, note=note)


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


def _layout(nodes: int, edges: list[tuple[int, int]]) -> list[tuple[float, float]]:
    """Where the nodes are, the same for the same graph; parts that hang apart stand in a row, the largest first."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(edges)
    places: dict[int, tuple[float, float]] = {}
    right = 0.0
    for part in sorted(nx.connected_components(graph), key=lambda part: (-len(part), min(part))):
        found = _connected_layout(nx.Graph(graph.subgraph(sorted(part))))
        left = min(x for x, _ in found.values())
        centre = sum(y for _, y in found.values()) / len(found)
        for node, (x, y) in found.items():
            places[node] = (x - left + right, y - centre)
        right = max(places[node][0] for node in part) + 1.5 * _EDGE
    return [places[node] for node in range(nodes)]


def _connected_layout(graph: Any) -> dict[int, tuple[float, float]]:
    import networkx as nx

    if len(graph) == 1:
        return dict.fromkeys(graph, (0.0, 0.0))
    if len(graph) <= _MOST_NODES_OF_KAMADA_KAWAI:
        found = nx.kamada_kawai_layout(graph)
    else:
        found = nx.spring_layout(graph, seed=0, iterations=60)
    lengths = [math.dist(found[a], found[b]) for a, b in graph.edges]
    scale = _EDGE / max(sum(lengths) / len(lengths), 1e-9)
    spread = _spread(np.array([found[node] for node in graph]) * scale)
    return {int(node): (float(x), float(y)) for node, (x, y) in zip(graph, spread, strict=True)}


def _spread(places: np.ndarray) -> np.ndarray:
    """Places ``[N, 2]`` with nodes that overlap pushed apart, pair by pair and a little at a time."""
    one, other = np.triu_indices(len(places), 1)
    turn = one + 2.4 * other  # nodes at one and the same place go apart at angles of their own
    for _ in range(_MOST_PUSHES):
        apart = places[other] - places[one]
        distance = np.hypot(*apart.T)
        close = distance < _ROOM - 0.1
        if not close.any():
            break
        same = distance < 1e-6
        apart[same] = np.stack([np.cos(turn[same]), np.sin(turn[same])], axis=1)
        push = 0.5 * (apart / np.where(same, 1.0, distance)[:, None] * (_ROOM - distance)[:, None])[close]
        places = places.copy()
        np.add.at(places, one[close], -0.6 * push)
        np.add.at(places, other[close], 0.6 * push)
    return places
