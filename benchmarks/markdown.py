"""Documentation pages that are made from stored results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from protgnn.io.atomic_files import write_text

DOCS = Path(__file__).parent.parent / "docs"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a line for each row; bars inside cells are written so that they do not end them."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "&#124;") for cell in line) + " |" for line in lines)


def save_page(name: str, blocks: Sequence[str]) -> Path:
    """Write ``docs/<name>`` from paragraphs, tables and headings."""
    path = DOCS / name
    write_text(path, "\n\n".join(blocks) + "\n")
    return path
