"""The training loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from protgnn.errors import ProtGNNError
from protgnn.graphs.packed import Batch, GraphSet
from protgnn.model.classifier import GraphClassifier
from protgnn.training.chance import generator_for, seed_for
from protgnn.training.evaluate import predict_logits
from protgnn.training.recipe import Recipe
from protgnn.training.state import TrainingState, copy_of, optimizer_tensors, restore_optimizer

SAVE_SECONDS = 1.0
SHUFFLED_AT_ONCE = 4096  # graphs gathered in one go: fast, and no second copy of a large dataset

OnEpoch = Callable[[TrainingState], None]


def fit(
    model: GraphClassifier,
    train: GraphSet,
    valid: GraphSet,
    recipe: Recipe,
    folder: Path | None = None,
    state: TrainingState | None = None,
    on_epoch: OnEpoch | None = None,
) -> TrainingState:
    """Train in place until the last epoch or early stop, and leave the model with its best weights.

    With a ``folder`` the state is kept there as training goes on; a ``state`` read from there continues it.
    """
    fabric = _fabric(recipe, folder, state)
    optimizer: Any = torch.optim.Adam(
        model.parameters(), recipe.lr, weight_decay=recipe.weight_decay, fused=fabric.device.type in ("cpu", "cuda")
    )
    state = state or TrainingState()
    if state.epoch:
        model.load_state_dict(state.model)
    wrapped, optimizer = fabric.setup(model, optimizer)
    if state.epoch:
        restore_optimizer(optimizer, state.optimizer)
    light = replace(train, names=None, node_truth=None)
    saved = time.monotonic()

    with torch.random.fork_rng():
        while not _finished(state, recipe):
            epoch = state.epoch + 1
            torch.manual_seed(seed_for(recipe.seed, "dropout", epoch))
            order = torch.randperm(len(train), generator=generator_for(recipe.seed, "shuffle", epoch))
            loss, accuracy = _train_epoch(wrapped, optimizer, fabric, _shuffled(light, order, recipe.batch_size))
            valid_loss, valid_accuracy = _validate(model, valid, fabric.device)
            if not loss < float("inf"):
                raise ProtGNNError(f"The loss of epoch {epoch} is not a number: try a smaller lr than {recipe.lr}")
            row = {
                "epoch": epoch,
                "loss": loss,
                "accuracy": accuracy,
                "valid_loss": valid_loss,
                "valid_accuracy": valid_accuracy,
            }
            state.epoch = epoch
            state.rows.append(row)
            fabric.log_dict({key: value for key, value in row.items() if key != "epoch"}, step=epoch)
            if state.improves(valid_accuracy, valid_loss):
                state.best_epoch, state.best_accuracy, state.best_loss = epoch, valid_accuracy, valid_loss
                state.best = copy_of(model.state_dict())
            if folder is not None and (time.monotonic() - saved > SAVE_SECONDS or _finished(state, recipe)):
                state.model, state.optimizer = copy_of(model.state_dict()), optimizer_tensors(optimizer)
                state.save(folder)
                saved = time.monotonic()
            if on_epoch is not None:
                on_epoch(state)
    model.cpu()
    model.load_state_dict(state.best)
    model.eval()
    return state


def _finished(state: TrainingState, recipe: Recipe) -> bool:
    stale = state.epoch - state.best_epoch
    return state.epoch >= recipe.epochs or (recipe.patience > 0 and stale >= recipe.patience)


def _fabric(recipe: Recipe, folder: Path | None, state: TrainingState | None) -> Any:
    from lightning_fabric import Fabric
    from lightning_fabric.loggers.tensorboard import TensorBoardLogger

    loggers: list[Any] = []
    if folder is not None and find_spec("tensorboard") is not None:
        purge = state.epoch + 1 if state else None
        loggers.append(TensorBoardLogger(folder, name="tensorboard", version="", purge_step=purge))
    return Fabric(accelerator=recipe.accelerator, devices=1, precision=recipe.precision, loggers=loggers)


def _shuffled(graphs: GraphSet, order: Tensor, size: int) -> Iterator[Batch]:
    """Batches in the given order; graphs are gathered many batches at a time and then only sliced."""
    step = max(SHUFFLED_AT_ONCE // size, 1) * size
    for start in range(0, len(order), step):
        yield from graphs[order[start : start + step]].batches(size)


def _train_epoch(model: Any, optimizer: Any, fabric: Any, batches: Iterator[Batch]) -> tuple[float, float]:
    """One pass over the training graphs; mean loss and accuracy on the way."""
    model.train()
    total = correct = torch.zeros(())
    count = 0
    for batch in batches:
        batch = batch.to(fabric.device)
        optimizer.zero_grad(set_to_none=True)
        logits = model(batch)
        assert batch.y is not None
        loss = cross_entropy(logits, batch.y)
        fabric.backward(loss)
        optimizer.step()
        with torch.no_grad():
            total = total + loss.detach().cpu() * batch.num_graphs
            correct = correct + (logits.argmax(1) == batch.y).sum().cpu()
        count += batch.num_graphs
    return float(total) / count, float(correct) / count


def _validate(model: GraphClassifier, graphs: GraphSet, device: torch.device) -> tuple[float, float]:
    assert graphs.y is not None
    logits = predict_logits(model, graphs, device)
    return float(cross_entropy(logits, graphs.y)), float((logits.argmax(1) == graphs.y).float().mean())
