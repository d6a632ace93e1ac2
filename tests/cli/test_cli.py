"""The command line: every command, what it prints, how it ends."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
from rdkit.Chem import MolFromSmiles, MolToSmiles

import protgnn
from protgnn.cli.console import evidence_advice
from protgnn.explain.run_data import run_data
from protgnn.io.progress import ProgressBar
from protgnn.training.recipe import make_recipe
from protgnn.training.run import read_run
from tests.conftest import TINY

COMMANDS = [
    ["train"],
    ["sweep"],
    ["evaluate"],
    ["predict"],
    ["explain"],
    ["prototypes"],
    ["report"],
    ["compare"],
    ["demo"],
    ["explore"],
    ["data", "list"],
    ["data", "show"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_has_an_example(protgnn_command, command):
    ended = protgnn_command(*command, "--help")
    assert ended.status == 0
    assert f"Example: protgnn {' '.join(command)}" in " ".join(ended.out.split())


def test_every_command_is_in_the_list_above(protgnn_command):
    from protgnn.cli.main import app, data_app

    registered = [[command.name or command.callback.__name__] for command in app.registered_commands]
    registered += [["data", command.name] for command in data_app.registered_commands]
    assert sorted(registered) == sorted(COMMANDS)


@pytest.mark.parametrize(
    "arguments",
    [["nonsense"], ["train"], ["train", "x.csv"], ["predict"], ["data", "show"], ["evaluate", "a", "b", "c"], ["--x"]],
    ids=" ".join,
)
def test_wrong_usage_ends_with_status_2(protgnn_command, arguments):
    ended = protgnn_command(*arguments)
    assert ended.status == 2
    assert ended.err.startswith("Usage: ") and ended.out == ""


def test_the_version_is_printed(protgnn_command):
    done = protgnn_command("--version")
    assert (done.status, done.out) == (0, f"protgnn {protgnn.__version__}\n")


def test_data_list_names_what_is_here(protgnn_command):
    ended = protgnn_command("data", "list")
    assert ended.status == 0 and "solubility" in ended.out and "motif-molecules" in ended.out
    entries = json.loads(protgnn_command("data", "list", "--json").out)
    assert {"name", "task", "description", "origin", "available"} == set(entries[0])
    assert {"solubility", "ba-2motifs", "mutag", "bbbp", "benzene"} <= {entry["name"] for entry in entries}


def test_data_show_counts(protgnn_command, molecules_csv):
    ended = protgnn_command("data", "show", molecules_csv)
    assert ended.status == 0 and "high 30, low 30, medium 30" in ended.out and str(molecules_csv) in ended.out
    figures = json.loads(protgnn_command("data", "show", molecules_csv, "--json").out)
    assert figures["graphs"] == 90 and figures["classes"] == {"high": 30, "low": 30, "medium": 30}


def test_train_evaluate_predict(protgnn_command, molecules_csv, tmp_path):
    run = tmp_path / "run"
    ended = protgnn_command("train", molecules_csv, "--encoder", "gcn", "--out", run, *TINY)
    assert ended.status == 0 and f"run: {run}" in ended.out and "accuracy" in ended.out
    scores = json.loads(protgnn_command("evaluate", run, "--json").out)
    assert {"accuracy", "loss", "n", "per_class", "intervals", "warnings"} <= set(scores)
    assert scores["n"] == 9 and set(scores["per_class"]) == {"high", "low", "medium"}
    low, high = scores["intervals"]["accuracy"]
    assert re.search(rf"accuracy +{scores['accuracy']:.4f} +{low:.3f} to {high:.3f}", ended.out)
    assert re.search(rf"always predicting high +{3 / 9:.4f}", ended.out)
    everything = json.loads(protgnn_command("evaluate", run, molecules_csv, "--json").out)
    assert everything["n"] == 90
    out = tmp_path / "out.csv"
    ended = protgnn_command("predict", run, molecules_csv, "-o", out)
    assert ended.status == 0 and f"90 predictions written to {out}" in ended.err
    rows = list(csv.DictReader(out.open()))
    truth = list(csv.DictReader(molecules_csv.open()))
    assert [row["name"] for row in rows] == [row["smiles"] for row in truth]
    right = sum(row["predicted"] == true["label"] for row, true in zip(rows, truth, strict=True))
    assert right / 90 == pytest.approx(everything["accuracy"])
    for row in rows:
        chances = {name: float(row[f"p({name})"]) for name in ("high", "low", "medium")}
        assert sum(chances.values()) == pytest.approx(1, abs=1e-5)
        assert max(chances, key=chances.get) == row["predicted"]


def test_train_prints_json_for_programs(protgnn_command, molecules_csv, tmp_path):
    ended = protgnn_command("train", molecules_csv, "--out", tmp_path / "run", *TINY, "--json")
    scores = json.loads(ended.out)
    assert {"train", "valid", "test", "epochs", "best_epoch"} <= set(scores) and scores["epochs"] == 2


def test_predict_prints_what_it_would_write(protgnn_command, run_folder, molecules_csv, tmp_path):
    protgnn_command("predict", run_folder, molecules_csv, "-o", tmp_path / "out.csv")
    printed = protgnn_command("predict", run_folder, molecules_csv)
    assert printed.out == (tmp_path / "out.csv").read_text()
    as_json = json.loads(protgnn_command("predict", run_folder, molecules_csv, "--json").out)
    assert [row["predicted"] for row in as_json] == [
        row["predicted"] for row in csv.DictReader(io.StringIO(printed.out))
    ]


def test_predict_repeats_columns_that_are_to_be_kept(protgnn_command, run_folder, tmp_path):
    path = tmp_path / "mols.csv"
    path.write_text('id,smiles,batch\n007,CCO,"a,\nb"\n008,nonsense,c\n009,CC,d\n')
    keep = ["--keep", "id", "--keep", "batch"]
    ended = protgnn_command("predict", run_folder, path, "--skip-bad", *keep)
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert [(row["line"], row["id"], row["batch"], row["name"]) for row in rows] == [
        ("3", "007", "a,\nb", "CCO"),
        ("4", "008", "c", ""),
        ("5", "009", "d", "CC"),
    ]
    assert "no column 'key'" in protgnn_command("predict", run_folder, path, "--skip-bad", "--keep", "key").err
    assert "leave --keep out" in protgnn_command("predict", run_folder, "CCO", "--keep", "id").err
    path.write_text("smiles,predicted\nCCO,yes\n")
    assert "a column 'predicted' of its own" in protgnn_command("predict", run_folder, path, "--keep", "predicted").err


def test_predict_takes_one_smiles(protgnn_command, run_folder):
    ended = protgnn_command("predict", run_folder, "CC(=O)Nc1ccc(O)cc1")
    assert ended.status == 0
    (row,) = csv.DictReader(io.StringIO(ended.out))
    assert row["name"] == "CC(=O)Nc1ccc(O)cc1" and row["predicted"] in ("high", "low", "medium")


def test_a_bad_row_is_refused_by_line_or_skipped_and_counted_if_asked(protgnn_command, run_folder, tmp_path):
    path, out = tmp_path / "mols.csv", tmp_path / "out.csv"
    path.write_text("smiles\nCCO\nnot-a-molecule\nCCN\n")
    ended = protgnn_command("predict", run_folder, path, "-o", out)
    assert ended.status == 1 and "line 3" in ended.err and not out.exists()
    ended = protgnn_command("predict", run_folder, path, "-o", out, "--skip-bad")
    assert ended.status == 0 and "note: " in ended.err and "1" in ended.err
    rows = list(csv.DictReader(out.open()))
    assert [row["name"] for row in rows] == ["CCO", "", "CCN"]
    assert [row["line"] for row in rows] == ["2", "3", "4"], "every row of the sheet has its row"
    assert [row["row"] for row in rows] == ["0", "1", "2"]
    assert [row["error"] for row in rows] == ["", "RDKit cannot read the SMILES 'not-a-molecule'", ""]
    assert rows[1]["predicted"] == "" and rows[0]["predicted"]
    assert "2 predictions written" in ended.err and "1 rows without one" in ended.err
    (row, bad, _) = json.loads(protgnn_command("predict", run_folder, path, "--skip-bad", "--json").out)
    assert row["error"] == "" and bad["predicted"] is None and bad["line"] == 3


@pytest.mark.parametrize("content", ["smiles,id\nCCO,1\nCCN,2\n", "smiles,id\nCCO,1,2\nCCN,2\n"])
def test_the_error_column_is_there_whether_or_not_a_row_is_bad(protgnn_command, run_folder, tmp_path, content):
    path = tmp_path / "mols.csv"
    path.write_text(content)
    ended = protgnn_command("predict", run_folder, path, "--skip-bad", "--keep", "id")
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    wrong = "1,2" in content
    assert [row["id"] for row in rows] == ["" if wrong else "1", "2"]
    assert [bool(row["error"]) for row in rows] == [wrong, False]


def test_explain_counts_rows_as_predict_does(protgnn_command, prototype_run, tmp_path):
    path = tmp_path / "mols.smi"
    path.write_text("CCO\nnonsense\nCCN\n")
    why = json.loads(protgnn_command("explain", prototype_run, path, "--skip-bad", "--row", "2", "--json").out)
    assert why["name"] == "CCN"
    ended = protgnn_command("explain", prototype_run, path, "--skip-bad", "--row", "1")
    assert ended.status == 1 and "line 2: RDKit cannot read" in ended.err
    assert "has 3 rows" in protgnn_command("explain", prototype_run, path, "--skip-bad", "--row", "3").err


def test_training_on_bad_rows_needs_to_be_asked_for(protgnn_command, molecules_csv, tmp_path):
    path = tmp_path / "mols.csv"
    path.write_text(molecules_csv.read_text() + "not-a-molecule,low\n")
    ended = protgnn_command("train", path, "--out", tmp_path / "run", *TINY)
    assert ended.status == 1 and "line 92" in ended.err and not (tmp_path / "run").exists()
    assert protgnn_command("train", path, "--out", tmp_path / "run", *TINY, "--skip-bad").status == 0
    assert protgnn_command("evaluate", tmp_path / "run").status == 0, "evaluate reads the data as training did"


def test_a_run_is_not_overwritten_unless_asked(protgnn_command, molecules_csv, tmp_path):
    run = tmp_path / "run"
    arguments = ["train", molecules_csv, "--out", run, *TINY]
    assert protgnn_command(*arguments).status == 0
    before = (run / "run.json").read_bytes()
    ended = protgnn_command(*arguments, "--seed", 5)
    assert ended.status == 1 and "--resume continues it, --overwrite replaces it" in ended.err
    ended = protgnn_command(*arguments, "--resume")
    assert ended.status == 1 and "nothing to resume" in ended.err
    assert (run / "run.json").read_bytes() == before
    assert protgnn_command(*arguments, "--seed", 5, "--overwrite").status == 0
    assert json.loads((run / "run.json").read_text())["recipe"]["seed"] == 5


def test_a_replaced_run_leaves_nothing_behind(protgnn_command, molecules_csv, prototype_run, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(prototype_run, run)
    assert protgnn_command("train", molecules_csv, "--out", run, *TINY, "--overwrite").status == 0
    named = set(json.loads((run / "run.json").read_text())["files"])
    assert {name.partition(".")[0] for name in named} == {"model", "log"}  # a plain model has no prototypes
    assert {path.name for path in run.iterdir()} - {"tensorboard"} == {"run.json", *named}


def test_an_interrupted_demo_names_a_command_that_goes_on(protgnn_command, tmp_path, monkeypatch):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "update", stop)
    ended = protgnn_command("demo", "--out", tmp_path / "run")
    assert ended.status == 130 and f"protgnn train solubility --out {tmp_path / 'run'}" in ended.err
    assert "--resume continues" in ended.err


def test_a_folder_with_other_things_is_left_alone(protgnn_command, molecules_csv, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    for more in ([], ["--resume"], ["--overwrite"]):
        ended = protgnn_command("train", molecules_csv, "--out", tmp_path, *TINY, *more)
        assert ended.status == 1 and "not empty and not a run" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_interrupted_run_says_how_to_go_on_and_goes_on_with_its_own_recipe_only(
    protgnn_command, molecules_csv, tmp_path, monkeypatch
):
    run = tmp_path / "run"
    arguments = ["train", molecules_csv, "--out", run, *TINY]

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(ProgressBar, "update", stop)
        ended = protgnn_command(*arguments)
    assert ended.status == 130 and "--resume continues" in ended.err
    ended = protgnn_command(*arguments, "--seed", 3, "--resume")
    assert ended.status == 1 and "another recipe: seed was 0 and is now 3" in ended.err
    ended = protgnn_command("evaluate", run)
    assert ended.status == 1 and "did not finish: continue it with" in ended.err
    assert protgnn_command(*arguments, "--resume").status == 0
    assert protgnn_command("evaluate", run).status == 0


@pytest.mark.parametrize("kind", ["toml", "json"])
def test_a_config_file_sets_keys_and_set_wins_over_it(protgnn_command, molecules_csv, tmp_path, kind):
    values = {"epochs": 1, "hidden": 4, "encoder": "gcn", "head": "plain"}
    path = tmp_path / f"recipe.{kind}"
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in values.items())
    path.write_text(json.dumps(values) if kind == "json" else lines)
    assert (tomllib.loads(lines)) == values
    run = tmp_path / "run"
    assert protgnn_command("train", molecules_csv, "--config", path, "--set", "hidden=6", "--out", run).status == 0
    recipe = json.loads((run / "run.json").read_text())["recipe"]
    assert (recipe["epochs"], recipe["hidden"], recipe["encoder"]) == (1, 6, "gcn")


def test_a_misspelt_key_gets_a_hint_wherever_it_stands(protgnn_command, molecules_csv, tmp_path):
    for name, content in (("a.toml", "epoch = 3"), ("a.json", '{"epoch": 3}')):
        (tmp_path / name).write_text(content)
        ended = protgnn_command("train", molecules_csv, "--config", tmp_path / name, "--out", tmp_path / "run")
        assert ended.status == 1 and "did you mean 'epochs'?" in ended.err
    ended = protgnn_command("train", molecules_csv, "--set", "hiden=3", "--out", tmp_path / "run")
    assert ended.status == 1 and "did you mean 'hidden'?" in ended.err
    assert not (tmp_path / "run").exists()


def test_a_misspelt_dataset_gets_a_hint(protgnn_command):
    ended = protgnn_command("data", "show", "solubilty")
    assert ended.status == 1 and "Did you mean solubility" in ended.err


def test_changed_data_is_not_scored_as_if_it_were_the_same(protgnn_command, molecules_csv, tmp_path):
    path, run = tmp_path / "mols.csv", tmp_path / "run"
    path.write_text(molecules_csv.read_text())
    assert protgnn_command("train", path, "--out", run, *TINY).status == 0
    path.write_text(molecules_csv.read_text() + "CCO,low\n")
    ended = protgnn_command("evaluate", run)
    assert ended.status == 1 and "has changed since the run was trained" in ended.err
    assert protgnn_command("evaluate", run, path).status == 0
    path.unlink()
    assert "no such file" in protgnn_command("evaluate", run).err


def test_scoring_needs_labels_and_known_classes(protgnn_command, run_folder, tmp_path):
    path = tmp_path / "mols.csv"
    path.write_text("smiles\nCCO\nCCN\n")
    ended = protgnn_command("evaluate", run_folder, path)
    assert ended.status == 1 and "no labels to score against" in ended.err
    path.write_text("smiles,label\nCCO,purple\nCCN,low\n")
    ended = protgnn_command("evaluate", run_folder, path)
    assert ended.status == 1 and "purple" in ended.err and "high, low, medium" in ended.err


def test_an_output_that_fails_leaves_the_old_one(protgnn_command, run_folder, molecules_csv, tmp_path, monkeypatch):
    from protgnn.io import atomic_files

    out = tmp_path / "out.csv"
    out.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic_files.os, "fsync", full)
    ended = protgnn_command("predict", run_folder, molecules_csv, "-o", out)
    assert ended.status == 1 and "No space left on device" in ended.err
    assert out.read_text() == "old" and [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_names_that_look_like_markup_are_printed_as_they_are(protgnn_command, molecules_csv, tmp_path):
    path, run = tmp_path / "[bold]mols.csv", tmp_path / "[red]run"
    path.write_text(molecules_csv.read_text().replace(",low", ",[/x]low"))
    ended = protgnn_command("data", "show", path)
    assert ended.status == 0 and "[/x]low 30" in ended.out and "[bold]mols.csv" in ended.out
    ended = protgnn_command("train", path, "--out", run, *TINY)
    assert ended.status == 0 and "[/x]low" in ended.out and f"run: {run}" in ended.out


def test_prototypes_are_listed(protgnn_command, prototype_run, run_folder):
    ended = protgnn_command("prototypes", prototype_run)
    assert ended.status == 0 and "medium" in ended.out
    cards = json.loads(protgnn_command("prototypes", prototype_run, "--json").out)
    assert sorted(card["class"] for card in cards) == ["high"] * 2 + ["low"] * 2 + ["medium"] * 2
    ended = protgnn_command("prototypes", run_folder)
    assert ended.status == 1 and "has no prototypes" in ended.err


def test_a_seed_makes_the_same_run_twice(protgnn_command, molecules_csv, tmp_path):
    for name in ("a", "b"):
        protgnn_command("train", molecules_csv, "--out", tmp_path / name, *TINY, "--seed", 7)
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == (tmp_path / "b" / "model.safetensors").read_bytes()


def _process(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "protgnn", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def test_a_real_process_ends_with_the_same_statuses(run_folder):
    fine = _process("predict", run_folder, "CCO", "--json")
    assert fine.returncode == 0 and json.loads(fine.stdout)[0]["name"] == "CCO"
    mistake = _process("predict", run_folder, "nonsense")
    assert mistake.returncode == 1 and mistake.stdout == ""
    assert mistake.stderr.startswith("error: ") and mistake.stderr.count("\n") == 1
    assert _process("predict").returncode == 2


def test_a_closed_pipe_is_no_error(run_folder, molecules_csv):
    command = [sys.executable, "-m", "protgnn", "predict", str(run_folder), str(molecules_csv)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.wait(timeout=600)
    process.stderr.close()


@pytest.mark.slow
def test_the_demo_trains_and_says_how_to_go_on(tmp_path):
    done = _process("demo", "--out", tmp_path / "demo")
    assert done.returncode == 0 and "accuracy" in done.stdout
    assert f"protgnn explain {tmp_path / 'demo'}" in done.stdout
    assert f"protgnn explore {tmp_path / 'demo'}" in done.stdout


def test_the_demo_does_not_replace_a_run_on_other_data(protgnn_command, run_folder):
    ended = protgnn_command("demo", "--out", run_folder)
    assert ended.status == 1 and "other data" in ended.err


def test_scoring_on_the_training_data_is_said_to_be_so(protgnn_command, run_folder, molecules_csv):
    ended = protgnn_command("evaluate", run_folder, molecules_csv)
    assert ended.status == 0 and "trained on part of this data" in ended.err


def test_molecules_that_the_model_learned_from_are_counted(protgnn_command, run_folder, tmp_path):
    run = read_run(run_folder)
    data = run_data(run)
    known, new = data.train.names[:3] + data.valid.names[:1], data.test.names[:2]
    rewritten = [MolToSmiles(MolFromSmiles(name), canonical=False, rootedAtAtom=1) for name in known]
    assert rewritten != list(known), "another way to write a molecule does not hide it"
    mixed = tmp_path / "mixed.csv"
    mixed.write_text("smiles,label\n" + "".join(f"{name},{run.schema.class_names[0]}\n" for name in [*rewritten, *new]))
    for command in (("evaluate", run_folder), ("compare", run_folder, run_folder)):
        ended = protgnn_command(*command, mixed)
        assert ended.status == 0
        assert "4 of 6 molecules were in the training or validation part" in ended.err
    fresh = tmp_path / "fresh.csv"
    fresh.write_text("smiles,label\n" + "".join(f"{name},{run.schema.class_names[0]}\n" for name in new))
    assert "training or validation" not in protgnn_command("evaluate", run_folder, fresh).err


def test_evidence_that_is_too_small_is_told():
    recipe = make_recipe(plus=True, evidence_edges=10)
    told = evidence_advice(recipe, {"warm_up_accuracy": 0.9, "valid": {"accuracy": 0.7, "n": 20}})
    assert "90.0%" in told and "70.0%" in told and "evidence_edges=15" in told
    for before, now, count in ((0.9, 0.88, 1000), (0.9, 0.8, 10), (0.7, 0.9, 100)):
        assert evidence_advice(recipe, {"warm_up_accuracy": before, "valid": {"accuracy": now, "n": count}}) is None
    assert evidence_advice(recipe, {"valid": {"accuracy": 0.5, "n": 100}}) is None  # without a warm-up
