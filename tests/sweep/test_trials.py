"""Workers do every trial of a study once, whoever is killed, and the best is tested once."""

import json
import multiprocessing
import os
import shutil
import signal
import time
from dataclasses import replace

import optuna
import pytest

from protgnn.cli.sweep import sweep_task
from protgnn.errors import ProtGNNError
from protgnn.sweep import best as best_module
from protgnn.sweep import trials as module
from protgnn.sweep.best import export_best
from protgnn.sweep.space import read_space
from protgnn.sweep.trials import StudyWorker, trial_folder, work
from protgnn.training import checkpoint
from protgnn.training.recipe import make_recipe
from protgnn.training.run import load_model, read_run

TRIALS = 5
TINY = {"head": "plain", "hidden": 8, "epochs": 4, "patience": 0, "window": 1}


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    path = tmp_path_factory.mktemp("space") / "space.toml"
    path.write_text("[lr]\nlow = 1e-3\nhigh = 1e-1\nlog = true\n[layers]\nlow = 1\nhigh = 2\n")
    return path


def worker_of(folder, molecules, csv, space, folds=None, storage=None, **more) -> StudyWorker:
    task = sweep_task(molecules, str(csv), {}, make_recipe(**TINY), folds)
    return StudyWorker(folder, task, task.to_try(read_space(space)), storage, **more)


def _work_and_die(worker: StudyWorker) -> None:
    """A worker that is killed in the middle of its first trial, whose state is stored."""

    def die(number, state):
        if state.epoch == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    checkpoint.SAVE_SECONDS = 0.0
    work(replace(worker, on_epoch=die), TRIALS)


def _work(worker: StudyWorker) -> None:
    module.WAIT_SECONDS = 0.05
    with (worker.folder / "told.txt").open("w") as told:
        work(replace(worker, tell=lambda text: print(text, file=told, flush=True)), TRIALS)


@pytest.fixture(scope="module")
def swept(molecules, molecules_csv, space, tmp_path_factory):
    """A study of two workers at once, one of which was killed; another has exported the best."""
    folder = tmp_path_factory.mktemp("sweep") / "study"
    fork = multiprocessing.get_context("fork")
    worker = worker_of(folder, molecules, molecules_csv, space)
    workers = [fork.Process(target=target, args=(worker,)) for target in (_work_and_die, _work)]
    workers[0].start()
    while workers[0].is_alive() and not trial_folder(folder, 0).exists():
        time.sleep(0.01)
    workers[1].start()
    for process in workers:
        process.join()
    assert [process.exitcode for process in workers] == [-signal.SIGKILL, 0]
    study = worker.study()
    best = export_best(worker, study, molecules.test, molecules.split_, folder / "best")
    return folder, worker, study, best


def test_with_one_of_two_workers_killed_every_trial_is_done_once(swept):
    folder, _, study, _ = swept
    trials = study.get_trials()
    assert [trial.number for trial in trials] == list(range(TRIALS))
    assert {trial.state for trial in trials} <= {optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED}
    for trial in trials:
        if trial.state == optuna.trial.TrialState.COMPLETE:
            run = read_run(trial_folder(folder, trial.number))
            assert run.finished and run.scores["valid"]["accuracy"] == trial.value and run.scores["epochs"] == 4
    assert sorted(path.name for path in folder.glob("trial-*")) == [f"trial-{number:04d}" for number in range(TRIALS)]


def test_the_trial_of_the_killed_worker_was_continued_by_the_other(swept):
    told = (swept[0] / "told.txt").read_text()
    assert "trial 0 goes on: the recipe as it is" in told and "trial 1 begins" in told


def test_workers_of_one_seed_draw_other_values(swept):
    drawn = [json.dumps(trial.params) for trial in swept[2].get_trials()]
    assert drawn[0] == "{}" and len(set(drawn)) == TRIALS


def test_the_best_is_at_least_as_good_as_the_recipe_as_it_was_given(swept):
    _, _, study, best = swept
    assert best.value >= study.get_trials()[0].value and best.value == study.best_value


def test_no_trial_knows_the_test_part_and_the_best_is_tested_on_it(swept, molecules):
    folder, _, _, best = swept
    assert all("test" not in read_run(path).scores for path in folder.glob("trial-*"))
    assert all(not len(read_run(path).split.test) for path in folder.glob("trial-*"))
    run = load_model(folder / "best")[1]
    assert run.scores["test"]["n"] == len(molecules.test) and run.split.test.tolist() == molecules.split_.test.tolist()
    assert best.looked == [best.trial]


def test_exporting_again_does_not_look_at_the_test_part_again(swept, molecules, monkeypatch):
    folder, worker, study, best = swept

    def look(*arguments):
        raise AssertionError("the test part was looked at again")

    monkeypatch.setattr(best_module, "evaluate", look)
    again = export_best(worker, study, molecules.test, molecules.split_, folder / "again")
    assert again.run.scores["test"] == best.run.scores["test"]
    assert (folder / "again" / "model.safetensors").read_bytes() == (folder / "best" / "model.safetensors").read_bytes()


def test_a_worker_with_other_terms_is_refused(swept, molecules, molecules_csv, space):
    _, worker, _, _ = swept
    task = replace(worker.task, run=replace(worker.task.run, recipe=make_recipe(**{**TINY, "epochs": 5})))
    with pytest.raises(ProtGNNError, match="was begun with another recipe"):
        work(replace(worker, task=task), TRIALS)
    with pytest.raises(ProtGNNError, match="another search space"):
        work(replace(worker, space=read_space()), TRIALS)


def test_the_best_is_not_exported_over_a_run_of_somebody_else(swept, molecules, run_folder, tmp_path):
    _, worker, study, _ = swept
    shutil.copytree(run_folder, tmp_path / "run")
    with pytest.raises(ProtGNNError, match="holds a run already"):
        export_best(worker, study, molecules.test, molecules.split_, tmp_path / "run")


def test_folds_leave_the_test_part_out_and_the_best_recipe_is_trained_once_more(
    molecules, molecules_csv, space, tmp_path
):
    worker = worker_of(tmp_path / "study", molecules, molecules_csv, space, folds=3, storage=f"sqlite:///{tmp_path}/db")
    study = work(worker, 2)
    held_out = set(molecules.split_.test.tolist())
    tested = []
    for number in (1, 2, 3):
        split = read_run(trial_folder(worker.folder, 1) / f"fold-{number}").split
        tested += split.test.tolist()
        assert not held_out & {*split.train.tolist(), *split.valid.tolist(), *split.test.tolist()}
    assert sorted(tested) == sorted({*molecules.split_.train.tolist(), *molecules.split_.valid.tolist()})
    best = export_best(worker, study, molecules.test, molecules.split_, tmp_path / "out")
    assert best.run.scores["train"]["n"] == len(molecules.train)
    assert read_run(tmp_path / "out").scores["test"]["n"] == len(molecules.test)


def test_a_recipe_that_cannot_be_trained_fails_alone(molecules, molecules_csv, tmp_path):
    space = tmp_path / "space.toml"
    space.write_text('[encoder]\nchoices = ["pyg:Nonsense"]\n')
    worker = worker_of(tmp_path / "study", molecules, molecules_csv, space)
    study = work(worker, 2)
    first, second = study.get_trials()
    assert first.state == optuna.trial.TrialState.COMPLETE
    assert second.state == optuna.trial.TrialState.FAIL and "Nonsense" in second.user_attrs["error"]


def test_a_trial_that_goes_worse_than_half_of_the_others_is_pruned():
    study = optuna.create_study(direction="maximize", pruner=optuna.pruners.MedianPruner(2, 1))
    for value in (0.8, 0.9):
        trial = study.ask()
        trial.report(value, 5)
        study.tell(trial, value)
    reports = module._Reports(study.ask(), "accuracy", lambda number, state: None)
    with pytest.raises(optuna.TrialPruned):
        reports.report(0.1, 5)
    reports.report(0.1, 5)  # a resumed trial says nothing twice
