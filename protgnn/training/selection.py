"""Which epoch of a stage is kept, when a stage stops, and which ending is exported: pure functions."""

from __future__ import annotations

from statistics import fmean
from typing import Literal, NamedTuple

from torch import Tensor
from torch.nn.functional import cross_entropy

LOST_AT_MOST = 0.03
"""The training accuracy that projection may cost before the anchored state is exported: docs/decisions/0001."""

EndingName = Literal["anchored", "projected"]


class Quality(NamedTuple):
    """How good a state is on the validation graphs; the larger one is better, ties in accuracy go to the lower loss."""

    accuracy: float
    minus_loss: float


def accuracy_of(logits: Tensor, y: Tensor) -> float:
    """Accuracy: the share of the graphs whose class has the largest logit; ``[G, C], [G]``."""
    return float((logits.argmax(1) == y).float().mean())


def quality_of(logits: Tensor, y: Tensor) -> Quality:
    """Accuracy and minus the cross-entropy of logits ``[G, C]`` for classes ``[G]``."""
    return Quality(accuracy_of(logits, y), -float(cross_entropy(logits, y)))


def finished(epochs: int, waited: int, most: int, patience: int) -> bool:
    """Whether a stage that has had ``epochs`` epochs stops: after ``most`` of them, or after ``patience`` epochs
    (0: never) without a better one."""
    return epochs >= most or (patience > 0 and waited >= patience)


def stage_window(window: int, epochs: int, patience: int) -> int:
    """The epochs to average over in a stage of ``epochs``: training must not run out of patience before the first
    choice."""
    return max(1, min(window, epochs, patience or epochs))


def window_mean(rows: list[dict[str, float]], window: int, stage_start: int) -> Quality | None:
    """Validation accuracy and loss in the mean over the last ``window`` epochs; none before the stage has had as many.

    Ours, not the paper's: with few validation graphs the best single epoch is a lucky one. docs/decisions/0005
    """
    last = [row for row in rows[-window:] if row["epoch"] > stage_start]
    if len(last) < window:
        return None
    accuracy = fmean(row["valid_accuracy"] for row in last)
    return Quality(round(accuracy, 9), -fmean(row["valid_loss"] for row in last))  # equal sums in any order are equal


def choose_ending(anchored: Quality, projected: Quality, lost: float) -> EndingName:
    """Which state to export, given how good both are on the validation graphs and the training accuracy that
    projection cost.

    If that is more than ``LOST_AT_MOST``, it is the anchored one: small validation sets miss this.
    """
    return "projected" if lost <= LOST_AT_MOST and projected > anchored else "anchored"
