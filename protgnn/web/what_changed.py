"""What an edit changed: two reasonings of the same model, and which prototypes moved the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from protgnn.explain.explanation import Reasoning

_MOST = 4
_SMALLEST = 0.005  # a smaller change would be shown as none


def what_changed(before: Reasoning, after: Reasoning) -> dict[str, Any]:
    """Compare what was asked last with what is asked now.

    Args:
        before: The reasoning before the edit.
        after: The one after it, by the same model.

    Returns:
        The class whose probability is followed (the one predicted before), its probabilities and logits before and
        after, the contributions that changed most, of any prototype to any class, the largest change first, and what
        the base of the class was and is, of which the composition of the graph is a part.
    """
    label = before.predicted
    changes = [
        Change(new.prototype, number, old.contribution(number), new.contribution(number))
        for old, new in zip(before.rows, after.rows, strict=True)
        for number in range(len(after.class_names))
    ]
    changes.sort(key=lambda change: -abs(change.by))
    return {
        "label": label,
        "predicted": after.predicted,
        "flipped": before.predicted != after.predicted,
        "probability": [before.probabilities[label], after.probabilities[label]],
        "logit": [before.logits[label], after.logits[label]],
        "beside": [before.beside[label], after.beside[label]] if before.beside else None,
        "prototypes": [
            {
                "prototype": change.prototype,
                "label": change.label,
                "description": after.describe(after.rows[change.prototype]),
                "before": change.before,
                "after": change.after,
            }
            for change in changes[:_MOST]
            if abs(change.by) > _SMALLEST
        ],
    }


@dataclass(frozen=True)
class Change:
    """What a prototype contributed to a class before and after."""

    prototype: int
    label: int
    before: float
    after: float

    @property
    def by(self) -> float:
        """How much more it is."""
        return self.after - self.before
