"""``protgnn prototypes`` with a hand on them, and ``protgnn compare``."""

import json

import pytest


def test_prototypes_are_numbered_edited_stored_and_taken_back(protgnn_command, mined_run, tmp_path):
    out, back = tmp_path / "edited", tmp_path / "back"
    before = json.loads(protgnn_command("prototypes", mined_run, "--json").out)
    assert [row["number"] for row in before] == list(range(len(before)))
    edit = ["--remove", 1, "--require", 0, "--replace", "2=Cc1ccccc1", "--add", "medium: CC", "--forbid", "C1CCCCC1"]
    done = protgnn_command("prototypes", mined_run, *edit, "--out", out)
    assert done.status == 0, done.err
    assert "removed 1" in done.out and "validation" in done.out and "accuracy" in done.out
    assert set(json.loads((out / "run.json").read_text())["scores"]) & {"train", "valid", "test"} == {"train", "valid"}
    after = json.loads(protgnn_command("prototypes", out, "--json").out)
    assert [row["description"] for row in after] == ["[OH]", "Cc1ccccc1", "CC"]
    assert [row["required"] for row in after] == [True, False, False]
    told = protgnn_command("prototypes", out, "--history")
    assert "replaced 2" in told.out and "before" in told.out
    assert json.loads(protgnn_command("prototypes", out, "--history", "--json").out)[0]["can_undo"] is True
    assert protgnn_command("prototypes", out, "--undo", "--out", back).status == 0
    assert json.loads(protgnn_command("prototypes", back, "--json").out) == before
    assert protgnn_command("evaluate", out).status == 0


def test_an_edit_without_out_is_only_tried(protgnn_command, mined_run):
    before = (mined_run / "run.json").read_bytes()
    done = protgnn_command("prototypes", mined_run, "--remove", 1, "--json")
    told = json.loads(done.out)
    assert told["run"] is None and told["steps"][0]["numbers"][1] is None
    assert {"accuracy", "n"} <= set(told["steps"][0]["before"]) & set(told["steps"][0]["after"])
    tried = protgnn_command("prototypes", mined_run, "--remove", 1)
    assert "nothing was stored" in tried.err and (mined_run / "run.json").read_bytes() == before


def test_training_goes_on_with_the_edits(protgnn_command, mined_run, tmp_path):
    done = protgnn_command(
        "prototypes", mined_run, "--forbid", "0", "--retrain", "--epochs", 1, "--out", tmp_path / "again"
    )
    assert done.status == 0, done.err
    assert "mined prototypes again" in done.out
    shown = {row["description"] for row in json.loads(protgnn_command("prototypes", tmp_path / "again", "--json").out)}
    assert "[OH]" not in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--remove", 77], "no prototype 77"),
        (["--replace", "2"], "--replace takes a number and a part"),
        (["--replace", "x=CC"], "--replace takes a number and a part"),
        (["--replace", "2=CC", "--replace", "2=CCC"], "twice"),
        (["--add", "not a smiles"], "neither a SMILES nor a SMARTS"),
        (["--undo"], "nothing to undo"),
        (["--undo", "--remove", 1], "--undo goes alone"),
        (["--out", "somewhere"], "nothing to store"),
    ],
)
def test_a_mistake_ends_in_one_sentence(protgnn_command, mined_run, options, message):
    done = protgnn_command("prototypes", mined_run, *options)
    assert done.status == 1 and message in done.err and "Traceback" not in done.err and done.out == ""


def test_a_folder_that_holds_something_is_not_written_to(protgnn_command, mined_run, prototype_run):
    done = protgnn_command("prototypes", mined_run, "--remove", 1, "--out", prototype_run)
    assert done.status == 1 and "not empty" in done.err


def test_runs_are_compared_in_words_and_for_programs(protgnn_command, mined_run, prototype_run, molecules_csv):
    told = protgnn_command("compare", mined_run, prototype_run)
    assert told.status == 0, told.err
    for words in ("accuracy", "they disagree on", "prototypes; those that look the same"):
        assert words in told.out
    found = json.loads(protgnn_command("compare", mined_run, prototype_run, molecules_csv, "--json").out)
    assert found["n"] == 90 and found["first"] == str(mined_run)
    assert set(found["differences"]["accuracy"]) == {"difference", "low", "high"}
    assert len(found["disagreements"]) >= found["mcnemar"]["only_first"]
    few = protgnn_command("compare", mined_run, prototype_run, molecules_csv, "--rows", 1)
    assert "a split at least this uneven would arise by chance with probability" in " ".join(few.out.split())
    assert few.out.startswith("90 molecules; first: ")
    alike = protgnn_command("compare", mined_run, mined_run)
    assert "only the second on 0\n" in alike.out and "McNemar" not in alike.out, "0 against 0 is no split"
    assert "more: --rows" in few.out and "trained on part of this data" in few.err


def test_comparing_with_what_is_no_run_is_a_sentence(protgnn_command, mined_run, tmp_path):
    done = protgnn_command("compare", mined_run, tmp_path / "nothing")
    assert done.status == 1 and "no run directory" in done.err
