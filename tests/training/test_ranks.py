"""Two processes that ``torchrun`` starts train one model, and neither waits for one that was killed."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from protgnn.training.checkpoint import TrainingState
from protgnn.training.run import load_model, read_run

ROOT = Path(__file__).parents[2]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
PATIENCE_SECONDS = 600
LAUNCH = (
    "import protgnn.cli.main, protgnn.training.checkpoint as checkpoint; "
    "checkpoint.SAVE_SECONDS = 0.0; protgnn.cli.main.main()"
)


@pytest.fixture(scope="module")
def two_ranks(molecules_csv, tmp_path_factory):
    """A folder in which two ranks have trained, and what they found."""
    folder = tmp_path_factory.mktemp("ranks")
    command = [*TORCHRUN, "-m", "tests.training.two_ranks", str(molecules_csv), str(folder)]
    done = subprocess.run(command, env=ENVIRONMENT, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr
    return folder, json.loads((folder / "found.json").read_text())


def test_two_ranks_project_as_one_process_does(two_ranks):
    _, found = two_ranks
    assert found["projection"] == {"nearest": True, "nearest vectors": True, "all": True, "all vectors": True}


def test_the_gradients_of_shares_average_to_the_gradient_of_the_batch(two_ranks):
    assert two_ranks[1]["gradient_error"] < 1e-6


def test_two_ranks_agree_on_figures_and_best_weights_after_every_epoch(two_ranks):
    assert two_ranks[1]["epochs"] == 6 and two_ranks[1]["same_epochs"]


def test_one_of_two_ranks_writes_a_run_that_is_faithful(two_ranks):
    folder, found = two_ranks
    _, run = load_model(folder / "run")
    assert run.finished and run.scores["test"] == found["scores"]
    assert not {path.name for path in (folder / "run").iterdir()} - {
        "run.json", "model.safetensors", "prototypes.safetensors", "log.csv", "tensorboard"
    }  # fmt: skip
    assert found["scores"]["prototype_error"] <= 1e-5 and found["scores"]["sum_error"] <= 1e-5


def start_ranks(command: list[str]) -> list[subprocess.Popen[str]]:
    """Two ranks as torchrun would start them, but without it to tell them of each other's end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {**ENVIRONMENT, "TORCHELASTIC_RUN_ID": "none", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    shared |= {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    return [
        subprocess.Popen(command, env=shared | {"RANK": rank, "LOCAL_RANK": rank}, stderr=subprocess.PIPE, text=True)
        for rank in "01"
    ]


def test_when_a_rank_is_killed_the_other_ends_with_a_sentence_and_one_process_resumes(
    molecules_csv, tmp_path, protgnn_command
):
    out = tmp_path / "run"
    arguments = ["train", str(molecules_csv), "--out", str(out)]
    for setting in ("epochs=150", "hidden=8", "head=plain", "patience=0"):
        arguments += ["--set", setting]
    first, second = start_ranks([sys.executable, "-c", LAUNCH, *arguments])
    with first, second:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (out / "state.safetensors").exists() and first.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        second.kill()
        _, err = first.communicate(timeout=PATIENCE_SECONDS)
    assert first.returncode == 1
    assert "error: Another process of this training has ended" in err and "--resume" in err and "Traceback" not in err
    assert not read_run(out).finished and 0 < TrainingState.load(out).epoch < 150 and not (out / ".lock").exists()
    resumed = protgnn_command(*arguments, "--resume")
    assert resumed.status == 0, resumed.err
    assert read_run(out).finished and read_run(out).scores["epochs"] == 150


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--plus"], "mined prototypes is trained by one process"),
        (["--folds", "3"], "Folds are trained one after another by one process"),
    ],
)
def test_what_one_process_must_train_is_refused_to_several(
    molecules_csv, tmp_path, protgnn_command, monkeypatch, options, said
):
    for name, value in {"TORCHELASTIC_RUN_ID": "none", "RANK": "0", "WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    refused = protgnn_command("train", molecules_csv, "--out", tmp_path / "run", *options)
    assert refused.status == 1 and said in refused.err and not (tmp_path / "run").exists()
