"""The state of unfinished training: one safetensors file, so that it is whole or not there."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from protgnn.errors import RunError
from protgnn.training.files import csv_text, write_bytes, write_text

STATE_FILE, LOG_FILE, TENSORBOARD = "state.safetensors", "log.csv", "tensorboard"
STATE_VERSION = 4
TENSORS = ("model", "average", "best", "learned", "optimizer")


@dataclass
class TrainingState:
    """Where training stands after ``epoch`` epochs."""

    epoch: int = 0
    best_epoch: int = 0
    best_accuracy: float = -1.0
    best_loss: float = float("inf")
    stage: str = "learn"  # then "anchored"
    stage_start: int = 0  # the epoch after which the stage began
    learned_epoch: int = 0  # of the best of the stage before
    learned_accuracy: float = -1.0
    sources: list[dict[str, Any]] = field(default_factory=list)  # the subgraphs of anchored prototypes
    rows: list[dict[str, float]] = field(default_factory=list)
    model: dict[str, Tensor] = field(default_factory=dict)
    average: dict[str, Tensor] = field(default_factory=dict)
    average_steps: int = 0
    best: dict[str, Tensor] = field(default_factory=dict)
    learned: dict[str, Tensor] = field(default_factory=dict)  # the best of the stage before
    optimizer: dict[str, Tensor] = field(default_factory=dict)

    def begin(self, stage: str) -> None:
        """Start the next stage: nothing of it has been seen yet, so anything is better."""
        self.learned, self.learned_epoch, self.learned_accuracy = self.best, self.best_epoch, self.best_accuracy
        self.stage, self.stage_start, self.best_epoch = stage, self.epoch, self.epoch
        self.best, self.best_accuracy, self.best_loss, self.optimizer = {}, -1.0, float("inf"), {}

    def finished(self, epochs: int, patience: int) -> bool:
        """Whether the stage has had its epochs or (patience 0: never) waited long enough for a better one."""
        waited = self.epoch - self.best_epoch
        return self.epoch - self.stage_start >= epochs or (patience > 0 and waited >= patience)

    def improves(self, accuracy: float, loss: float) -> bool:
        """A higher validation accuracy, or the same with a lower loss."""
        return accuracy > self.best_accuracy or (accuracy == self.best_accuracy and loss < self.best_loss)

    def lately(self, epochs: int) -> tuple[float, float] | None:
        """Loss and accuracy on the validation graphs, in the mean over so many last epochs; none before the stage has
        had as many.

        With few validation graphs the best of many epochs is a lucky one, and it may be one of the first, in which
        little was learned. On splits within the training part of MUTAG the epoch that was best by itself classified
        83 % of unseen graphs right before prototypes are anchored and 85 % after (ProtGNN, 46 choices), and 87.5 % with
        evidence (ProtGNN+, 24 choices); the one that was best in the mean of twenty 85, 85 and 89 %. For the plain GIN
        the two were 86 and 85 % (20 choices), which is chance.
        """
        rows = [row for row in self.rows[-epochs:] if row["epoch"] > self.stage_start]
        if len(rows) < epochs:
            return None
        accuracy = fmean(row["valid_accuracy"] for row in rows)
        return fmean(row["valid_loss"] for row in rows), round(accuracy, 9)  # equal sums in another order are equal

    def summary(self) -> str:
        """The last epoch in a few words, for a progress bar."""
        row = self.rows[-1]
        best = f" (best {self.best_accuracy:.3f})" if self.best_accuracy >= 0 else ""  # none in the first epochs
        return f"loss {row['loss']:.3f}  accuracy {row['valid_accuracy']:.3f}{best}"

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
        metadata = {"state": text, "checksum": _checksum(text, tensors)}
        write_bytes(folder / STATE_FILE, safetensors.torch.save(tensors, metadata))
        write_text(folder / LOG_FILE, csv_text(self.rows))

    @classmethod
    def load(cls, folder: Path) -> TrainingState | None:
        """The stored state, none if there is none."""
        path = folder / STATE_FILE
        if not path.exists():
            return None
        try:
            with safetensors.safe_open(path, "pt") as file:  # type: ignore[no-untyped-call]
                metadata = file.metadata()
                numbers: dict[str, Any] = json.loads(metadata["state"])
                tensors = {name: file.get_tensor(name) for name in list(file.keys())}
            if numbers.pop("version") != STATE_VERSION:
                raise RunError(f"{path} was written by another version: start again with --overwrite")
            if metadata["checksum"] != _checksum(metadata["state"], tensors):
                raise ValueError("it was changed after it was written")
            state = cls(**numbers)
        except (OSError, ValueError, KeyError, TypeError, safetensors.SafetensorError) as error:
            raise RunError(f"{path} is damaged ({error}): start again with --overwrite") from None
        for key, tensor in tensors.items():
            part, _, name = key.partition("/")
            getattr(state, part)[name] = tensor
        return state


def _checksum(text: str, tensors: dict[str, Tensor]) -> str:
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
