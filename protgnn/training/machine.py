"""What this machine can compute on."""

from __future__ import annotations

import torch

from protgnn.errors import ProtGNNError
from protgnn.training.recipe import Recipe


def check_machine(recipe: Recipe) -> None:
    """Refuse an accelerator that is not here, before anything is written or computed."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not there.get(recipe.accelerator, True):
        raise ProtGNNError(f"Recipe key accelerator: this machine has no {recipe.accelerator}: use cpu or auto")
