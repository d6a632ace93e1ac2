"""A reasoning as a file: the ending of the name says what kind."""

from __future__ import annotations

from pathlib import Path

from protgnn.errors import ProtGNNError
from protgnn.explain.explanation import Reasoning
from protgnn.io.atomic_files import write_bytes, write_json, write_text
from protgnn.viz.theme import theme_of

SUFFIXES = (".svg", ".png", ".html", ".json")


def check_suffix(path: Path) -> None:
    """Refuse a name whose ending says nothing, before any work is done."""
    if path.suffix.lower() not in SUFFIXES:
        raise ProtGNNError(
            f"{path}: expected a name that ends in {', '.join(SUFFIXES)} (got {path.suffix or 'no ending'})"
        )


def save(why: Reasoning, path: Path, theme: str = "light", rows: int = 3, arcs: bool = False) -> None:
    """Write a reasoning; the file is either whole or not there."""
    from protgnn.viz.reasoning_figure import reasoning_svg

    check_suffix(path)
    if rows < 1:
        raise ProtGNNError(f"Expected at least one row to draw (got {rows})")
    suffix, paint = path.suffix.lower(), theme_of(theme)
    if suffix == ".json":
        write_json(path, why.to_json())
    elif suffix == ".svg":
        write_text(path, reasoning_svg(why, paint, rows, arcs))
    elif suffix == ".png":
        from protgnn.viz.png import to_png

        write_bytes(path, to_png(reasoning_svg(why, paint, rows, arcs)))
    else:
        from protgnn.viz.html import reasoning_page

        write_text(path, reasoning_page(why, rows, arcs))
