"""The state of a training around its model: device, optimiser, weight average, validation, best state, log."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.data.network.instances import Instances
from protgnn.errors import ProtGNNError
from protgnn.io.ranks import ALONE, Ranks
from protgnn.model.classifier import GraphClassifier
from protgnn.training.checkpoint import OnEpoch, Recorder, TrainingState, copy_of, restore_optimizer
from protgnn.training.device import compile_encoder, make_fabric
from protgnn.training.ema import WeightAverage
from protgnn.training.evaluate import predict_logits
from protgnn.training.recipe import Recipe
from protgnn.training.resolve import criterion_of, settled
from protgnn.training.selection import Quality, finished, log_row, stage_window, window_mean

Model = TypeVar("Model", bound=GraphClassifier)


class Session(Generic[Model]):
    """A model in training, and everything that changes with it from one epoch to the next.

    ``model`` is trained. ``exported`` is validated and kept: the running average of its weights if the recipe asks for
    one, otherwise the model itself. With several ``ranks`` each process has its own session, and all hold the same
    weights after every step.
    """

    def __init__(
        self,
        model: Model,
        train: Instances,
        valid: Instances,
        recipe: Recipe,
        folder: Path | None,
        state: TrainingState,
        on_epoch: OnEpoch | None,
        ranks: Ranks = ALONE,
    ) -> None:
        self.model, self.recipe, self.state, self.ranks = model, recipe, state, ranks
        self.train, self.valid, self.criterion = train.without_metadata(), valid, criterion_of(recipe, train)
        self.valid_share = valid if ranks.alone else valid[ranks.block(len(valid))]  # made once, as it may keep graphs
        self.fabric = make_fabric(recipe, folder, state.epoch)
        self.wrapped = self.fabric.setup_module(model)
        self.wrapped.mark_forward_method("embed")
        self.wrapped.mark_forward_method("embed_parts")
        self.average = WeightAverage(model, recipe.averaging) if recipe.averaging else None
        self.exported: Model = model if self.average is None else self.average.model
        if self.average is not None and state.average:
            self.exported.load_state_dict(state.average)
            self.average.steps = state.average_steps
        if recipe.compile:
            compile_encoder(model)
        for one in dict.fromkeys((self.model, self.exported)):
            ranks.average(list(one.state_dict().values()), float(ranks.first))  # begin as the first rank does
        self.recorder = Recorder(self.fabric, folder, on_epoch)
        self.optimizer: Any = None
        self.most, self.window = 0, 1

    @property
    def device(self) -> torch.device:
        device: torch.device = self.fabric.device
        return device

    @property
    def anchored(self) -> bool:
        """Whether prototypes are fixed to the embeddings of their subgraphs."""
        return self.state.stage != "learn"

    def embed(self, batch: Batch, parts: bool = False) -> Tensor:
        """Embeddings ``[B, H]`` in the recipe's precision; heads and costs are computed in full precision."""
        with self.fabric.autocast():
            h: Tensor = self.wrapped.embed_parts(batch) if parts else self.wrapped.embed(batch)
        return h.float()

    def epochs(self, most: int, window: int, lr: float) -> Iterator[int]:
        """Count the epochs left of a stage of at most ``most``. Each stage starts with a new optimiser."""
        state, recipe = self.state, self.recipe
        self.most, self.window = most, stage_window(window, most, settled(recipe.patience))
        fused = self.device.type in ("cpu", "cuda")
        groups = parameter_groups(self.model, recipe.sampler_lr)
        adam = torch.optim.Adam(groups, lr, weight_decay=recipe.weight_decay, fused=fused)
        self.optimizer = self.fabric.setup_optimizers(adam)
        if state.optimizer:
            restore_optimizer(self.optimizer, state.optimizer)
        while not self._finished():
            state.epoch += 1
            yield state.epoch

    def step(self, loss: Tensor, weight: float | None = None) -> None:
        """Take one step along the gradient of a loss; with several ranks along the mean of their gradients.

        ``weight`` is the weight of this rank in that mean; by default all ranks have the same.
        """
        self.fabric.backward(loss)
        self.ranks.average_gradients(
            list(self.model.parameters()), 1 / self.ranks.world_size if weight is None else weight
        )
        self.optimizer.step()
        if self.average is not None:
            self.average.update()

    def synchronise(self) -> None:
        """Average weights and buffers over the ranks: norms saw different graphs, and devices may round differently."""
        for model in dict.fromkeys((self.model, self.exported)):
            self.ranks.average(list(model.state_dict().values()))

    def end_epoch(self, loss: float, accuracy: float) -> None:
        """Validate, keep the state if it is the best of its stage, and log the epoch."""
        found, state = self.validate(), self.state
        check_finite(-found.minus_loss, f"The validation loss of epoch {state.epoch}", f"lr below {self.recipe.lr}")
        by = self.criterion.select_by
        self.recorder.log(state, {"loss": loss, "accuracy": accuracy, **log_row(found, by)})
        if (mean := window_mean(state.rows, self.window, state.stage_start, by)) is not None:
            self.keep_if_best(mean)
        if self.recorder.folder is not None and (self.recorder.due or self._finished()):
            state.model = copy_of(self.model.state_dict())
            if self.average is not None:
                state.average, state.average_steps = copy_of(self.exported.state_dict()), self.average.steps
            self.recorder.save(state, self.optimizer)
        self.recorder.report(state)

    def validate(self) -> Quality:
        """The quality of the exported model on the validation graphs; whole graphs are compared before anchoring."""
        assert self.valid.y is not None
        classes = torch.zeros(0, len(self.valid.schema.class_names))
        logits = self.ranks.gather_rows(
            len(self.valid),
            lambda _: predict_logits(self.exported, self.valid_share, self.device, whole=not self.anchored),
            classes,
        )
        return self.criterion.quality(logits, self.valid.y)

    def keep_if_best(self, found: Quality) -> None:
        """Keep the exported weights if nothing in this stage was better."""
        state = self.state
        if found > state.best_quality:
            state.best_epoch, state.best_quality = state.epoch, found
            state.best = copy_of(self.exported.state_dict())

    def restore_best(self) -> None:
        """Restore the best state of the stage, and restart the weight average from it."""
        if not self.state.best:  # the stage had no epoch
            self.keep_if_best(self.validate())
        self.model.load_state_dict(self.state.best)
        if self.average is not None:
            self.average.restart()

    def _finished(self) -> bool:
        state = self.state
        patience = settled(self.recipe.patience)
        return finished(state.epoch - state.stage_start, state.epoch - state.best_epoch, self.most, patience)


def check_finite(loss: float, name: str, advice: str) -> None:
    """Refuse a loss that is not finite, with advice on what to try."""
    if not math.isfinite(loss):
        raise ProtGNNError(f"{name} is not a number: try {advice}")


def parameter_groups(model: GraphClassifier, sampler_lr: float) -> list[dict[str, Any]]:
    """The parameter groups of the optimiser: the sampler has its own learning rate."""
    own = [value for name, value in model.named_parameters() if name.startswith("sampler.")]
    rest = [value for name, value in model.named_parameters() if not name.startswith("sampler.")]
    return [{"params": rest}, {"params": own, "lr": sampler_lr}] if own else [{"params": rest}]
