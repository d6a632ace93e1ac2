"""The state of unfinished training, one safetensors file that is whole or not there, and the record of epochs."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from protgnn.errors import RunError
from protgnn.io.atomic_files import csv_text, write_bytes, write_text
from protgnn.training.run_file import check_size
from protgnn.training.selection import WORST, Quality
from protgnn.training.state_file import check_numbers

STATE_FILE, LOG_FILE, TENSORBOARD = "state.safetensors", "log.csv", "tensorboard"
STATE_VERSION = 5
SAVE_SECONDS = 1.0
"""The state is written at most this often, and at the end of a stage."""
TENSORS = ("model", "average", "best", "learned", "optimizer")


@dataclass
class TrainingState:
    """Where training stands after ``epoch`` epochs."""

    epoch: int = 0
    best_epoch: int = 0
    best_quality: Quality = WORST
    stage: str = "learn"  # then "anchored"
    stage_start: int = 0  # the epoch after which the stage began
    learned_epoch: int = 0  # of the best of the stage before
    learned_accuracy: float = -1.0
    sources: list[dict[str, Any]] = field(default_factory=list)  # where the prototypes' subgraphs come from
    rows: list[dict[str, float]] = field(default_factory=list)
    model: dict[str, Tensor] = field(default_factory=dict)
    average: dict[str, Tensor] = field(default_factory=dict)
    average_steps: int = 0
    best: dict[str, Tensor] = field(default_factory=dict)
    learned: dict[str, Tensor] = field(default_factory=dict)  # the best of the stage before
    optimizer: dict[str, Tensor] = field(default_factory=dict)

    def begin(self, stage: str) -> None:
        """Start the next stage: nothing of it has been seen yet, so anything is better."""
        self.learned, self.learned_epoch, self.learned_accuracy = self.best, self.best_epoch, self.best_quality.accuracy
        self.stage, self.stage_start, self.best_epoch = stage, self.epoch, self.epoch
        self.best, self.best_quality, self.optimizer = {}, WORST, {}

    def summary(self) -> str:
        """The last epoch in a few words, for a progress bar."""
        row = self.rows[-1]
        best = f", best average {self.best_quality.accuracy:.3f}" if self.best_quality > WORST else ""
        return f"validation accuracy {row['valid_accuracy']:.3f}{best}"

    def save(self, folder: Path) -> None:
        """Write the state and, for people to watch, the log so far."""
        numbers = {"version": STATE_VERSION}
        numbers.update({name: value for name, value in vars(self).items() if name not in TENSORS})
        tensors = {
            f"{part}/{name}": tensor.detach().cpu().contiguous()
            for part in TENSORS
            for name, tensor in getattr(self, part).items()
        }
        text = json.dumps(numbers)
        metadata = {"state": text, "checksum": state_checksum(text, tensors)}
        write_bytes(folder / STATE_FILE, safetensors.torch.save(tensors, metadata))
        write_text(folder / LOG_FILE, csv_text(self.rows))

    @classmethod
    def load(cls, folder: Path) -> TrainingState | None:
        """The stored state, none if there is none."""
        path = folder / STATE_FILE
        if not path.exists():
            return None
        check_size(path.stat().st_size, str(path), "run_bytes")
        try:
            with safetensors.safe_open(path, "pt") as file:  # type: ignore[no-untyped-call]
                metadata = file.metadata()
                numbers: dict[str, Any] = json.loads(metadata["state"])
                tensors = {name: file.get_tensor(name) for name in list(file.keys())}
            if numbers.pop("version") != STATE_VERSION:
                raise RunError(f"{path} was written by another version: start again with --overwrite")
            if metadata["checksum"] != state_checksum(metadata["state"], tensors):
                raise ValueError("it was changed after it was written")
            check_numbers(numbers)
            numbers["best_quality"] = Quality(*numbers["best_quality"])
            state = cls(**numbers)
            for key, tensor in tensors.items():
                part, _, name = key.partition("/")
                if part not in TENSORS:
                    raise ValueError(f"it has an unknown tensor {key[:60]}")
                getattr(state, part)[name] = tensor
        except (OSError, ValueError, KeyError, TypeError, RecursionError, safetensors.SafetensorError) as error:
            raise RunError(f"{path} is damaged ({error}): start again with --overwrite") from None
        return state


OnEpoch = Callable[[TrainingState], None]


class Recorder:
    """Puts epochs on record: the curves of a logger, the state in a folder, and a callback."""

    def __init__(self, fabric: Any, folder: Path | None, on_epoch: OnEpoch | None) -> None:
        self.fabric, self.folder, self.on_epoch = fabric, folder, on_epoch
        self.saved = time.monotonic()

    @property
    def due(self) -> bool:
        """Whether the last save is long enough ago."""
        return time.monotonic() - self.saved > SAVE_SECONDS

    def log(self, state: TrainingState, row: dict[str, float]) -> None:
        """Add the figures of an epoch to the curves and to the state."""
        self.fabric.log_dict(row, step=state.epoch)
        state.rows.append({"epoch": state.epoch, **row})

    def save(self, state: TrainingState, optimizer: torch.optim.Optimizer) -> None:
        """Write the state where there is a folder for it."""
        if self.folder is not None:
            state.optimizer = optimizer_tensors(optimizer)
            state.save(self.folder)
            self.saved = time.monotonic()

    def report(self, state: TrainingState) -> None:
        """Tell of the epoch."""
        if self.on_epoch is not None:
            self.on_epoch(state)


def state_checksum(text: str, tensors: dict[str, Tensor]) -> str:
    """The checksum of a state: of its numbers as JSON and of its tensors."""
    mark = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        mark.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        mark.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return mark.hexdigest()


def copy_of(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """A copy on the CPU that training does not change."""
    return {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()}


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Adam's moments and step counts as named tensors."""
    state = optimizer.state_dict()["state"]
    return {
        f"{number}/{name}": torch.as_tensor(value).detach().cpu().clone()
        for number, values in state.items()
        for name, value in values.items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Put back what ``optimizer_tensors`` took."""
    full = optimizer.state_dict()
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition("/")
        state.setdefault(int(number), {})[name] = tensor
    full["state"] = state
    optimizer.load_state_dict(full)
