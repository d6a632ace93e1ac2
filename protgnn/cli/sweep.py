"""``protgnn sweep``: tuning, by any number of workers that are given the same command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protgnn.cli.console import (
    cell,
    print_error,
    print_json,
    print_line,
    print_scores,
    print_table,
    say,
    table,
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
from protgnn.cli.preflight import check_data
from protgnn.cli.signals import Stopped, stopped_by_signals
from protgnn.cli.train import parts_and_run, recipe_from_options
from protgnn.errors import ProtGNNError
from protgnn.io.torchrun import launched_rank

if TYPE_CHECKING:
    from protgnn.datasets.dataset import Dataset
    from protgnn.datasets.network_dataset import NetworkDataset
    from protgnn.sweep.best import Best
    from protgnn.sweep.trials import SweepTask
    from protgnn.training.recipe import Recipe

SHOWN = 5


def sweep(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A dataset's name, or a path to your own data.")],
    study_folder: Annotated[
        Path, typer.Option("--study", help="The folder of the study, which all workers share.", metavar="FOLDER")
    ],
    trials: Annotated[int, typer.Option(min=1, help="How many recipes all workers together try.")] = 50,
    space: Annotated[Path | None, typer.Option(help="A TOML file of recipe keys and the values to try.")] = None,
    folds: Annotated[
        int | None, typer.Option(help="Judge a recipe by its mean over this many folds of all but the test part.")
    ] = None,
    out_folder: Annotated[
        Path | None, typer.Option("--out", help="Where to export the best run; by default best/ in the study's folder.")
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(help="URL of an Optuna storage, or grpc://host:port; by default a journal in the study's folder."),
    ] = None,
    encoder: Annotated[str | None, typer.Option(help="gcn, gin, gat, or a PyG model: pyg:GraphSAGE.")] = None,
    plus: Annotated[
        bool, typer.Option("--plus", help="ProtGNN+: classify from the part most like each prototype.")
    ] = False,
    recipe: Annotated[str, typer.Option(help="The recipe to vary: default or paper.")] = "default",
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Fix any recipe key, which is then not varied: --set hidden=64.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML or JSON file of recipe keys.")] = None,
    split: Annotated[str | None, typer.Option(help="How the data is split, as in protgnn train.")] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of the split, of every run and of the sweep.")] = None,
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
    """Tune a recipe.  Example: protgnn sweep solubility --study runs/study --trials 50"""
    if launched_rank()[1] > 1:
        raise ProtGNNError("Workers of a sweep share the trials among themselves: start each without torchrun")
    check_data(data, smiles, text, label)
    chosen = [*(settings or []), *(["plus=true"] if plus else []), *([f"split={split}"] if split else [])]
    made = recipe_from_options(recipe, encoder, seed, chosen, config)
    given = {"text": text, "task": task, "directed": directed, "words": words, "threshold": threshold, "bins": bins}
    given |= {"standardise": standardise, "dedupe": dedupe}
    chosen_options = {name: value for name, value in given.items() if value is not None and value is not False}
    options: dict[str, Any] = {"smiles": smiles, "label": label, "skip_bad": skip_bad, **chosen_options}
    out = out_folder or study_folder / "best"
    best, study = sweep_into(data, options, made, study_folder, trials, space, folds, storage, out)
    print_json(_as_json(best, study, out)) if as_json else _print(best, study, out)


def sweep_into(
    data: str,
    options: dict[str, Any],
    recipe: Recipe,
    folder: Path,
    trials: int,
    space: Path | None,
    folds: int | None,
    storage: str | None,
    out: Path,
) -> tuple[Best, Any]:
    """Read the data, work on the study until it has its trials, and export the best; that, and the study.

    Raises:
        ProtGNNError: The data, the space or the study cannot be used.
        SystemExit: The user, SIGTERM or SIGHUP interrupted the worker; what continues has been printed.
    """
    from protgnn.sweep.best import export_best, refuse_foreign_run
    from protgnn.sweep.space import read_space
    from protgnn.sweep.trials import StudyWorker, work

    possible = read_space(space)
    refuse_foreign_run(folder, out)
    dataset, recipe = _read(data, options, recipe)
    job = sweep_task(dataset, data, options, recipe, folds)
    worker = StudyWorker(folder, job, job.to_try(possible), storage, print_error)
    try:
        with stopped_by_signals():
            study = work(worker, trials)
            best = export_best(worker, study, dataset.test, parts_and_run(dataset, data, options, recipe)[1].split, out)
    except KeyboardInterrupt as stop:
        print_error("interrupted: the same command continues the study")
        raise SystemExit(stop.status if isinstance(stop, Stopped) else 130) from None
    return best, study


def _read(data: str, options: dict[str, Any], recipe: Recipe) -> tuple[Dataset | NetworkDataset, Recipe]:
    from protgnn.datasets.load import load
    from protgnn.datasets.policy import recipe_changes

    read = load(data, **options)
    changes = recipe_changes(read, recipe.model_fields_set)
    recipe = recipe.model_copy(update=changes.values)
    dataset = read.with_split(recipe.split, recipe.seed)
    for text in (*changes.notes, *dataset.notes):
        say(text)
    return dataset, recipe


def sweep_task(
    dataset: Dataset | NetworkDataset, data: str, options: dict[str, Any], recipe: Recipe, folds: int | None
) -> SweepTask:
    """What trials train on: the parts without the test part, or folds of them.

    Raises:
        ProtGNNError: Such data has no folds.
    """
    from protgnn.datasets.dataset import Dataset
    from protgnn.datasets.splits import folds as draw_folds
    from protgnn.sweep.trials import SweepTask
    from protgnn.training.cross_validation import Fold
    from protgnn.training.train import SplitData

    parts, run = parts_and_run(dataset, data, options, recipe)
    seen = SplitData(parts.train, parts.valid)
    if run.split is not None:  # a trial's run knows of no test part, so that nobody looks at it by mistake
        run = replace(run, split=replace(run.split, test=run.split.test[:0]))
    if folds is None:
        return SweepTask(seen, run)
    if not isinstance(dataset, Dataset):
        raise ProtGNNError("The folds of a sweep are for graphs: sweep networks without --folds")
    rest = dataset.split_.train.new_tensor(sorted([*dataset.split_.train.tolist(), *dataset.split_.valid.tolist()]))
    kind = "stratified" if recipe.split == "given" else recipe.split
    made = []
    for one in draw_folds(dataset.graphs[rest], folds, kind, recipe.seed):
        mapped = replace(one, train=rest[one.train], valid=rest[one.valid], test=rest[one.test])
        made.append(Fold(*parts_and_run(replace(dataset, chosen_split=mapped), data, options, recipe)))
    return SweepTask(seen, run, made)


def _as_json(best: Best, study: Any, out: Path) -> dict[str, Any]:
    rows = [
        {"trial": one.number, "state": one.state.name.lower(), "value": one.value, "changes": one.params}
        for one in study.get_trials(deepcopy=False)
    ]
    return {
        "best": {"trial": best.trial, "value": best.value, "changes": best.changes, "run": str(out)},
        "test": best.run.scores["test"],
        "tested_trials": best.looked,
        "trials": rows,
    }


def _print(best: Best, study: Any, out: Path) -> None:
    from protgnn.training.scores import score_warnings

    found = study.get_trials(deepcopy=False)
    states = [one.state.name.lower() for one in found]
    counts = ", ".join(f"{states.count(state)} {state}" for state in ("complete", "pruned", "fail") if state in states)
    print_line(f"{len(found)} trials: {counts}", bold=True)
    shown = table("trial", best.run.recipe.select_by, "changes", padding=False)
    ended = sorted((one for one in found if one.state.name == "COMPLETE"), key=lambda one: (-one.value, one.number))
    for one in ended[:SHOWN]:
        changes = " ".join(f"{key}={value:.3g}" if isinstance(value, float) else f"{key}={value}"
                           for key, value in one.params.items())  # fmt: skip
        shown.add_row(str(one.number), f"{one.value:.4f}", cell(changes or "the recipe as it is"))
    print_table(shown)
    warn(score_warnings(best.run.scores, best.run.recipe.class_weight))
    if len(best.looked) > 1:
        warn([f"the test part has been used for {len(best.looked)} trials, as others were best before"])
    print_scores(best.run.scores["test"], best.run)
    print_line(f"run: {out}")
