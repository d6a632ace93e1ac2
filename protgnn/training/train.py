"""One training run from start to end: data and recipe in, trained model and scores out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import nn

from protgnn.graphs.packed import GraphSet
from protgnn.graphs.schema import Schema
from protgnn.model.classifier import GraphClassifier
from protgnn.training.build import build
from protgnn.training.evaluate import predict_logits, score
from protgnn.training.loop import fit
from protgnn.training.recipe import Recipe
from protgnn.training.run import Run, begin, write_run
from protgnn.training.state import TrainingState


@dataclass(frozen=True)
class Parts:
    """Graphs to learn from, to choose by, and (where there are any) to report on."""

    train: GraphSet
    valid: GraphSet
    test: GraphSet | None = None


def train(
    parts: Parts,
    recipe: Recipe,
    encoder: nn.Module | None = None,
    on_epoch: Callable[[TrainingState], None] | None = None,
    state: TrainingState | None = None,
    folder: Path | None = None,
) -> tuple[GraphClassifier, TrainingState, dict[str, Any]]:
    """Train a model; the scores are those of the exported model on each part."""
    schema = parts.train.schema
    model = build(recipe, schema, encoder)
    state = fit(model, parts.train, parts.valid, recipe, folder, state, on_epoch)
    scores: dict[str, Any] = {
        name: evaluate(model, graphs, schema)
        for name, graphs in (("train", parts.train), ("valid", parts.valid), ("test", parts.test))
        if graphs is not None
    }
    scores["epochs"], scores["best_epoch"] = state.epoch, state.best_epoch
    return model, state, scores


def train_in(
    folder: Path,
    parts: Parts,
    run: Run,
    encoder: nn.Module | None = None,
    on_epoch: Callable[[TrainingState], None] | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> tuple[GraphClassifier, Run]:
    """Train into a run directory; killed at any moment, ``resume`` ends with the same weights."""
    before = begin(folder, run, resume, overwrite)
    model, state, scores = train(parts, run.recipe, encoder, on_epoch, before, folder)
    done = replace(run, finished=True, scores=scores)
    write_run(folder, done, model, state)
    return model, done


def evaluate(model: GraphClassifier, graphs: GraphSet, schema: Schema) -> dict[str, Any]:
    """Accuracy, loss, size and per-class figures of a model on labelled graphs."""
    assert graphs.y is not None
    return score(predict_logits(model, graphs), graphs.y, schema.class_names)
