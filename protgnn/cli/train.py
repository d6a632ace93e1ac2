"""``protgnn train``: from data and a recipe to a run directory."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protgnn.cli.console import (
    err,
    evidence_advice,
    print_error,
    print_folds,
    print_json,
    print_line,
    print_scores,
    say,
    warn,
)
from protgnn.cli.options import (
    Bins,
    Dedupe,
    Directed,
    Json,
    Label,
    SkipBad,
    Smiles,
    Standardise,
    Task,
    TextColumn,
    Threshold,
    Words,
)
from protgnn.cli.preflight import check_data, check_out
from protgnn.cli.signals import Stopped, stopped_by_signals
from protgnn.errors import ProtGNNError

if TYPE_CHECKING:
    from protgnn.datasets.dataset import Dataset
    from protgnn.datasets.network_dataset import NetworkDataset
    from protgnn.training.checkpoint import TrainingState
    from protgnn.training.recipe import Recipe
    from protgnn.training.run import Run
    from protgnn.training.train import SplitData


def train(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A dataset's name, or a path to your own data.")],
    out_folder: Annotated[Path, typer.Option("--out", help="The run directory to write.")],
    encoder: Annotated[str | None, typer.Option(help="gcn, gin, gat, or a PyG model: pyg:GraphSAGE.")] = None,
    plus: Annotated[
        bool, typer.Option("--plus", help="ProtGNN+: classify from the part most like each prototype.")
    ] = False,
    recipe: Annotated[str, typer.Option(help="default (our best) or paper (exactly as in the paper).")] = "default",
    settings: Annotated[list[str] | None, typer.Option("--set", help="Set any recipe key: --set epochs=40.")] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML or JSON file of recipe keys.")] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="How the data is split: random, stratified, scaffold, scaffold-deepchem, or given by the data."
        ),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Cross-validate: this many runs, each tested on a different part of the data.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of everything random in the run.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing run.")] = False,
    smiles: Smiles = None,
    text: TextColumn = None,
    label: Label = None,
    skip_bad: SkipBad = False,
    task: Task = None,
    directed: Directed = False,
    words: Words = None,
    threshold: Threshold = None,
    bins: Bins = None,
    standardise: Standardise = False,
    dedupe: Dedupe = False,
    as_json: Json = False,
) -> None:
    """Train a model.  Example: protgnn train solubility --encoder gin --out runs/solubility"""
    check_out(out_folder, resume, overwrite, folds)
    check_data(data, smiles, text, label)
    from protgnn.training.scores import score_warnings

    chosen = [*(settings or []), *(["plus=true"] if plus else []), *([f"split={split}"] if split else [])]
    made = recipe_from_options(recipe, encoder, seed, chosen, config)
    given = {"text": text, "task": task, "directed": directed, "words": words, "threshold": threshold, "bins": bins}
    given |= {"standardise": standardise, "dedupe": dedupe}
    chosen_options = {name: value for name, value in given.items() if value is not None and value is not False}
    options: dict[str, Any] = {"smiles": smiles, "label": label, "skip_bad": skip_bad, **chosen_options}
    if folds is not None:
        summary = train_folds_into(data, options, made, out_folder, folds, resume, overwrite)
        print_json(summary) if as_json else print_folds(summary)
        return
    done = train_run(data, options, made, out_folder, resume, overwrite)
    scores = done.scores
    warn(warnings := score_warnings(scores, done.recipe.class_weight))
    if as_json:
        print_json({**scores, "warnings": warnings})
        return
    print_scores(scores["test"], done)
    if advice := evidence_advice(done.recipe, scores):
        say(advice)
    print_line(f"run: {out_folder}")


def recipe_from_options(
    name: str, encoder: str | None, seed: int | None, settings: list[str], config: Path | None
) -> Recipe:
    """The recipe that the options of a command describe: ``--set`` wins over ``--config``, and both over the name."""
    from protgnn.training.recipe import make_recipe
    from protgnn.training.settings import parse_settings, read_config

    values: dict[str, Any] = read_config(config) if config else {}
    values.update(parse_settings(settings))
    if encoder is not None:
        values["encoder"] = encoder
    if seed is not None:
        values["seed"] = seed
    if values.get("encoder") == "custom":
        raise ProtGNNError("A custom encoder is a module from Python: use protgnn.ProtGNNClassifier(encoder=module)")
    return make_recipe(name, **values)


def train_run(
    data: str, options: dict[str, Any], recipe: Recipe, folder: Path, resume: bool = False, overwrite: bool = False
) -> Run:
    """Read the data, train with a progress bar and write the run directory.

    Raises:
        ProtGNNError: The data cannot be read, or the folder holds something that must not be replaced.
        SystemExit: The user, SIGTERM or SIGHUP interrupted training; what to type to continue has been printed.
    """
    from protgnn.datasets.load import load
    from protgnn.datasets.policy import recipe_changes
    from protgnn.io.progress import ProgressBar
    from protgnn.training.recipe import total_epochs
    from protgnn.training.resolve import resolve
    from protgnn.training.train import train_in

    read = load(data, **options)
    changes = recipe_changes(read, recipe.model_fields_set)
    recipe = recipe.model_copy(update=changes.values)
    dataset = read.with_split(recipe.split, recipe.seed)
    for text in (*changes.notes, *dataset.notes):
        say(text)
    parts, run = parts_and_run(dataset, data, options, recipe)
    epochs = total_epochs(resolve(recipe, parts.train))
    with interruptible(data, folder), ProgressBar("Training", epochs, err) as bar:
        _, done = train_in(
            folder, parts, run, None, lambda state: bar.update(state.epoch, state.summary()), resume, overwrite
        )
    return done


def train_folds_into(
    data: str, options: dict[str, Any], recipe: Recipe, folder: Path, folds: int, resume: bool, overwrite: bool
) -> dict[str, Any]:
    """Cross-validate with a progress bar, a run directory per fold; what ``folds.json`` says.

    Raises:
        ProtGNNError: As in :func:`train_run`, or the data cannot be split so.
        SystemExit: As in :func:`train_run`.
    """
    from protgnn.datasets.load import load
    from protgnn.datasets.policy import recipe_changes
    from protgnn.io.progress import ProgressBar
    from protgnn.training.cross_validation import Fold, train_folds, write_summary
    from protgnn.training.recipe import total_epochs
    from protgnn.training.resolve import resolve
    from protgnn.training.scores import score_warnings

    read = load(data, **options)
    changes = recipe_changes(read, recipe.model_fields_set | {"split"})  # folds are drawn, whatever split is given
    recipe = recipe.model_copy(update=changes.values)
    datasets = read.with_folds(folds, recipe.split, recipe.seed)
    for text in (*changes.notes, *datasets[0].notes):
        say(text)
    made = [Fold(*parts_and_run(dataset, data, options, recipe)) for dataset in datasets]
    done: list[Run] = []
    epochs = total_epochs(resolve(recipe, made[0].parts.train))
    with interruptible(data, folder, "--folds", str(folds)), ProgressBar("Training", folds * epochs, err) as bar:

        def show(state: TrainingState) -> None:
            bar.update(len(done) * epochs + state.epoch, f"fold {len(done) + 1} of {folds}  {state.summary()}")

        for run in train_folds(folder, made, show, resume, overwrite):
            done.append(run)
            told = score_warnings(run.scores, run.recipe.class_weight)
            warn([f"fold {len(done)}: {text}" for text in told])
    return write_summary(folder, done)


def parts_and_run(
    dataset: Dataset | NetworkDataset, data: str, options: dict[str, Any], recipe: Recipe
) -> tuple[SplitData, Run]:
    """The parts of a dataset as it is split, and a run that is going to be trained on them."""
    from protgnn.datasets.policy import settled_options
    from protgnn.training.run import DataCard, Run
    from protgnn.training.train import SplitData

    source = data if not Path(data).exists() else str(Path(data).resolve())
    # A run names its words by what they are, not by where they were found.
    named = {"words": dataset.schema.featurizer} if "words" in options else {}
    card = DataCard(source, dataset.fingerprint(), settled_options(options | named, dataset))
    run = Run(recipe, dataset.schema, card, dataset.split_)
    return SplitData(dataset.train, dataset.valid, dataset.test), run


@contextmanager
def interruptible(data: str, folder: Path, *more: str) -> Iterator[None]:
    """Training that a signal may stop: says how to go on, and ends the process."""
    try:
        with stopped_by_signals():
            yield
    except KeyboardInterrupt as stop:
        again = shlex.join(["protgnn", "train", data, *more, "--out", str(folder)])
        print_error(f"interrupted: {again} with the same settings and --resume continues it")
        raise SystemExit(stop.status if isinstance(stop, Stopped) else 130) from None
