"""What this machine computes on."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from protgnn.errors import ProtGNNError
from protgnn.training.checkpoint import TENSORBOARD
from protgnn.training.recipe import Recipe


def check_device(recipe: Recipe) -> None:
    """Refuse an accelerator that is not here, before anything is written or computed."""
    if recipe.accelerator == "cuda" and not torch.cuda.is_available():
        raise ProtGNNError("Recipe key accelerator: this machine has no cuda: use cpu or auto")


def accelerator_of(recipe: Recipe) -> str:
    """Where to compute; ``auto`` is CUDA where it is there (other accelerators lack the sparse products we need)."""
    if recipe.accelerator != "auto":
        return recipe.accelerator
    return "cuda" if torch.cuda.is_available() else "cpu"


def make_fabric(recipe: Recipe, folder: Path | None, epoch: int) -> Any:
    """Lightning Fabric for device and precision; curves for TensorBoard, if installed, go on after ``epoch``."""
    from lightning_fabric import Fabric
    from lightning_fabric.loggers.tensorboard import TensorBoardLogger

    loggers: list[Any] = []
    if folder is not None and find_spec("tensorboard") is not None:
        purge = epoch + 1 if epoch else None
        loggers.append(TensorBoardLogger(folder, name=TENSORBOARD, version="", purge_step=purge))
    return Fabric(accelerator=accelerator_of(recipe), devices=1, precision=recipe.precision, loggers=loggers)
