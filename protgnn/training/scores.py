"""How good predictions are: scores that hold up where classes are of unequal size, and what to warn of.

==========================  ===========================================================================================
``majority_baseline``       the accuracy of always predicting the class that is the most frequent among the graphs
``balanced_accuracy``       the recall of each class, on average
``roc_auc``                 ROC AUC of each class against the others, on average
``average_precision``       the same for average precision; of links that of a link
``mcc``                     Matthews' correlation coefficient
``brier``                   squared error of the probabilities (of two classes: of one of them)
``ece``                     how far probabilities are from how often they are right, on average (``reliability.py``)
``ece_by_chance``           the same if probabilities meant exactly what they say: few graphs are off by chance
``intervals``               95 % intervals of these by the bootstrap (``bootstrap.py``)
==========================  ===========================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from protgnn.training.bootstrap import intervals, of_confusion
from protgnn.training.reliability import calibration_error_by_chance, expected_calibration_error
from protgnn.training.selection import accuracy_of, balanced_accuracy_of, log_odds, roc_auc_of

BALANCED = "class_weight=balanced makes rare classes count"

PART_NAMES = {"train": "training", "valid": "validation", "test": "test"}


def score(
    logits: Tensor,
    y: Tensor,
    class_names: tuple[str, ...],
    positive: int | None = None,
    with_intervals: bool = False,
) -> dict[str, Any]:
    """The scores of logits ``[G, C]`` for classes ``[G]``, ready for JSON; nothing (``None``) where one is undefined.

    Args:
        logits: what the model says.
        y: the classes.
        class_names: what they are called.
        positive: the class whose average precision counts; without, all of them on average.
        with_intervals: whether to say how far scores would swing; for graphs that were held out.
    """
    from sklearn.metrics import average_precision_score

    logits = logits.double()
    predicted, ranks = logits.argmax(1), log_odds(logits).numpy()
    correct = predicted == y
    per_class: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(class_names):
        own, said = y == number, predicted == number
        defined = 0 < int(own.sum()) < len(y)
        per_class[name] = {
            "n": int(own.sum()),
            "recall": float(correct[own].double().mean()) if bool(own.any()) else None,
            "precision": float(correct[said].double().mean()) if bool(said.any()) else None,
            "average_precision": min(float(average_precision_score(own.numpy(), ranks[:, number])), 1.0)
            if defined
            else None,
        }
    precisions = [one["average_precision"] for one in per_class.values()]
    if positive is not None:
        precisions = [precisions[positive]]
    known = [one for one in precisions if one is not None]
    errors = brier_errors(logits, y)
    figures: dict[str, Any] = {
        "accuracy": accuracy_of(logits, y),
        "loss": float(cross_entropy(logits, y)),
        "n": len(y),
        "per_class": per_class,
        "majority_baseline": majority_baseline(per_class)[1],
        "balanced_accuracy": balanced_accuracy_of(logits, y),
        "roc_auc": roc_auc_of(logits, y),
        "average_precision": fmean(known) if known else None,
        "mcc": float(of_confusion(np.ones((1, len(y))), predicted.numpy(), y.numpy(), len(class_names))["mcc"][0]),
        "brier": float(errors.mean()),
        "ece": expected_calibration_error(logits.softmax(1), y),
    }
    if with_intervals:
        figures["ece_by_chance"] = calibration_error_by_chance(logits.softmax(1))
        figures["intervals"] = intervals(logits.numpy(), ranks, y.numpy(), errors.numpy(), positive)
    return figures


def brier_errors(logits: Tensor, y: Tensor) -> Tensor:
    """The Brier score of each graph, ``[G, C], [G] → [G]``: ``Σ (p_c - [y = c])²``, half of that for two classes."""
    truth = torch.nn.functional.one_hot(y, logits.shape[1])
    total = (logits.softmax(1) - truth).square().sum(1)
    return total / 2 if logits.shape[1] == 2 else total


def majority_baseline(per_class: Mapping[str, Mapping[str, Any]]) -> tuple[str, float]:
    """The most frequent class, and the accuracy of always predicting it."""
    name = max(per_class, key=lambda one: per_class[one]["n"])
    return name, per_class[name]["n"] / max(sum(one["n"] for one in per_class.values()), 1)


def score_warnings(scores: Mapping[str, Any], class_weight: str | Mapping[str, float] = "none") -> list[str]:
    """What a reader of these scores, of one part or several by name, must not miss, in sentences.

    A class that a part has no example of; and of the part that is reported on, the last one, a class that is never
    predicted, and an accuracy that always predicting one class would have, too. Weights of classes are advised where
    the model was trained without, as ``class_weight`` of its recipe says.
    """
    parts = {name: scores[name] for name in PART_NAMES if name in scores} or {"": scores}
    found = []
    for part, figures in parts.items():
        where = _where(part)
        missing = [name for name, own in figures["per_class"].items() if not own["n"]]
        if missing:
            told = "its scores say nothing about it" if part != "train" else "it cannot be learned"
            found.append(f"{where} has no example of class {' or '.join(missing)}: {told}")
    part, figures = list(parts.items())[-1]
    never = [name for name, own in figures["per_class"].items() if own["n"] and own["precision"] is None]
    for name in never:
        count = figures["per_class"][name]["n"]
        rare = count * len(figures["per_class"]) < figures["n"]
        advice = f": {BALANCED}" if rare and class_weight == "none" else ""
        found.append(f"class {name} is never predicted on {_where(part)}, which has {count} of it{advice}")
    return found + _baseline_warnings(figures, part, class_weight == "none")


def _baseline_warnings(figures: Mapping[str, Any], part: str, advise: bool) -> list[str]:
    """What to say of an accuracy that always predicting the most frequent class would have, too."""
    name, baseline = majority_baseline(figures["per_class"])
    sizes = [own["n"] for own in figures["per_class"].values() if own["n"]]
    correct, most = round(figures["accuracy"] * figures["n"]), max(sizes, default=0)
    if correct > most:
        return []
    compared = "equals" if correct == most else f"is not above {baseline:.1%},"
    advice = f"; {BALANCED}" if advise and sizes and 2 * min(sizes) <= most else ""
    return [
        f"accuracy {figures['accuracy']:.1%} on {_where(part)} {compared} that of always predicting {name}: judge by "
        f"balanced accuracy, ROC AUC and the recall of each class{advice}"
    ]


def _where(part: str) -> str:
    return f"the {PART_NAMES[part]} part" if part else "this data"
