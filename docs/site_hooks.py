"""What the pages need beyond Markdown: equations as MathML, and the list of decisions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

DECISIONS = Path(__file__).parent / "decisions"
BLOCK = re.compile(r"^\$\$\n(.+?)\n\$\$$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<![\\$\w])\$([^$\n`]+)\$(?![\w$])")
CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.DOTALL | re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs for every page."""
    markdown = markdown.replace("<!-- decisions -->", decisions())
    pieces = CODE.split(markdown)  # every second piece is code, which stays
    return "".join(piece if number % 2 else with_mathml(piece) for number, piece in enumerate(pieces))


def with_mathml(text: str) -> str:
    """``$…$`` and blocks of ``$$`` as MathML, which browsers draw without a script."""
    text = BLOCK.sub(lambda found: f'<div class="equation">{convert(found[1], display="block")}</div>', text)
    return INLINE.sub(lambda found: f"<span>{convert(found[1])}</span>", text)  # a bare <math> would be a block


def decisions() -> str:
    """A table of ``docs/decisions``: number and title of each."""
    files = sorted(path for path in DECISIONS.glob("[0-9]*.md"))
    rows = [f"| {path.stem[:4]} | [{_title(path)}]({path.name}) |" for path in files]
    return "\n".join(["| no. | decision |", "| --- | --- |", *rows])


def _title(path: Path) -> str:
    """The first heading of a page, without its number."""
    first = next(line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
    return re.sub(r"^#\s*(\d{4}[:.]?\s*)?", "", first)
