"""What this machine computes on, and with which other processes."""

from __future__ import annotations

import atexit
import logging
import os
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from protgnn.errors import ProtGNNError
from protgnn.io.ranks import ALONE, Ranks
from protgnn.io.torchrun import launched_rank
from protgnn.model.classifier import GraphClassifier
from protgnn.training.checkpoint import TENSORBOARD
from protgnn.training.recipe import Recipe, is_mined

COMPILER = "inductor"
PATIENCE = timedelta(minutes=10)
"""How long a rank waits for the others before it gives up; one that was killed is noticed at once."""


def check_device(recipe: Recipe) -> None:
    """Refuse an accelerator that is not here, before anything is written or computed."""
    if recipe.accelerator == "cuda" and not torch.cuda.is_available():
        raise ProtGNNError("Recipe key accelerator: this machine has no cuda: use cpu or auto")


def accelerator_of(recipe: Recipe) -> str:
    """Where to compute; ``auto`` is CUDA where it is there (other accelerators lack the sparse products we need)."""
    if recipe.accelerator != "auto":
        return recipe.accelerator
    return "cuda" if torch.cuda.is_available() else "cpu"


def join_ranks(recipe: Recipe) -> Ranks:
    """Meet the other processes that ``torchrun`` has started for this training: gloo on CPUs, NCCL on GPUs.

    Raises:
        ProtGNNError: They cannot be reached, or the model is one that a single process trains.
    """
    number, count = launched_rank()
    if count == 1:
        return ALONE
    if is_mined(recipe):
        raise ProtGNNError(
            "A ProtGNN+ with mined prototypes is trained by one process: start it without torchrun, or use --set "
            "evidence=sampled"
        )
    fabric = make_fabric(recipe)
    return Ranks(number, count, str(fabric.device))


def make_fabric(recipe: Recipe, folder: Path | None = None, epoch: int = 0) -> Any:
    """Lightning Fabric for device, precision and process group; curves for TensorBoard, if installed, go on after
    ``epoch``."""
    from lightning_fabric import Fabric
    from lightning_fabric.loggers.tensorboard import TensorBoardLogger

    loggers: list[Any] = []
    if folder is not None and find_spec("tensorboard") is not None:
        purge = epoch + 1 if epoch else None
        loggers.append(TensorBoardLogger(folder, name=TENSORBOARD, version="", purge_step=purge))
    kind, precision = accelerator_of(recipe), recipe.precision
    count = launched_rank()[1]
    if count == 1:
        return Fabric(accelerator=kind, devices=1, precision=precision, loggers=loggers)
    here = int(os.environ["LOCAL_WORLD_SIZE"])
    if kind == "cuda" and here > torch.cuda.device_count():
        raise ProtGNNError(f"torchrun started {here} processes and this machine has {torch.cuda.device_count()} GPUs")
    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
    fabric = Fabric(
        accelerator=kind,
        strategy=_own_average(),
        devices=here,
        num_nodes=count // here,
        precision=precision,
        loggers=loggers,
    )
    met = torch.distributed.is_initialized()
    try:
        fabric.launch()
    except (RuntimeError, ValueError) as error:
        raise ProtGNNError(f"The processes of torchrun cannot reach each other: {error}") from None
    if not met:
        atexit.register(_leave)
    return fabric


def compile_encoder(model: GraphClassifier) -> None:
    """Let ``torch.compile`` make the encoder's calls faster, for batches of any size; copies of the model and its state
    dict do not know of it. What cannot be compiled, such as sparse products, runs as before."""
    logging.getLogger("torch._dynamo").setLevel(logging.ERROR)
    model.encoder.compile(dynamic=True, backend=COMPILER)


def without_compiled(model: GraphClassifier) -> None:
    """Let the encoder run as it is written again: a model that is used is called with a few batches of any size."""
    model.encoder._compiled_call_impl = None


def _leave() -> None:
    """Close the connections to the other ranks; their threads must not outlive the interpreter."""
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def _own_average() -> Any:
    """Fabric's strategy for several processes without its wrapper around the model: steps embed several batches and use
    the head by itself, so gradients are averaged once, after all of them (:meth:`Session.step`)."""
    from lightning_fabric.strategies.ddp import DDPStrategy

    class AveragedSteps(DDPStrategy):
        def setup_module(self, module: torch.nn.Module) -> Any:
            return module

    return AveragedSteps(timeout=PATIENCE)
