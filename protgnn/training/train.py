"""One training run from start to end: data and recipe in, trained model and scores out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from torch import nn

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.data.schema import Schema
from protgnn.featurizers.vocabulary import vocabulary_of
from protgnn.model.classifier import GraphClassifier, ProtGNN
from protgnn.model.mined import ProtGNNMined
from protgnn.training.add_composition import add_composition
from protgnn.training.algorithm import fit
from protgnn.training.build import build
from protgnn.training.calibration import calibrate
from protgnn.training.checkpoint import OnEpoch, TrainingState
from protgnn.training.device import check_device, join_ranks
from protgnn.training.evaluate import Outcome, assess, faithfulness, familiarity
from protgnn.training.mined_algorithm import drop_idle
from protgnn.training.prototype_cards import Prototypes, describe_prototypes
from protgnn.training.recipe import Recipe
from protgnn.training.resolve import as_model_input, criterion_of, resolve
from protgnn.training.run import Run
from protgnn.training.run_folder import finish, training_in
from protgnn.training.scores import score
from protgnn.training.shared_run import begun_by_first


@dataclass(frozen=True)
class SplitData:
    """Instances to learn from, to choose by, and (where there are any) to report on."""

    train: Instances
    valid: Instances
    test: Instances | None = None

    def as_model_input(self, recipe: Recipe) -> SplitData:
        """The same parts as a model of that recipe sees them."""
        test = None if self.test is None else as_model_input(recipe, self.test)
        return SplitData(as_model_input(recipe, self.train), as_model_input(recipe, self.valid), test)


@dataclass(frozen=True)
class Trained:
    """A trained model, how training went, how good it is, and its prototypes if it has any.

    ``recipe`` is what it was trained with, in which nothing is left to be chosen by the data, ``seen`` are the columns
    of node features that the training graphs had, and ``vocabulary`` are the words of training sentences.
    """

    model: GraphClassifier
    recipe: Recipe
    state: TrainingState
    scores: dict[str, Any]
    prototypes: Prototypes | None
    seen: list[int] | None = None
    vocabulary: frozenset[str] | None = None


@dataclass(frozen=True)
class _Prepared:
    """A model with its initial weights, the settled recipe it was built from, and the parts as it sees them."""

    recipe: Recipe
    parts: SplitData
    model: GraphClassifier


def _prepare(parts: SplitData, recipe: Recipe, encoder: nn.Module | None) -> _Prepared:
    """Settle the recipe and build the model; what cannot be trained is refused here."""
    check_device(recipe)
    recipe = resolve(recipe, parts.train, encoder)
    return _Prepared(recipe, parts.as_model_input(recipe), build(recipe, parts.train.schema, encoder))


def train(
    parts: SplitData,
    recipe: Recipe,
    encoder: nn.Module | None = None,
    on_epoch: OnEpoch | None = None,
    state: TrainingState | None = None,
    folder: Path | None = None,
) -> Trained:
    """Train a model; the scores are those of the exported model on each part."""
    return _train(_prepare(parts, recipe, encoder), on_epoch, state, folder)


def train_in(
    folder: Path,
    parts: SplitData,
    run: Run,
    encoder: nn.Module | None = None,
    on_epoch: OnEpoch | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> tuple[GraphClassifier, Run]:
    """Train into a run directory; killed at any moment, ``resume`` ends with the same weights.

    Of several processes that ``torchrun`` has started the first writes, and the others follow it.
    """
    prepared = _prepare(parts, run.recipe, encoder)  # before anything is written
    run = replace(run, recipe=prepared.recipe)
    ranks = join_ranks(prepared.recipe)
    ranks.check_equal("" if run.data is None else run.data.fingerprint, "data")
    ranks.check_equal(run.recipe.model_dump_json(), "recipe")
    settle = partial(resolve, train=parts.train, encoder=encoder)
    with begun_by_first(ranks, partial(training_in, folder, run, resume, overwrite, settle)) as begun:
        trained = _train(prepared, on_epoch, begun.state, begun.folder)
        done = replace(run, finished=True, scores=trained.scores, prototypes=trained.prototypes)
        done = replace(done, seen=trained.seen, vocabulary=trained.vocabulary)
        if ranks.first:
            finish(folder, done, trained.model, trained.state)
    return trained.model, done


def _train(prepared: _Prepared, on_epoch: OnEpoch | None, state: TrainingState | None, folder: Path | None) -> Trained:
    model, recipe, parts = prepared.model, prepared.recipe, prepared.parts
    state = fit(model, parts.train, parts.valid, recipe, folder, state, on_epoch)
    add_composition(model, parts.train, parts.valid, criterion_of(recipe, parts.train), recipe.seed)
    temperature = calibrate(model, parts.valid) if recipe.calibrate else None
    if isinstance(model, ProtGNNMined):
        state.sources = drop_idle(model, parts.train, state.sources)
    # Promises are for graphs that were held out, and checking them is slow.
    held_out = [parts.valid] if parts.test is None else [parts.valid, parts.test]
    learned, *others = [assess(model, parts.train), *(assess(model, part, check_evidence=True) for part in held_out)]
    prototypes = None
    if isinstance(model, ProtGNN):
        prototypes = describe_prototypes(model, parts.train, state.sources, learned.similar)
    scores: dict[str, Any] = {"train": _figures(model, parts.train, learned)}
    for name, part, outcome in zip(("valid", "test"), held_out, others, strict=False):
        scores[name] = _figures(model, part, outcome, prototypes, with_intervals=name == "test")
    if others[0].similar is not None:
        scores["familiarity"] = familiarity(others[0].similar)
    if recipe.plus and state.stage_start:
        scores["warm_up_accuracy"] = state.learned_accuracy
    scores["epochs"], scores["best_epoch"] = state.epoch, state.best_epoch
    if temperature is not None:
        scores["temperature"] = temperature
    seen = vocabulary = None
    if isinstance(parts.train, GraphSet):
        seen, vocabulary = parts.train.x.any(0).nonzero().squeeze(1).tolist(), vocabulary_of(parts.train)
    return Trained(model, recipe, state, scores, prototypes, seen, vocabulary)


def evaluate(
    model: GraphClassifier, graphs: Instances, schema: Schema, prototypes: Prototypes | None = None
) -> dict[str, Any]:
    """The scores of a model on labelled graphs with their intervals, and how it keeps its promises."""
    graphs_outcome = assess(model, graphs, check_evidence=prototypes is not None)
    return _figures(model, graphs, graphs_outcome, prototypes, schema, with_intervals=True)


def _figures(
    model: GraphClassifier,
    graphs: Instances,
    outcome: Outcome,
    prototypes: Prototypes | None = None,
    schema: Schema | None = None,
    with_intervals: bool = False,
) -> dict[str, Any]:
    assert graphs.y is not None
    names, link = (schema or graphs.schema).class_names, 1 if graphs.num_targets == 2 else None
    figures = score(outcome.logits, graphs.y, names, link, with_intervals)
    if prototypes is not None and isinstance(model, ProtGNN):
        figures |= faithfulness(model, outcome, prototypes.subgraphs)
    return figures
