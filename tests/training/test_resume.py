"""A process killed at any moment resumes and ends with the very weights of one that was not."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import safetensors.torch
import torch

from protgnn.datasets.load import fingerprint
from protgnn.errors import ProtGNNError, RunError
from protgnn.io import atomic_files
from protgnn.training.checkpoint import STATE_VERSION, TrainingState
from protgnn.training.recipe import make_recipe
from protgnn.training.run import DataCard, Run, load_model, read_run
from protgnn.training.run_folder import write_run
from protgnn.training.train import SplitData, train_in

PLAIN = ["hidden=16", "epochs=80", "patience=0", "dropout=0.2", "head=plain", "window=4"]
PROTOTYPES = [
    "hidden=16",
    "epochs=30",
    "patience=0",
    "prototypes=2",
    "projection_start=10",
    "projection_period=10",
    "search_iterations=5",
    "anchored_epochs=40",
    "refine_steps=20",
    "window=4",
    "class_weight=low=3",
    "select_by=roc_auc",
]
PATIENCE_SECONDS = 1200


# The state is written many times a second, so that a short training has many moments to be killed in
LAUNCH = (
    "import protgnn.cli.main, protgnn.training.checkpoint as checkpoint; "
    "checkpoint.SAVE_SECONDS = 0.05; protgnn.cli.main.main()"
)


def command(data: Path, out: Path, settings: list[str], *more: str) -> list[str]:
    chosen = [part for setting in settings for part in ("--set", setting)]
    return [sys.executable, "-c", LAUNCH, "train", str(data), "--out", str(out), *chosen, *more]


def run_to_the_end(arguments: list[str]) -> None:
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr


def kill_when(arguments: list[str], ready, delay: float) -> bool:
    """Start a process, wait until something is ready and a moment more, kill it; whether it was still running."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    limit = time.monotonic() + PATIENCE_SECONDS
    while not ready() and process.poll() is None:
        assert time.monotonic() < limit, "the process never came to the moment to kill it"
        time.sleep(0.01)
    time.sleep(delay)
    running = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return running


def epoch_of(folder: Path) -> int:
    """The epoch of the stored state, as its log says."""
    try:
        return len((folder / "log.csv").read_text().splitlines()) - 1
    except FileNotFoundError:
        return 0


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def whole(molecules_csv, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    run_to_the_end(command(molecules_csv, folder, PLAIN))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("moment", [1, 2, 3])
def test_killed_at_a_random_moment_it_ends_with_the_same_weights(molecules_csv, whole, tmp_path, moment):
    chance = random.Random(moment)
    folder = tmp_path / "run"
    first = chance.randrange(1, 40)
    assert kill_when(
        command(molecules_csv, folder, PLAIN), lambda: epoch_of(folder) >= first, chance.uniform(0, 0.2)
    ), "it was done before it was killed: make it longer"
    assert not read_run(folder).finished
    assert 0 < TrainingState.load(folder).epoch < 80
    run_to_the_end(command(molecules_csv, folder, PLAIN, "--resume"))
    assert weights(folder) == weights(whole)
    assert (folder / "log.csv").read_bytes() == (whole / "log.csv").read_bytes()
    assert read_run(folder).scores == read_run(whole).scores
    left = {path.name for path in folder.iterdir()} - {"tensorboard"}
    assert left == {"run.json", "model.safetensors", "log.csv"}


@pytest.mark.slow
def test_killed_before_the_first_state_it_starts_again(molecules_csv, whole, tmp_path):
    folder = tmp_path / "run"
    assert kill_when(command(molecules_csv, folder, PLAIN), (folder / "run.json").exists, 0)
    assert TrainingState.load(folder) is None
    run_to_the_end(command(molecules_csv, folder, PLAIN, "--resume"))
    assert weights(folder) == weights(whole)


@pytest.mark.slow
def test_prototypes_killed_while_learning_and_again_while_anchored_end_the_same(molecules_csv, tmp_path):
    whole, folder = tmp_path / "whole", tmp_path / "run"
    run_to_the_end(command(molecules_csv, whole, PROTOTYPES))
    assert kill_when(command(molecules_csv, folder, PROTOTYPES), lambda: epoch_of(folder) >= 5, 0)
    assert TrainingState.load(folder).stage == "learn"
    assert kill_when(command(molecules_csv, folder, PROTOTYPES, "--resume"), lambda: epoch_of(folder) > 35, 0)
    assert TrainingState.load(folder).stage == "anchored"
    run_to_the_end(command(molecules_csv, folder, PROTOTYPES, "--resume"))
    assert weights(folder) == weights(whole)
    assert (folder / "prototypes.safetensors").read_bytes() == (whole / "prototypes.safetensors").read_bytes()
    assert read_run(folder).scores == read_run(whole).scores


class Killed(BaseException):
    """Stands for the end of the process: nothing of ours may catch it and go on."""


@pytest.fixture(scope="module")
def begun(molecules, molecules_csv):
    recipe = make_recipe(hidden=8, epochs=3, head="plain")
    data = molecules.with_split("stratified", 0)
    card = DataCard(str(molecules_csv), fingerprint(data.graphs))
    return Run(recipe, data.graphs.schema, card, data.split_), SplitData(data.train, data.valid, data.test)


def test_killed_at_every_single_write_it_ends_the_same(begun, tmp_path, monkeypatch):
    """From the first file to the last: die just before each rename, and once more just after it."""
    run, parts = begun
    train_in(tmp_path / "whole", parts, run)
    expected = safetensors.torch.load_file(tmp_path / "whole" / "model.safetensors")
    deaths = 0
    for number in range(100):
        for after in (False, True):
            folder = tmp_path / f"run-{number}-{after}"
            _die_at(monkeypatch, number, after)
            try:
                train_in(folder, parts, run)
            except Killed:
                deaths += 1
            monkeypatch.undo()
            if not ((folder / "run.json").exists() and read_run(folder).finished):
                train_in(folder, parts, run, resume=True)
            found = safetensors.torch.load_file(folder / "model.safetensors")
            assert found.keys() == expected.keys()
            assert all(torch.equal(found[key], expected[key]) for key in found), f"killed at write {number}"
            left = {path.name for path in folder.glob(".*")} - {".lock"}  # that of a dead process does not lock
            assert not left, "something unfinished was left"
        if deaths < 2 * (number + 1):
            break
    assert deaths >= 2 * 4, "run begun, state, log, model and run sealed are at least so many writes"


def test_a_run_that_is_replaced_stays_usable_until_the_new_one_is_sealed(begun, tmp_path, monkeypatch):
    """Die just before and just after each rename of ``--overwrite``: the old run or the new one opens."""
    run, parts = begun
    other = replace(run, recipe=run.recipe.model_copy(update={"seed": 5}))
    train_in(tmp_path / "new", parts, other)
    new = load_model(tmp_path / "new")[0].state_dict()
    train_in(tmp_path / "old", parts, run)
    old = load_model(tmp_path / "old")[0].state_dict()
    deaths, number = 0, 0
    while deaths == 2 * number:
        for after in (False, True):
            folder = Path(shutil.copytree(tmp_path / "old", tmp_path / f"run-{number}-{after}"))
            _die_at(monkeypatch, number, after)
            try:
                train_in(folder, parts, other, overwrite=True)
            except Killed:
                deaths += 1
            monkeypatch.undo()
            found = load_model(folder)[0].state_dict()
            assert any(all(torch.equal(found[key], weights[key]) for key in found) for weights in (old, new))
            if not all(torch.equal(found[key], new[key]) for key in found):
                begun_again = (folder / ".replacement" / "run.json").exists()
                train_in(folder, parts, other, resume=begun_again, overwrite=not begun_again)
            found = load_model(folder)[0].state_dict()
            assert all(torch.equal(found[key], new[key]) for key in found), f"killed at write {number}"
        number += 1
    assert number > 4, "run begun, state, log, model and run sealed are at least so many writes"


def test_killed_between_sealing_and_cleaning_up_a_replacement_is_finished(begun, tmp_path, monkeypatch):
    run, parts = begun
    other = replace(run, recipe=run.recipe.model_copy(update={"seed": 5}))
    train_in(tmp_path, parts, run)
    (tmp_path / "report.html").write_text("on the old run")

    with monkeypatch.context() as patched:
        patched.setattr("protgnn.training.run_folder._clean_up", lambda folder: None)
        train_in(tmp_path, parts, other, overwrite=True)
    assert (tmp_path / ".replacement").is_dir() and read_run(tmp_path).recipe.seed == 5
    sealed = (tmp_path / "run.json").read_bytes()
    with pytest.raises(RunError, match="is finished: nothing to resume"):
        train_in(tmp_path, parts, other, resume=True)
    assert (tmp_path / "run.json").read_bytes() == sealed
    assert {path.name for path in tmp_path.iterdir()} & {".replacement", "report.html"} == set()


def _die_at(monkeypatch, number: int, after: bool) -> None:
    """Let the process die just before or just after its rename of that number."""
    rename, count = os.replace, iter(range(1000))

    def dying(source: str, target: str) -> None:
        last = next(count) == number
        if last and not after:
            raise Killed
        rename(source, target)
        if last:
            raise Killed

    # A killed process cleans nothing up: what it was writing stays
    monkeypatch.setattr(atomic_files.os, "replace", dying)
    monkeypatch.setattr(atomic_files.Path, "unlink", _kept_when_dying(atomic_files.Path.unlink))


def _kept_when_dying(unlink):
    """``Path.unlink`` that does nothing while the process is dying."""

    def kept(self: Path, missing_ok: bool = False) -> None:
        if not isinstance(sys.exc_info()[1], Killed):
            unlink(self, missing_ok=missing_ok)

    return kept


def test_another_recipe_is_not_resumed(begun, tmp_path):
    run, parts = begun
    write_run(tmp_path, run)
    other = Run(make_recipe(hidden=8, epochs=4, head="plain"), run.schema, run.data, run.split)
    with pytest.raises(ProtGNNError, match="another recipe: epochs was 3 and is now 4"):
        train_in(tmp_path, parts, other, resume=True)


def test_a_run_whose_stored_recipe_leaves_values_open_is_resumed(begun, tmp_path):
    """Older versions stored -1 or 0 for what was to be chosen by the data."""
    run, parts = begun
    write_run(tmp_path / "run", run)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["recipe"]["patience"] == "auto"
    train_in(tmp_path / "run", parts, run, resume=True)
    train_in(tmp_path / "whole", parts, run)
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")


def test_other_data_is_not_resumed(begun, tmp_path):
    run, parts = begun
    write_run(tmp_path, run)
    other = Run(run.recipe, run.schema, DataCard("x", "another"), run.split)
    with pytest.raises(ProtGNNError, match="the data has changed"):
        train_in(tmp_path, parts, other, resume=True)


def test_the_state_names_its_version_and_no_other_is_resumed(tmp_path, monkeypatch):
    state = TrainingState(epoch=1)
    state.model = {"a": torch.zeros(1)}
    state.save(tmp_path)
    with safetensors.safe_open(tmp_path / "state.safetensors", "pt") as file:
        assert json.loads(file.metadata()["state"])["version"] == STATE_VERSION
    monkeypatch.setattr("protgnn.training.checkpoint.STATE_VERSION", STATE_VERSION + 1)
    with pytest.raises(RunError, match="written by another version: start again with --overwrite"):
        TrainingState.load(tmp_path)
