"""What the size and the make-up of a graph add to its logits, as rows to read, and the base that is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from protgnn.data.schema import Schema
from protgnn.explain.comparison import AmountsAdded
from protgnn.featurizers.amount_names import amount_names
from protgnn.training.evaluate import VISIBLE as VISIBLE

_SMALLEST = 5e-4
"""What adds less to the margin is no row."""

_NAMED = 3
"""Amounts without a theme that have lines of their own."""

_MINOR, OTHER_AMOUNTS = 0.05, "other properties"
"""Themes that add less than this share of what the first one does have one line together."""

BASE = "base (bias of the class)"
"""What the last line of what is added beside prototypes is called where there is room."""


@dataclass(frozen=True)
class CompositionRow:
    """One amount of a graph, such as its number of atoms, in words, and what it adds to each class; its ``theme``, such
    as size, is empty where the amounts of such graphs have none."""

    name: str
    theme: str
    amount: float
    text: str
    contributions: tuple[float, ...]
    gain: float

    def to_json(self, class_names: Sequence[str]) -> dict[str, Any]:
        """The row as plain values."""
        added = dict(zip(class_names, self.contributions, strict=True))
        return {
            "name": self.name,
            "theme": self.theme or None,
            "amount": self.amount,
            "contributions": added,
            "gain": self.gain,
        }


def composition_rows(made_of: AmountsAdded, schema: Schema, between: tuple[int, int]) -> tuple[CompositionRow, ...]:
    """Rows for the amounts that make a difference, the largest first.

    Args:
        made_of: The amounts of a graph and what they add.
        schema: Names the node features.
        between: The class that is predicted, and the runner-up.
    """
    predicted, runner_up = between
    gain = made_of.added[:, predicted] - made_of.added[:, runner_up]
    names = amount_names(schema)
    order = gain.abs().argsort(descending=True, stable=True).tolist()
    return tuple(
        CompositionRow(
            names[row].text,
            names[row].theme,
            float(made_of.amount[row]) * names[row].unit,
            names[row].say(float(made_of.amount[row])),
            tuple(made_of.added[row].tolist()),
            float(gain[row]),
        )
        for row in order
        if abs(float(gain[row])) >= _SMALLEST
    )


@dataclass(frozen=True)
class BesideLine:
    """A line of what is added to every class beside prototypes. ``mainly`` is the amount that makes the largest
    difference, where the line is of several."""

    name: str
    contributions: tuple[float, ...]
    mainly: str = ""

    @property
    def text(self) -> str:
        """The name, and the amount that tells most."""
        return f"{self.name}, mainly {self.mainly}" if self.mainly else self.name


def beside_lines(beside: Sequence[float], rows: Sequence[CompositionRow], base: str) -> list[BesideLine]:
    """A line for what the amounts of each theme add, the largest difference first, one for themes that hardly matter
    beside that, and a last one called ``base`` for what is left of all that is added ``beside`` prototypes, ``[C]``.
    Amounts without themes have a line each for the first three, and one for all others."""
    named = dict.fromkeys(row.theme for row in rows if row.theme)
    themes = {theme: [row for row in rows if row.theme == theme] for theme in named}
    by_theme = sorted(themes.items(), key=lambda pair: -abs(_gain(pair[1])))
    told = [pair for pair in by_theme if abs(_gain(pair[1])) >= _MINOR * abs(_gain(by_theme[0][1]))]
    lines = [_joined(theme, some, some[0].text) for theme, some in told]
    if len(by_theme) > len(told):
        minor = [row for _, some in by_theme[len(told) :] for row in some]
        lines.append(_joined(OTHER_AMOUNTS, minor))
    without = [row for row in rows if not row.theme]
    single = [row for row in without[:_NAMED] if abs(row.gain) >= VISIBLE]
    lines += [_joined(row.text, [row]) for row in single]
    others = without[len(single) :]
    if others:
        lines.append(_joined(f"{len(others)} more properties" if len(others) > 1 else others[0].text, others))
    left = tuple(value - sum(line.contributions[label] for line in lines) for label, value in enumerate(beside))
    return [*lines, BesideLine(base, left)]


def _gain(rows: Sequence[CompositionRow]) -> float:
    return sum(row.gain for row in rows)


def _joined(name: str, rows: Sequence[CompositionRow], mainly: str = "") -> BesideLine:
    """What some amounts add together."""
    added = zip(*(row.contributions for row in rows), strict=True)
    return BesideLine(name, tuple(sum(values) for values in added), mainly)
