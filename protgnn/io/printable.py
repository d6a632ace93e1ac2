"""Text from files as a terminal may show it: what would steer the terminal is spelled out instead."""

from __future__ import annotations

import re

__all__ = ["printable"]

# C0 and C1 controls, DEL, line and paragraph separators, marks that reorder text, and halves of surrogate pairs.
_STEERING = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)


def printable(text: str, keep: str = "") -> str:
    r"""Spell out control characters, so that a name cannot move the cursor, hide text or recolour the terminal.

    Args:
        text: Any text, such as a class name, a graph's name, an id or a message that quotes one.
        keep: Control characters that stay as they are, such as ``"\n"`` for a message of several lines.

    Returns:
        The text with ``\x1b`` and the like in place of each control character; other letters stay.
    """
    return _STEERING.sub(lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], text)
