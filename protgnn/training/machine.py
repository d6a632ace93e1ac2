"""What this machine can compute on."""

from __future__ import annotations

import torch

from protgnn.errors import ProtGNNError
from protgnn.training.recipe import Recipe


def check_machine(recipe: Recipe) -> None:
    """Refuse an accelerator that is not here, before anything is written or computed."""
    if recipe.accelerator == "cuda" and not torch.cuda.is_available():
        raise ProtGNNError("Recipe key accelerator: this machine has no cuda: use cpu or auto")


def accelerator_of(recipe: Recipe) -> str:
    """Where to compute; ``auto`` is CUDA where it is there (other accelerators lack the sparse products we need)."""
    if recipe.accelerator != "auto":
        return recipe.accelerator
    return "cuda" if torch.cuda.is_available() else "cpu"
