"""How much a graph of each class counts in the loss: for data in which some class is rare."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

import torch
from pydantic import BeforeValidator
from torch import Tensor

from protgnn.errors import ProtGNNError

NAMED = ("none", "balanced")
EXPECTED = "expected none, balanced or a weight above 0 by class, such as active=5,inactive=1"


def _checked(value: Any) -> Any:
    """``"a=1,b=5"`` or a mapping as a dictionary of weights; the two words as they are."""
    if isinstance(value, str):
        text = value.strip()
        if text in NAMED:
            return text
        value = dict(_pair(part) for part in text.split(","))
    if not isinstance(value, Mapping) or not value:
        raise ValueError(EXPECTED)
    weights = {}
    for name, weight in value.items():
        number = float(weight) if isinstance(weight, int | float) and not isinstance(weight, bool) else math.nan
        if not (math.isfinite(number) and number > 0):
            raise ValueError(EXPECTED)
        weights[str(name)] = number
    return weights


def _pair(text: str) -> tuple[str, float]:
    name, _, weight = text.rpartition("=")
    try:
        return name.strip(), float(weight) if name.strip() else math.nan
    except ValueError:
        raise ValueError(EXPECTED) from None


ClassWeight = Annotated[str | dict[str, float], BeforeValidator(_checked)]
"""``"none"``, ``"balanced"`` or a weight by the name of a class; classes that are not named have weight 1."""


def class_weights(chosen: str | dict[str, float], y: Tensor, class_names: tuple[str, ...]) -> Tensor | None:
    """The weight of each class, ``[C]``, for training graphs of the classes ``y [G]``; nothing where all are alike.

    Balanced is ``G / (C n_c)``, as in scikit-learn. Weights are scaled so that a training graph has weight 1 in the
    mean: the loss is as large as without them, and so are the steps.

    Raises:
        ProtGNNError: A weight is for a class that is not there.
    """
    if chosen == "none":
        return None
    count = torch.bincount(y, minlength=len(class_names)).double()
    if isinstance(chosen, str):
        weight = 1 / count.clamp(min=1)
    else:
        unknown = sorted(set(chosen) - set(class_names))
        if unknown:
            raise ProtGNNError(f"class_weight is for {', '.join(class_names)} (got {unknown[0]!r})")
        weight = torch.tensor([chosen.get(name, 1.0) for name in class_names], dtype=torch.float64)
    return (weight * count.sum() / (weight * count).sum()).float()
