"""Files, text, progress and seeds: what the rest of the package stands on, and what knows nothing of graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.io.atomic_files import sha256, write_bytes, write_json, write_text
    from protgnn.io.progress import ProgressBar
    from protgnn.io.seeding import generator_for, seed_for
    from protgnn.io.tables import read_table
    from protgnn.io.text import read_text

__all__ = [
    "ProgressBar",
    "generator_for",
    "read_table",
    "read_text",
    "seed_for",
    "sha256",
    "write_bytes",
    "write_json",
    "write_text",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "ProgressBar": "progress",
        "generator_for": "seeding",
        "read_table": "tables",
        "read_text": "text",
        "seed_for": "seeding",
        "sha256": "atomic_files",
        "write_bytes": "atomic_files",
        "write_json": "atomic_files",
        "write_text": "atomic_files",
    },
)
