"""One training run from start to end: data and recipe in, trained model and scores out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import nn

from protgnn.graphs.instances import Instances
from protgnn.graphs.packed import GraphSet
from protgnn.graphs.schema import Schema
from protgnn.model.classifier import GraphClassifier
from protgnn.model.prototypes import PrototypeHead
from protgnn.training.build import build
from protgnn.training.evaluate import familiarity, link_scores, predict_logits, promises, score
from protgnn.training.loop import fit
from protgnn.training.machine import check_machine
from protgnn.training.prototypes import Prototypes, describe_prototypes
from protgnn.training.recipe import Recipe
from protgnn.training.run import Run, begin, write_run
from protgnn.training.state import TrainingState
from protgnn.training.task import recipe_for, seen_by


@dataclass(frozen=True)
class Parts:
    """Instances to learn from, to choose by, and (where there are any) to report on."""

    train: Instances
    valid: Instances
    test: Instances | None = None

    def seen_by(self, recipe: Recipe) -> Parts:
        """The same parts as a model of that recipe sees them."""
        test = None if self.test is None else seen_by(recipe, self.test)
        return Parts(seen_by(recipe, self.train), seen_by(recipe, self.valid), test)


@dataclass(frozen=True)
class Trained:
    """A trained model, how training went, how good it is, and its prototypes if it has any.

    ``recipe`` is what it was trained with, in which nothing is left to be chosen by the data, and ``seen`` are the
    columns of node features that the training graphs had.
    """

    model: GraphClassifier
    recipe: Recipe
    state: TrainingState
    scores: dict[str, Any]
    prototypes: Prototypes | None
    seen: list[int] | None = None


def train(
    parts: Parts,
    recipe: Recipe,
    encoder: nn.Module | None = None,
    on_epoch: Callable[[TrainingState], None] | None = None,
    state: TrainingState | None = None,
    folder: Path | None = None,
) -> Trained:
    """Train a model; the scores are those of the exported model on each part."""
    check_machine(recipe)
    recipe = recipe_for(recipe, parts.train, encoder)
    parts, schema = parts.seen_by(recipe), parts.train.schema
    model = build(recipe, schema, encoder)
    state = fit(model, parts.train, parts.valid, recipe, folder, state, on_epoch)
    prototypes = None
    if isinstance(model.head, PrototypeHead):
        prototypes = describe_prototypes(model, parts.train, state.sources)
    scores: dict[str, Any] = {
        name: evaluate(model, graphs, schema, prototypes if name != "train" else None)
        for name, graphs in (("train", parts.train), ("valid", parts.valid), ("test", parts.test))
        if graphs is not None
    }  # promises are for graphs that were held out; checking them is slow, as each piece of evidence is encoded alone
    if prototypes is not None:
        scores["familiarity"] = familiarity(model, parts.valid)
    if recipe.plus and state.stage_start:
        scores["warm_up_accuracy"] = state.learned_accuracy
    scores["epochs"], scores["best_epoch"] = state.epoch, state.best_epoch
    seen = None
    if isinstance(parts.train, GraphSet):
        seen = parts.train.x.any(0).nonzero().squeeze(1).tolist()
    return Trained(model, recipe, state, scores, prototypes, seen)


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
    check_machine(run.recipe)
    run = replace(run, recipe=recipe_for(run.recipe, parts.train, encoder))
    build(run.recipe, run.schema, encoder)  # what cannot be built is refused before anything is written
    before = begin(folder, run, resume, overwrite)
    trained = train(parts, run.recipe, encoder, on_epoch, before, folder)
    done = replace(run, finished=True, scores=trained.scores, prototypes=trained.prototypes, seen=trained.seen)
    write_run(folder, done, trained.model, trained.state)
    return trained.model, done


def evaluate(
    model: GraphClassifier, graphs: Instances, schema: Schema, prototypes: Prototypes | None = None
) -> dict[str, Any]:
    """Accuracy, loss, size and per-class figures of a model on labelled graphs, and how it keeps its promises."""
    assert graphs.y is not None
    logits = predict_logits(model, graphs)
    figures = score(logits, graphs.y, schema.class_names)
    if graphs.num_targets == 2:
        figures |= link_scores(logits, graphs.y)
    return figures if prototypes is None else {**figures, **promises(model, graphs, prototypes.subgraphs)}
