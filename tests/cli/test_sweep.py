"""``protgnn sweep`` from the command line."""

import json

import pytest

TINY = ["--set", "head=plain", "--set", "epochs=2", "--set", "hidden=8"]


@pytest.fixture
def space(tmp_path):
    path = tmp_path / "space.toml"
    path.write_text("[lr]\nlow = 1e-3\nhigh = 1e-2\nlog = true\n")
    return path


def test_a_sweep_exports_its_best_run_and_the_same_command_with_more_trials_goes_on(
    protgnn_command, molecules_csv, tmp_path, space
):
    out = tmp_path / "tuned"
    command = ["sweep", molecules_csv, "--study", tmp_path / "study", "--space", space, "--out", out, *TINY]
    first = protgnn_command(*command, "--trials", 1)
    assert first.status == 0, first.err
    assert "trial 0 begins: the recipe as it is" in first.err and f"run: {out}" in first.out.replace("\n", "")
    more = protgnn_command(*command, "--trials", 2, "--json")
    found = json.loads(more.out)
    assert [trial["trial"] for trial in found["trials"]] == [0, 1] and "trial 0 begins" not in more.err
    assert list(found["trials"][1]["changes"]) == ["lr"] and found["best"]["run"] == str(out)
    shown = json.loads(protgnn_command("evaluate", out, "--json").out)
    assert shown["accuracy"] == found["test"]["accuracy"]


def test_a_trial_has_no_test_part_to_look_at(protgnn_command, molecules_csv, tmp_path, space):
    study = tmp_path / "study"
    protgnn_command("sweep", molecules_csv, "--study", study, "--space", space, "--trials", 1, *TINY)
    looked = protgnn_command("evaluate", study / "trial-0000")
    assert looked.status == 1 and "test part of this run is empty" in looked.err


def test_mistakes_end_in_a_sentence(protgnn_command, molecules_csv, tmp_path, space, run_folder, monkeypatch):
    command = ["sweep", molecules_csv, "--study", tmp_path / "study", "--trials", 1, *TINY]
    wrong = protgnn_command(*command, "--space", tmp_path / "nowhere.toml")
    assert wrong.status == 1 and "nowhere.toml" in wrong.err
    taken = protgnn_command(*command, "--space", space, "--out", run_folder)
    assert taken.status == 1 and "holds a run already" in taken.err
    storage = protgnn_command(*command, "--space", space, "--storage", "nonsense")
    assert storage.status == 1 and "Expected the URL of an Optuna storage" in storage.err
    for name, value in {"TORCHELASTIC_RUN_ID": "none", "RANK": "0", "WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    launched = protgnn_command(*command)
    assert launched.status == 1 and "without torchrun" in launched.err
