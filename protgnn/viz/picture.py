"""A drawn graph that knows where its nodes are, so that evidence can be marked on any of them afterwards.

Bodies are drawn once and placed by ``<use>`` as often as wanted: a reasoning shows the same input many times, and a
report shows it again. Marks lie beneath the body, one element per node and edge, and say which by ``data-node``
and ``data-edge``: what is highlighted can be read from the file.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from protgnn.viz.svg_text import xml
from protgnn.viz.theme import Theme

_WAVE = 7.0  # how wide two bends of a wavy line are
FONT = "'DejaVu Sans', Verdana, Geneva, sans-serif"


@dataclass(frozen=True)
class Spot:
    """Where a node is: the centre, and the size of what a mark must surround."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Picture:
    """``body`` is SVG in the colours ``{ink}``, ``{muted}`` and so on of whatever theme it will be shown in.

    ``links`` has a path for every undirected edge, by its two nodes, the smaller first. With ``marks_cuts`` a wavy line
    crosses every edge, drawn straight, that leads out of what is marked.
    """

    width: float
    height: float
    body: str
    spots: dict[int, Spot]
    links: dict[tuple[int, int], str]
    stroke: float = 15.0
    note: str = ""
    marks_cuts: bool = False

    @cached_property
    def key(self) -> str:
        """A name for the body that is the same for the same drawing."""
        return "p" + hashlib.sha256(self.body.encode()).hexdigest()[:10]

    def marks(self, nodes: Collection[int], colour: str) -> str:
        """Evidence: a thick band under the nodes and under all edges between them, and a sign on edges that are cut."""
        chosen = set(nodes)
        parts = [
            f'<path d="{path}" data-edge="{start}-{end}" fill="none" stroke="{colour}" '
            f'stroke-width="{self.stroke:g}" stroke-linecap="round"/>'
            for (start, end), path in self.links.items()
            if start in chosen and end in chosen
        ]
        for node in sorted(chosen & set(self.spots)):
            spot = self.spots[node]
            radius = min(spot.width, spot.height) / 2
            parts.append(
                f'<rect data-node="{node}" x="{spot.x - spot.width / 2:.1f}" y="{spot.y - spot.height / 2:.1f}" '
                f'width="{spot.width:.1f}" height="{spot.height:.1f}" rx="{radius:.1f}" fill="{colour}"/>'
            )
        # Opacity of the group, not of its parts: bands that overlap must not be darker there.
        listed = " ".join(map(str, sorted(chosen)))
        band = f'<g class="evidence" data-nodes="{listed}" opacity="0.5">{"".join(parts)}</g>'
        return band + (self._cuts(chosen, colour) if self.marks_cuts else "")

    def _cuts(self, chosen: set[int], colour: str) -> str:
        """Wavy lines, as chemists draw them, across the edges between what is chosen and the rest."""
        parts = []
        for start, end in self.links:
            if (start in chosen) == (end in chosen) or start not in self.spots or end not in self.spots:
                continue
            inside, outside = (start, end) if start in chosen else (end, start)
            one, other = self.spots[inside], self.spots[outside]
            length = max(math.hypot(other.x - one.x, other.y - one.y), 1e-6)
            along, across = ((other.x - one.x) / length, (other.y - one.y) / length), _WAVE / 2
            x, y = one.x + 0.55 * (other.x - one.x), one.y + 0.55 * (other.y - one.y)
            bends = "".join(
                f"q{-along[1] * across / 2 + sign * along[0] * across:.1f} "
                f"{along[0] * across / 2 + sign * along[1] * across:.1f} "
                f"{-along[1] * across:.1f} {along[0] * across:.1f}"
                for sign in (1, -1, 1, -1)
            )
            parts.append(
                f'<path class="cut" data-cut="{inside}-{outside}" d="M{x + 2 * along[1] * across:.1f} '
                f'{y - 2 * along[0] * across:.1f}{bends}" fill="none" stroke="{colour}" stroke-width="1.8"/>'
            )
        return "".join(parts)


@dataclass
class Sheet:
    """Where pictures are placed: it keeps each body once, for the ``<defs>`` of the file."""

    theme: Theme
    bodies: dict[str, str] = field(default_factory=dict)

    def place(
        self,
        picture: Picture,
        box: tuple[float, float, float, float],
        nodes: Collection[int] = (),
        label: int | None = None,
        alt: str = "",
        smallest: float = 0.0,
    ) -> str:
        """A picture in a box (x, y, width, height), as large as fits but not above its own size, and centred.

        Where it would be smaller than ``smallest`` times its own size, only the surroundings of ``nodes`` are shown.
        """
        name = f"{picture.key}-{self.theme.name}"  # a notebook may show the same picture in two themes
        self.bodies.setdefault(name, painted(picture.body, self.theme))
        x, y, width, height = box
        scale = min(width / picture.width, height / picture.height, 1.0)
        left, top = x + (width - scale * picture.width) / 2, y + (height - scale * picture.height) / 2
        colour = self.theme.muted if label is None else self.theme.of_class(label)
        marks = picture.marks(nodes, colour) if nodes else ""
        # In a file the older name of the attribute, which office programs know as well.
        link = "href" if self.theme.name == "page" else "xlink:href"
        title = f"<title>{xml(alt)}</title>" if alt else ""
        if nodes and scale < smallest:
            window = _surroundings([picture.spots[node] for node in nodes if node in picture.spots], width / height)
            view = " ".join(f"{value:.1f}" for value in window)
            return (
                f'<svg x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" viewBox="{view}">'
                f'{title}{marks}<use {link}="#{name}"/></svg>'
            )
        return (
            f'<g transform="translate({left:.1f} {top:.1f}) scale({scale:.3f})">{title}{marks}'
            f'<use {link}="#{name}"/></g>'
        )

    def defs(self) -> str:
        """All bodies that were placed."""
        return "<defs>" + "".join(f'<g id="{key}">{body}</g>' for key, body in self.bodies.items()) + "</defs>"


def _surroundings(spots: list[Spot], aspect: float) -> tuple[float, float, float, float]:
    """A window (x, y, width, height) of some aspect around spots, with as much about them as shows where they are."""
    around = 36.0
    left, right = min(spot.x for spot in spots) - around, max(spot.x for spot in spots) + around
    top, bottom = min(spot.y for spot in spots) - around, max(spot.y for spot in spots) + around
    width, height = max(right - left, aspect * (bottom - top)), max(bottom - top, (right - left) / aspect)
    return (left + right - width) / 2, (top + bottom - height) / 2, width, height


def painted(body: str, theme: Theme) -> str:
    """A body in the colours of a theme."""
    for name in ("paper", "ink", "muted", "faint", "line", "panel"):
        body = body.replace("{" + name + "}", getattr(theme, name))
    return body


def svg(width: float, height: float, content: Iterable[str], title: str, theme: Theme, defs: str = "") -> str:
    """One SVG element with a title for those who listen; in a page it grows with the page, and no further."""
    page = theme.name == "page"
    spaces = 'xmlns="http://www.w3.org/2000/svg"' + ("" if page else ' xmlns:xlink="http://www.w3.org/1999/xlink"')
    size = f'width="{width:.0f}" height="{height:.0f}"'
    paper = "" if page else f'<rect width="{width:.0f}" height="{height:.0f}" fill="{theme.paper}"/>'
    return (
        f'<svg {spaces} {size} viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="{xml(title)}" font-family="{FONT}" fill="{theme.ink}">'
        f"<title>{xml(title)}</title>{defs}{paper}{''.join(content)}</svg>"
    )
