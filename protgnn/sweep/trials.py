"""A worker: takes trials of a study, trains them, and goes on with those that others left behind.

A trial is an ordinary run directory ``trial-0007/``, or one of folds. The first trial is the recipe as it was given, so
that the best is never worse than it. A worker that finds a trial in progress that nobody holds continues it from its
state; so each trial is done once, whoever is killed when.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from protgnn.errors import ProtGNNError
from protgnn.sweep.claims import Claims, study_locked
from protgnn.sweep.space import SearchSpace, recipe_with
from protgnn.sweep.study import open_study, sampler_for, space_terms
from protgnn.training.checkpoint import TrainingState
from protgnn.training.cross_validation import Fold
from protgnn.training.folder_checks import fold_folder
from protgnn.training.recipe import Recipe, is_mined
from protgnn.training.resolve import criterion_of, resolve
from protgnn.training.run import Run
from protgnn.training.run_folder import finished_run
from protgnn.training.selection import SelectBy
from protgnn.training.train import SplitData, train_in

REPORT_EVERY, WARM_UP_EPOCHS = 5, 20
"""Epochs from one report to the pruner to the next, and those before which none is pruned."""
WAIT_SECONDS = 2.0
OF_LEARNED_PROTOTYPES = {"prototypes", "cluster", "separation", "separation_margin", "diversity", "diversity_threshold"}
"""Keys that say nothing about a model whose prototypes are not learned vectors."""


@dataclass(frozen=True)
class SweepTask:
    """What every trial trains on.

    Attributes:
        parts: What to learn from and to choose by; the test set is not in it.
        run: What the run directory of a trial says of its data; its recipe is the one that is varied.
        folds: Instead of ``parts``, folds of the same graphs whose scores are averaged.
    """

    parts: SplitData
    run: Run
    folds: Sequence[Fold] = ()

    @property
    def recipe(self) -> Recipe:
        """The recipe as it was given."""
        return self.run.recipe

    @property
    def objective(self) -> SelectBy:
        """The figure that is made as good as can be."""
        return criterion_of(self.recipe, self.parts.train).select_by

    def to_try(self, space: SearchSpace) -> SearchSpace:
        """A space without the keys that the recipe was given, and those that say nothing about its model."""
        settled = resolve(self.recipe, self.parts.train)
        idle = OF_LEARNED_PROTOTYPES if settled.head == "plain" or is_mined(settled) else set()
        return space.without(self.recipe.model_fields_set | idle)

    def terms(self, space: SearchSpace) -> dict[str, str]:
        """What all workers must have in common."""
        assert self.run.data is not None
        return {
            "data": self.run.data.fingerprint,
            "recipe": self.recipe.model_dump_json(),
            "search space": space_terms(space.to_json()),
            "number of folds": str(len(self.folds)),
        }


@dataclass(frozen=True)
class StudyWorker:
    """One process that works on a study: its folder, what is trained, what is tried, and a storage if not the journal.

    ``tell`` is told in a line what happens, ``on_epoch`` of every epoch.
    """

    folder: Path
    task: SweepTask
    space: SearchSpace
    storage: str | None = None
    tell: Callable[[str], None] = lambda text: None
    on_epoch: Callable[[int, TrainingState], None] = lambda number, state: None

    def study(self) -> Any:
        """The study; made if it is new."""
        with study_locked(self.folder):
            warm_up = 1 if self.task.folds else WARM_UP_EPOCHS
            return open_study(self.folder, self.storage, self.task.terms(self.space), warm_up)


def trial_folder(folder: Path, number: int) -> Path:
    """The run directory of a trial."""
    return folder / f"trial-{number:04d}"


def work(worker: StudyWorker, trials: int) -> Any:
    """Do trials until the study has so many and none is in progress; the study.

    Raises:
        ProtGNNError: The study was begun on other terms.
    """
    worker.folder.mkdir(parents=True, exist_ok=True)
    study, waiting = worker.study(), False
    claims = Claims(worker.folder / "claims")
    while True:
        with ExitStack() as held:
            with study_locked(worker.folder):
                trial = _next_trial(study, claims, trials, worker.task.recipe.seed)
                if trial is not None:
                    held.enter_context(claims.hold(trial.number))
            if trial is not None:
                waiting = False
                _do(worker, study, trial)
                continue
        running = [one.number for one in study.get_trials(deepcopy=False) if not one.state.is_finished()]
        if not running:
            return study
        if not waiting:
            worker.tell(f"waiting for {', '.join(f'trial {number}' for number in running)} of other workers")
            waiting = True
        time.sleep(WAIT_SECONDS)


def _next_trial(study: Any, claims: Claims, trials: int, seed: int) -> Any:
    """A trial that nobody holds, else a new one if there are to be more; nothing if there is neither."""
    from optuna.trial import Trial

    found = study.get_trials(deepcopy=False)
    for one in found:
        if not one.state.is_finished() and claims.free(one.number):
            study.sampler = sampler_for(seed, one.number)  # it may have been killed before its values were drawn
            return Trial(study, one._trial_id)
    if len(found) >= trials:
        return None
    study.sampler = sampler_for(seed, len(found))
    return study.ask()


def _do(worker: StudyWorker, study: Any, trial: Any) -> None:
    """Train a trial to its end and tell the study how good it is."""
    from optuna import TrialPruned
    from optuna.trial import TrialState

    number, folder = trial.number, trial_folder(worker.folder, trial.number)
    values = worker.space.suggest(trial) if number else {}  # the first is the recipe as it was given
    said = ", ".join(f"{key}={_short(value)}" for key, value in values.items()) or "the recipe as it is"
    again = "goes on" if folder.exists() else "begins"
    worker.tell(f"trial {number} {again}: {said}")
    try:
        value = _trained(worker, trial, recipe_with(worker.task.recipe, values), folder)
    except TrialPruned:
        study.tell(trial, state=TrialState.PRUNED)
        worker.tell(f"trial {number} is pruned: worse than half of the others")
    except ProtGNNError as error:
        trial.set_user_attr("error", str(error))
        study.tell(trial, state=TrialState.FAIL)
        worker.tell(f"trial {number} failed: {error}")
    else:
        study.tell(trial, value)
        best = study.best_trial
        worker.tell(f"trial {number}: {worker.task.objective} {value:.4f} (best {best.value:.4f}, trial {best.number})")


def _trained(worker: StudyWorker, trial: Any, recipe: Recipe, folder: Path) -> float:
    """How good a recipe is on what it was not trained on."""
    task = worker.task
    reports = _Reports(trial, task.objective, worker.on_epoch)
    if not task.folds:
        done = train_or_open(folder, task.parts, replace(task.run, recipe=recipe), reports.on_epoch)
        return figure(done.scores["valid"], task.objective)
    found: list[float] = []
    for number, fold in enumerate(task.folds, 1):
        done = train_or_open(fold_folder(folder, number), fold.parts, replace(fold.run, recipe=recipe), reports.show)
        found.append(figure(done.scores["test"], task.objective))
        reports.report(fmean(found), number)
    return fmean(found)


def train_or_open(folder: Path, parts: SplitData, run: Run, on_epoch: Callable[[TrainingState], None]) -> Run:
    """The finished run of a folder, trained to its end if it is not yet."""
    settle = partial(resolve, train=parts.train)
    done = finished_run(folder, replace(run, recipe=settle(run.recipe)), settle)
    return done or train_in(folder, parts, run, None, on_epoch, resume=True)[1]


def figure(scores: dict[str, Any], objective: SelectBy) -> float:
    """The larger, the better; an undefined ROC AUC counts 0.5."""
    if objective == "loss":
        return -float(scores["loss"])
    value = scores[objective]
    return 0.5 if value is None else float(value)


class _Reports:
    """Tells the pruner how a trial goes, and stops it where it goes worse than half of the others; never the first."""

    def __init__(self, trial: Any, objective: SelectBy, show: Callable[[int, TrainingState], None]) -> None:
        self.trial, self.objective, self._show = trial, objective, show
        frozen = trial.study.get_trials(deepcopy=False)[trial.number]
        self.last = max(frozen.intermediate_values, default=0)  # a resumed trial has reported before

    def show(self, state: TrainingState) -> None:
        self._show(self.trial.number, state)

    def on_epoch(self, state: TrainingState) -> None:
        self.show(state)
        if state.epoch % REPORT_EVERY == 0:
            value = state.rows[-1][f"valid_{self.objective}"]
            self.report(-value if self.objective == "loss" else value, state.epoch)

    def report(self, value: float, step: int) -> None:
        from optuna import TrialPruned

        if step <= self.last:
            return
        self.trial.report(value, step)
        self.last = step
        if self.trial.number and self.trial.should_prune():
            raise TrialPruned


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
