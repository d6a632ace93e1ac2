"""What the size and the make-up of a graph add to its logits, as rows to read, and the base that is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from protgnn.data.schema import Schema
from protgnn.explain.comparison import AmountsAdded
from protgnn.featurizers.amount_names import amount_names

_SMALLEST = 5e-4
"""What adds less to the margin is no row."""

VISIBLE = 0.005
"""What is less than this is 0.00 in print, and no reason."""


@dataclass(frozen=True)
class CompositionRow:
    """One amount of a graph, such as its number of atoms, in words, and what it adds to each class."""

    name: str
    amount: float
    text: str
    contributions: tuple[float, ...]
    gain: float

    def to_json(self, class_names: Sequence[str]) -> dict[str, Any]:
        """The row as plain values."""
        added = dict(zip(class_names, self.contributions, strict=True))
        return {"name": self.name, "amount": self.amount, "contributions": added, "gain": self.gain}


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
            float(made_of.amount[row]) * names[row].unit,
            names[row].say(float(made_of.amount[row])),
            tuple(made_of.added[row].tolist()),
            float(gain[row]),
        )
        for row in order
        if abs(float(gain[row])) >= _SMALLEST
    )


@dataclass(frozen=True)
class BaseLine:
    """A line of what is added to every class beside prototypes; the lines add up to the base."""

    name: str
    contributions: tuple[float, ...]


def base_lines(base: Sequence[float], rows: Sequence[CompositionRow], rest: str, most: int = 3) -> list[BaseLine]:
    """The amounts that make the largest difference, a line each, one for all others, and one called ``rest`` for what
    is left: what a graph has in any case."""
    shown = [row for row in rows[:most] if abs(row.gain) >= VISIBLE]
    others = rows[len(shown) :]
    lines = [BaseLine(row.text, row.contributions) for row in shown]
    if others:
        total = tuple(sum(row.contributions[label] for row in others) for label in range(len(base)))
        lines.append(BaseLine(f"{len(others)} more amounts" if len(others) > 1 else others[0].text, total))
    left = tuple(value - sum(line.contributions[label] for line in lines) for label, value in enumerate(base))
    return [*lines, BaseLine(rest, left)]
