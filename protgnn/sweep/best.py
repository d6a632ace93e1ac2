"""The best trial of a study, exported as a run and tested once.

``best.json`` in the study's folder records which trials were scored on the test set, and how well; it is asked first,
so that the test set is looked at once for each trial that was ever the best, whoever exports it how often.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from protgnn.data.network.instances import Instances
from protgnn.data.split import Split
from protgnn.errors import ProtGNNError
from protgnn.io.atomic_files import write_json
from protgnn.sweep.claims import study_locked
from protgnn.sweep.space import recipe_with
from protgnn.sweep.trials import StudyWorker, train_or_open, trial_folder
from protgnn.training.checkpoint import TrainingState
from protgnn.training.folder_checks import RUN_FILE
from protgnn.training.resolve import as_model_input
from protgnn.training.run import Run, load_model
from protgnn.training.run_file import LOG_FILE
from protgnn.training.run_folder import save_run
from protgnn.training.train import evaluate

BEST_FILE = "best.json"
DAY = 86_400.0


@dataclass(frozen=True)
class Best:
    """The best trial: its number, how good it was where it was chosen, what it changed in the recipe, and its run.

    ``looked`` are the trials that were scored on the test set so far.
    """

    trial: int
    value: float
    changes: dict[str, Any]
    run: Run
    looked: list[int]


def refuse_foreign_run(folder: Path, out: Path) -> None:
    """Refuse to export over a run that is not of this study."""
    if (out / RUN_FILE).exists() and str(out.resolve()) not in _record(folder)["exported"]:
        raise ProtGNNError(f"{out} holds a run already: choose another --out")


def export_best(worker: StudyWorker, study: Any, test: Instances, split: Split | None, out: Path) -> Best:
    """Write the best trial to ``out`` with its scores on the test set, and return it.

    Args:
        worker: Who exports; others wait and find it done.
        study: The study, all of whose trials are done.
        test: The part that no trial has seen.
        split: The numbers of all parts, which the exported run tells.
        out: A run directory.

    Raises:
        ProtGNNError: No trial has come to its end, or ``out`` holds another run.
    """
    try:
        trial = study.best_trial
    except ValueError:
        raise ProtGNNError(f"No trial of {worker.folder} has come to its end{_why(study)}") from None
    with study_locked(worker.folder / "claims" / "best", patience=DAY):
        refuse_foreign_run(worker.folder, out)
        record = _record(worker.folder)
        source = _trained_on_all(worker, trial)
        model, run = load_model(source)
        tested = record["tested"].get(str(trial.number))
        if tested is None:
            tested = evaluate(model, as_model_input(run.recipe, test), run.schema, run.prototypes)
            record["tested"][str(trial.number)] = tested
        record["exported"] = sorted({*record["exported"], str(out.resolve())})
        write_json(worker.folder / BEST_FILE, {**record, "best": trial.number, "value": trial.value})
        run = replace(run, split=split, scores={**run.scores, "test": tested})
        save_run(out, run, model, TrainingState(rows=_rows(source / LOG_FILE)))
    changes = {key: trial.params[key] for key in worker.space.keys if key in trial.params}
    return Best(trial.number, trial.value, changes, run, sorted(int(number) for number in record["tested"]))


def _trained_on_all(worker: StudyWorker, trial: Any) -> Path:
    """The run of a trial; of folds one more with the same recipe, on all that is not for testing."""
    folder = trial_folder(worker.folder, trial.number)
    if not worker.task.folds:
        return folder
    whole = worker.folder / f"whole-{trial.number:04d}"
    recipe = recipe_with(worker.task.recipe, trial.params)
    worker.tell(f"training the recipe of trial {trial.number} on all parts but the test part")
    run = replace(worker.task.run, recipe=recipe)
    train_or_open(whole, worker.task.parts, run, lambda state: worker.on_epoch(trial.number, state))
    return whole


def _record(folder: Path) -> dict[str, Any]:
    path = folder / BEST_FILE
    if not path.exists():
        return {"tested": {}, "exported": []}
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {"tested": dict(found["tested"]), "exported": list(found["exported"])}
    except (ValueError, KeyError, TypeError):
        raise ProtGNNError(f"{path} is damaged: it says which trials have seen the test part; restore it") from None


def _rows(path: Path) -> list[dict[str, float]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return [
            {key: int(value) if key == "epoch" else float(value) for key, value in row.items()}
            for row in csv.DictReader(lines)
        ]


def _why(study: Any) -> str:
    errors = [trial.user_attrs["error"] for trial in study.get_trials(deepcopy=False) if "error" in trial.user_attrs]
    return f": {errors[0]}" if errors else ""
