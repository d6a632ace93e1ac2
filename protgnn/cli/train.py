"""``protgnn train``: from data and a recipe to a run directory."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protgnn.cli.console import (
    err,
    evidence_advice,
    held_out,
    print_error,
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
    from protgnn.training.recipe import Recipe
    from protgnn.training.run import Run


def train(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A dataset's name, or a path to your own data.")],
    out_folder: Annotated[Path, typer.Option("--out", help="The run directory to write.")],
    encoder: Annotated[str | None, typer.Option(help="gcn, gin, gat, or a PyG model: pyg:GraphSAGE.")] = None,
    plus: Annotated[
        bool, typer.Option("--plus", help="ProtGNN+: classify from the part most like each prototype.")
    ] = False,
    recipe: Annotated[str, typer.Option(help="default (our best) or paper (the paper's letter).")] = "default",
    settings: Annotated[list[str] | None, typer.Option("--set", help="Any recipe key: --set epochs=40.")] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML or JSON file of recipe keys.")] = None,
    seed: Annotated[int | None, typer.Option(help="The one seed of the run.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run that was interrupted.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run that is there.")] = False,
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
    check_out(out_folder, resume, overwrite)
    check_data(data, smiles, text, label)
    from protgnn.training.scores import score_warnings

    made = recipe_from_options(recipe, encoder, seed, [*(settings or []), *(["plus=true"] if plus else [])], config)
    options: dict[str, Any] = {"smiles": smiles, "label": label, "skip_bad": skip_bad}
    options |= {} if text is None else {"text": text}
    options |= {"task": task} if task else {}
    options |= {"directed": True} if directed else {}
    options |= {"words": words} if words else {}
    options |= {} if threshold is None else {"threshold": threshold}
    options |= {} if bins is None else {"bins": bins}
    options |= {"standardise": True} if standardise else {}
    options |= {"dedupe": True} if dedupe else {}
    done = train_run(data, options, made, out_folder, resume, overwrite)
    scores = done.scores
    warn(warnings := score_warnings(scores))
    if as_json:
        print_json({**scores, "warnings": warnings})
        return
    print_scores(scores["test"], held_out(done))
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
    from protgnn.datasets.policy import recipe_changes, settled_options
    from protgnn.io.progress import ProgressBar
    from protgnn.training.recipe import total_epochs
    from protgnn.training.run import DataCard, Run
    from protgnn.training.train import SplitData, train_in

    read = load(data, **options)
    changes = recipe_changes(read, recipe.model_fields_set)
    recipe = recipe.model_copy(update=changes.values)
    dataset = read.with_split(recipe.split, recipe.seed)
    for text in (*changes.notes, *dataset.notes):
        say(text)
    source = data if not Path(data).exists() else str(Path(data).resolve())
    # A run names its words by what they are, not by where they were found.
    named = {"words": dataset.schema.featurizer} if "words" in options else {}
    card = DataCard(source, dataset.fingerprint(), settled_options(options | named, dataset))
    run = Run(recipe, dataset.schema, card, dataset.split_)
    parts = SplitData(dataset.train, dataset.valid, dataset.test)
    try:
        with stopped_by_signals(), ProgressBar("Training", total_epochs(recipe), err) as bar:
            _, done = train_in(
                folder, parts, run, None, lambda state: bar.update(state.epoch, state.summary()), resume, overwrite
            )
    except KeyboardInterrupt as stop:
        again = shlex.join(["protgnn", "train", data, "--out", str(folder)])
        print_error(f"interrupted: {again} with the same settings and --resume continues")
        raise SystemExit(stop.status if isinstance(stop, Stopped) else 130) from None
    return done
