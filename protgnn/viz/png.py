"""SVG to PNG without a browser or system libraries: resvg, with the fonts that matplotlib carries."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

_ZOOM = 2  # sharp on good screens and on paper


def to_png(svg: str, zoom: int = _ZOOM) -> bytes:
    """The picture at ``zoom`` times its size; text looks the same on every machine, whatever fonts it has."""
    import resvg_py

    fonts = _font_folder()
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=zoom,
            skip_system_fonts=fonts is not None,
            font_dirs=None if fonts is None else [str(fonts)],
            sans_serif_family="DejaVu Sans",
            font_family="DejaVu Sans",
        )
    )


def _font_folder() -> Path | None:
    """DejaVu Sans as matplotlib has it, found without importing matplotlib."""
    found = find_spec("matplotlib")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "mpl-data" / "fonts" / "ttf"
    return folder if folder.is_dir() else None
