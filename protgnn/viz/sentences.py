"""Sentences: the words in a line and, if asked for, the arcs between heads and dependents above them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from protgnn.viz.nearest import nearest_nodes
from protgnn.viz.picture import Picture, Spot
from protgnn.viz.svg_text import body_text, text_width

_SIZE = 14.0
_GAP = 9.0
_LINE = 880.0  # words beyond this go to another line
_MOST_WORDS, _MOST_LETTERS = 400, 200  # of a sentence, and of a word
_ARC_STEP, _LOWEST_ARC, _HIGHEST_ARC = 9.0, 12.0, 64.0


def draw_sentence(
    words: list[str],
    edges: Iterable[tuple[int, int]],
    only: Collection[int] | None = None,
    focus: Collection[int] = (),
    arcs: bool = False,
) -> Picture:
    """Draw a sentence as lines of words.

    Of a sentence that is too long, the words nearest to ``only`` and ``focus`` are drawn, and the note says so; a word
    that is too long is shortened.

    Args:
        words: The words.
        edges: Pairs of words that are joined in the parse tree.
        only: The words to emphasise; the others are pale. ``None`` emphasises all.
        focus: Further words that must be in the picture.
        arcs: Draw the edges, as arcs above the words.
    """
    words = words or ["(empty)"]
    pairs = sorted({(min(a, b), max(a, b)) for a, b in edges if a != b and max(a, b) < len(words)})
    # Neighbours in the text are near as well, so that a sentence without arcs is shown from its focus onwards.
    near = np.array([*pairs, *((word, word + 1) for word in range(len(words) - 1))], dtype=np.int64)
    chosen: list[int] = nearest_nodes(len(words), near, [*(only or ()), *focus] or [0], _MOST_WORDS).tolist()
    note = f"{len(chosen)} of {len(words)} words are shown" if len(chosen) < len(words) else ""
    words = [word if len(word) <= _MOST_LETTERS else word[: _MOST_LETTERS - 1] + "…" for word in words]
    shown = set(chosen)
    pairs = [(a, b) for a, b in pairs if a in shown and b in shown] if arcs else []
    lines = _lines(words, chosen)
    line_of = {word: number for number, line in enumerate(lines) for word in line}
    spots, height = _spots(words, lines, _room_above(lines, line_of, pairs) if arcs else [0.0] * len(lines))
    links = {(a, b): _arc(a, b, spots, line_of) for a, b in pairs}
    width = max(spot.x + spot.width / 2 for spot in spots.values()) + 6
    emphasised = set(range(len(words))) if only is None else set(only)
    return Picture(width, height, _body(words, spots, links, emphasised), spots, links, stroke=5.0, note=note)


def _room_above(lines: list[list[int]], line_of: dict[int, int], pairs: list[tuple[int, int]]) -> list[float]:
    """The height of the arcs above each line."""
    room = [_LOWEST_ARC] * len(lines)
    for a, b in pairs:
        if line_of[a] == line_of[b]:
            room[line_of[a]] = max(room[line_of[a]], _arc_height(a, b))
    return room


def _spots(words: list[str], lines: list[list[int]], room: list[float]) -> tuple[dict[int, Spot], float]:
    """Where each word is drawn, with ``room`` above each line, and the height of all lines."""
    spots: dict[int, Spot] = {}
    y = 0.0
    for above, line in zip(room, lines, strict=True):
        y += above + 8 + _SIZE
        x = 8.0
        for word in line:
            width = text_width(words[word], _SIZE)
            spots[word] = Spot(x + width / 2, y - _SIZE * 0.32, width + 8, _SIZE + 8)
            x += width + _GAP
        y += 12
    return spots, y


def _body(
    words: list[str], spots: dict[int, Spot], links: dict[tuple[int, int], str], emphasised: Collection[int]
) -> str:
    """The SVG of arcs and words, in the colours of a theme."""
    svg = [
        f'<path d="{path}" stroke="{{muted}}" stroke-width="1.2" fill="none"'
        + ("" if a in emphasised and b in emphasised else ' opacity="0.5"')
        + "/>"
        for (a, b), path in links.items()
    ]
    for word, spot in spots.items():
        # textLength fixes the width, so that words stay within their marks whatever font the reader has.
        svg.append(
            f'<text x="{spot.x - spot.width / 2 + 4:.1f}" y="{spot.y + _SIZE * 0.32:.1f}" font-size="{_SIZE:g}" '
            f'fill="{{{"ink" if word in emphasised else "muted"}}}" textLength="{spot.width - 8:.1f}" '
            f'lengthAdjust="spacingAndGlyphs">{body_text(words[word])}</text>'
        )
    return "".join(svg)


def _lines(words: list[str], chosen: list[int]) -> list[list[int]]:
    lines: list[list[int]] = [[]]
    x = 0.0
    for number in chosen:
        width = text_width(words[number], _SIZE) + _GAP
        if x + width > _LINE and lines[-1]:
            lines.append([])
            x = 0.0
        lines[-1].append(number)
        x += width
    return lines


def _arc_height(a: int, b: int) -> float:
    return min(_LOWEST_ARC + _ARC_STEP * (b - a - 1), _HIGHEST_ARC)


def _arc(a: int, b: int, spots: dict[int, Spot], line_of: dict[int, int]) -> str:
    """The path of an arc above a line or, between two lines, from below one word to above the other."""
    one, other = spots[a], spots[b]
    top = other.y - other.height / 2
    if line_of[a] == line_of[b]:
        peak = top - _arc_height(a, b)
        start, end = one.x + 3, other.x - 3  # arcs that meet at a word do not cross there
        bend = min(10.0, (end - start) / 2)
        return (
            f"M{start:.1f} {top:.1f}Q{start:.1f} {peak:.1f} {start + bend:.1f} {peak:.1f}"
            f"L{end - bend:.1f} {peak:.1f}Q{end:.1f} {peak:.1f} {end:.1f} {top:.1f}"
        )
    bottom = one.y + one.height / 2
    middle = (bottom + top) / 2
    return f"M{one.x:.1f} {bottom:.1f}C{one.x:.1f} {middle:.1f} {other.x:.1f} {middle:.1f} {other.x:.1f} {top:.1f}"
