"""Which epoch of a stage is kept, when a stage stops, and which ending is exported: pure functions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from protgnn.model.objective import weighted_cross_entropy

LOST_AT_MOST = 0.03
"""The training accuracy that projection may cost before the anchored state is exported: docs/decisions/0001."""

EndingName = Literal["anchored", "projected"]
SelectBy = Literal["accuracy", "balanced_accuracy", "roc_auc", "loss"]


class Quality(NamedTuple):
    """How good a state is on the validation graphs; the larger one is better, ties in merit go to the lower loss.

    ``merit`` is what the recipe selects by, and ``accuracy`` is beside it for people to read.
    """

    merit: float
    minus_loss: float
    accuracy: float = 0.0


WORST = Quality(-math.inf, -math.inf, -1.0)
"""Less than any state: nothing was validated yet."""


def accuracy_of(logits: Tensor, y: Tensor) -> float:
    """Accuracy: the share of the graphs whose class has the largest logit; ``[G, C], [G]``."""
    return float((logits.argmax(1) == y).float().mean())


def balanced_accuracy_of(logits: Tensor, y: Tensor) -> float:
    """The recall of each class that is there, on average; ``[G, C], [G]``."""
    right, classes = (logits.argmax(1) == y).double(), logits.shape[1]
    count = torch.bincount(y, minlength=classes)
    recall = torch.bincount(y, weights=right, minlength=classes) / count.clamp(min=1)
    return float(recall[count > 0].mean())


def roc_auc_of(logits: Tensor, y: Tensor) -> float | None:
    """ROC AUC of each class against the others, on average over the classes that are there and are not all; nothing
    where there is but one class. ``[G, C], [G]``."""
    from sklearn.metrics import roc_auc_score

    score = log_odds(logits).numpy()
    found = [
        float(roc_auc_score(own.numpy(), score[:, number]))
        for number in range(logits.shape[1])
        if 0 < int((own := y == number).sum()) < len(y)
    ]
    return fmean(found) if found else None


def log_odds(logits: Tensor) -> Tensor:
    """``log(p / (1 - p))`` of every class, ``[G, C] → [G, C]``: ranks as the probabilities do, and never ties at 1."""
    logits = logits.detach().double().cpu()
    classes = range(logits.shape[1])
    others = [logits.index_fill(1, torch.tensor(one), -torch.inf).logsumexp(1) for one in classes]
    return logits - torch.stack(others, 1)


@dataclass(frozen=True, eq=False)
class Criterion:
    """What is minimised, and what a state is chosen by: the weights of the classes ``[C]`` and a validation figure."""

    select_by: SelectBy = "accuracy"
    class_weight: Tensor | None = None

    def loss(self, logits: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy of logits ``[G, C]`` for classes ``[G]``, weighted where classes have weights."""
        return weighted_cross_entropy(logits, y, self.class_weight)

    def quality(self, logits: Tensor, y: Tensor) -> Quality:
        """How good logits ``[G, C]`` are for classes ``[G]``; an undefined ROC AUC counts 0.5."""
        accuracy, loss = accuracy_of(logits, y), float(self.loss(logits, y))
        if self.select_by == "accuracy":
            return Quality(accuracy, -loss, accuracy)
        if self.select_by == "loss":
            return Quality(-loss, -loss, accuracy)
        if self.select_by == "balanced_accuracy":
            return Quality(balanced_accuracy_of(logits, y), -loss, accuracy)
        auc = roc_auc_of(logits, y)
        return Quality(0.5 if auc is None else auc, -loss, accuracy)


DEFAULT_CRITERION = Criterion()


def finished(epochs: int, waited: int, most: int, patience: int) -> bool:
    """Whether a stage that has had ``epochs`` epochs stops: after ``most`` of them, or after ``patience`` epochs
    (0: never) without a better one."""
    return epochs >= most or (patience > 0 and waited >= patience)


def stage_window(window: int, epochs: int, patience: int) -> int:
    """The epochs to average over in a stage of ``epochs``: training must not run out of patience before the first
    choice."""
    return max(1, min(window, epochs, patience or epochs))


def log_row(found: Quality, select_by: SelectBy) -> dict[str, float]:
    """The columns of an epoch's validation in the log."""
    row = {"valid_loss": -found.minus_loss, "valid_accuracy": found.accuracy}
    return row if f"valid_{select_by}" in row else {**row, f"valid_{select_by}": found.merit}


def window_mean(
    rows: list[dict[str, float]], window: int, stage_start: int, select_by: SelectBy = "accuracy"
) -> Quality | None:
    """The validation on average over the last ``window`` epochs; none before the stage has had as many.

    Ours, not the paper's: with few validation graphs the best single epoch is a lucky one. docs/decisions/0005
    """
    last = [row for row in rows[-window:] if row["epoch"] > stage_start]
    if len(last) < window:
        return None
    means = {name: fmean(row[name] for row in last) for name in last[0] if name.startswith("valid_")}
    merit = -means["valid_loss"] if select_by == "loss" else round(means[f"valid_{select_by}"], 9)
    # Rounded, as equal sums in any order are equal.
    return Quality(merit, -means["valid_loss"], round(means["valid_accuracy"], 9))


def choose_ending(anchored: Quality, projected: Quality, lost: float) -> EndingName:
    """Which state to export, given how good both are on the validation graphs and the training accuracy that
    projection cost.

    If that is more than ``LOST_AT_MOST``, it is the anchored one: small validation sets miss this.
    """
    return "projected" if lost <= LOST_AT_MOST and projected > anchored else "anchored"
