"""Text in SVG, which knows no line breaks: how wide a text is about, and where to break it."""

from __future__ import annotations

import html
import re

from protgnn.viz.theme import Theme

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW, _WIDE = "iljtfrI.,;:!'|()[] ", "mwMW@%—…"
_NARROWEST = 0.4
_BOLD = 1.12  # how much wider bold letters are
_MINUS = re.compile(r"(?<=\s)-(?=\d+\.\d\d(?:[,;)\s]|$))")


def xml(text: str) -> str:
    """A text as it may stand in SVG; a control character, which may not, is shown as the sign for what is no letter."""
    return html.escape(_NO_XML.sub("\ufffd", text))


def body_text(text: str) -> str:
    """A text within the body of a picture, where ``{ink}`` stands for a colour of the theme and a brace is no brace."""
    return xml(text).replace("{", "&#123;")


def text_width(text: str, size: float, bold: bool = False) -> float:
    """About how wide a text is in DejaVu Sans, rather more than less."""
    return (_BOLD * size if bold else size) * sum(
        _NARROWEST if letter in _NARROW else 0.98 if letter in _WIDE else 0.73 if letter.isupper() else 0.64
        for letter in text
    )


def _letters(width: float, size: float) -> int:
    """How many letters certainly fill a line: a text may be of megabytes, and no more than this of it is measured."""
    return int(width / (_NARROWEST * size)) + 2


def wrapped(text: str, width: float, size: float, most: int = 4, bold: bool = False) -> list[str]:
    """Lines no wider than ``width``; words that are wider, such as SMILES, are broken. What is left out ends in …"""
    width = width / _BOLD if bold else width
    lines, text = [""], text[: (most + 1) * _letters(width, size)]  # of more no letter would be seen
    for word in text.split(" "):
        while word:
            joined = f"{lines[-1]} {word}" if lines[-1] else word
            if text_width(joined, size) <= width:
                lines[-1], word = joined, ""
            elif text_width(word, size) <= width:
                lines.append(word)
                word = ""
            else:
                if lines[-1]:
                    lines.append("")
                kept = len(word)
                while text_width(word[:kept], size) > width:
                    kept -= 1
                lines[-1], word = word[: max(kept, 1)], word[max(kept, 1) :]
                if word:
                    lines.append("")
    if len(lines) > most:
        lines = lines[:most]
        lines[-1] = shortened(lines[-1] + " ………", width, size)
    return lines


def shortened(text: str, width: float, size: float, bold: bool = False) -> str:
    """As much of a text as fits, with … for the rest."""
    width = width / _BOLD if bold else width
    if text_width(text, size) <= width:
        return text
    text = text[: _letters(width, size)]
    while text and text_width(text + "…", size) > width:
        text = text[:-1]
    return text.rstrip(" …") + "…"


def write(
    x: float,
    y: float,
    text: str,
    theme: Theme,
    size: float = 13,
    bold: bool = False,
    muted: bool = False,
    anchor: str = "start",
) -> str:
    """One line of text at its baseline."""
    weight = ' font-weight="bold"' if bold else ""
    anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
    fill = theme.muted if muted else theme.ink
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{fill}"{weight}{anchored}>{xml(text)}</text>'


def signed(value: float) -> str:
    """A number with its sign, with a minus as wide as the plus; what is 0 in print has none."""
    return "0.00" if abs(value) < 0.005 else f"{value:+.2f}".replace("-", "−")


def with_minus(text: str) -> str:
    """A sentence with such a minus in front of its numbers."""
    return _MINUS.sub("−", text)
