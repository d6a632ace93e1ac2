"""Runs that earlier versions stored still open, predict and explain the same."""

import csv
import json
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent.parent / "fixtures" / "runs"
VERSION_1 = FIXTURES / "version-1"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("run", ["plain", "prototypes", "plus"])
def test_a_run_of_version_1_predicts_the_same(protgnn_command, tmp_path, run):
    done = protgnn_command("predict", VERSION_1 / run, VERSION_1 / "molecules.csv", "-o", tmp_path / "out.csv")
    assert done.status == 0, done.err
    stored, found = rows_of(VERSION_1 / f"{run}.csv"), rows_of(tmp_path / "out.csv")
    assert len(found) == len(stored) == 90
    for before, now in zip(stored, found, strict=True):
        assert before["predicted"] == now["predicted"] and before["name"] == now["name"]
        for column in (name for name in before if name.startswith("p(") or name == "similarity"):
            assert float(now[column]) == pytest.approx(float(before[column]), abs=1e-5)
        if run == "plus":
            assert now["evidence"] == before["evidence"]


@pytest.mark.parametrize("run", ["prototypes", "plus"])
def test_a_run_of_version_1_explains_the_same(protgnn_command, run):
    stored = json.loads((VERSION_1 / f"{run}-why.json").read_text())
    done = protgnn_command("explain", VERSION_1 / run, "CC(=O)Nc1ccc(O)cc1", "--json")
    found = json.loads(done.out)
    assert found["predicted"] == stored["predicted"]
    for before, now in zip(stored["rows"], found["rows"], strict=True):
        assert now["evidence"] == before["evidence"] and now["source"] == before["source"]
        assert now["similarity"] == pytest.approx(before["similarity"], abs=1e-5)
        assert now["contributions"] == pytest.approx(before["contributions"], abs=1e-5)


def test_a_run_of_version_1_on_a_network_is_scored_the_same(protgnn_command):
    stored = json.loads((VERSION_1 / "nodes" / "run.json").read_text())["scores"]["test"]
    done = protgnn_command("evaluate", VERSION_1 / "nodes", "--json")
    found = json.loads(done.out)
    assert found["accuracy"] == stored["accuracy"] and found["loss"] == pytest.approx(stored["loss"], abs=1e-5)
    assert found["prototype_error"] <= 1e-5
