"""What the benchmarks make of their runs."""

from __future__ import annotations

import argparse

import pytest

from benchmarks import table1, table1_page
from benchmarks.accuracy import Task, key_of, recipe_of, summary, tasks_of
from benchmarks.outcome import RESULTS, table
from benchmarks.runs import MODELS, Figures, Split, complete, digest_of, stored


def _task(split: int, start: int = 0, head: str = "plain") -> Task:
    return ("mutag", "gin", head, split, start, "default", {})


def test_a_split_counts_with_the_mean_of_its_starts() -> None:
    tasks = [_task(0), _task(0, 1), _task(1), _task(1, 1)]
    done = {key_of(task): {"accuracy": accuracy} for task, accuracy in zip(tasks, (0.5, 0.7, 0.9, 1.0), strict=True)}
    (row,) = summary(done, tasks)
    assert (row["splits"], row["runs"]) == (2, 4)
    assert row["accuracy"] == "77.50 ± 17.50"


def test_a_head_is_compared_with_the_simpler_one_split_by_split() -> None:
    plain, prototypes = [_task(0), _task(1), _task(2)], [_task(0, head="prototypes"), _task(1, head="prototypes")]
    exact = {"prototype_error": 0.0, "sum_error": 0.0, "median_similarity": 1.0}
    values = zip([*plain, *prototypes], (0.5, 0.9, 0.1, 0.6, 0.8), strict=True)
    done = {key_of(task): {"accuracy": accuracy, **exact} for task, accuracy in values}
    first, second = summary(done, [*plain, *prototypes])
    assert first["gained"] == "-"
    assert second["gained"] == "+0.00 ± 10.00"


def test_settings_of_evidence_do_not_make_the_simpler_heads_other_runs() -> None:
    wide = {"evidence_edges": "15"}
    for head, same in (("plain", True), ("prototypes", True), ("plus", False)):
        task = _task(0, head=head)
        assert (key_of(task) == key_of((*task[:6], wide))) == same


def test_starts_differ_in_all_but_the_split() -> None:
    first, second, other_split = _task(3), _task(3, 1), _task(4)
    assert recipe_of(first).seed == 3
    assert len({recipe_of(task).seed for task in (first, second, other_split)}) == 3
    assert key_of(first).startswith("mutag gin plain 3 default ")
    assert key_of(second).startswith("mutag gin plain 3.1 default ")


def test_stored_runs_of_another_recipe_are_left_out() -> None:
    tasks = [_task(3), _task(3, 1), _task(4)]
    done = {key_of(task): {} for task in tasks} | {"mutag gin plain 5 default 00000000": {}}
    assert tasks_of(done, {}) == tasks
    assert tasks_of(done, {"lr": "0.1"}) == []


def test_an_interrupted_benchmark_goes_on_where_it_stopped(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("benchmarks.outcome.RESULTS", tmp_path)
    monkeypatch.setattr("benchmarks.runs.RESULTS", tmp_path)
    asked: list[int] = []

    def run(task: int) -> tuple[str, Figures]:
        asked.append(task)
        if task == 3 and asked.count(3) == 1:
            raise KeyboardInterrupt
        return str(task), {"accuracy": task / 10, "seconds": 1.0}

    def means(done: dict[str, Figures]) -> list[Figures]:
        return [{"runs": len(done), "mean": sum(one["accuracy"] for one in done.values()) / len(done)}]

    with pytest.raises(KeyboardInterrupt):
        complete("some", [1, 2, 3], str, run, means, processes=1)
    assert sorted(stored(tmp_path / "some.json")) == ["1", "2"]
    complete("some", [1, 2, 3], str, run, means, processes=1)
    assert asked == [1, 2, 3, 3]
    assert sorted(stored(tmp_path / "some.json")) == ["1", "2", "3"]
    assert "0.200" in capsys.readouterr().out.splitlines()[-1]


def test_a_table_has_a_dash_where_a_row_has_no_such_figure() -> None:
    assert table([{"a": 1, "b": 0.5}, {"a": 22}, {"c": "x"}]).split() == [
        *("a", "b", "c"),
        *("1", "0.500", "-"),
        *("22", "-", "-"),
        *("-", "-", "x"),
    ]


BEFORE = {"readout": "mean", "evidence": "sampled", "whole_parts": False}
"""What was the default when these results were made."""


def test_results_that_are_stored_keep_their_names() -> None:
    """The first is a result in the repository; the digests are those that recipes had before keys could be auto."""
    name = key_of(("bbbp", "gat", "plain", 0, 0, "default", BEFORE))
    assert name == "bbbp gat plain 0 default 4ceac0de" and name in stored(RESULTS / "accuracy.json")
    assert digest_of("gin", "plain", BEFORE) == "e38cead4"
    assert digest_of("gin", "plus", BEFORE) == digest_of("gin", "plus", {**BEFORE, "warm_up": "auto"}) == "80405ab5"
    assert digest_of("gcn", "plus", {**BEFORE, "epochs": "40", "batch_size": "8", "warm_up": "5"}) == "16ec1080"
    assert digest_of("gin", "plus", {**BEFORE, "ending_window": "3"}) != "80405ab5"
    assert digest_of("gin", "plus", {"readout": "mean"}) != "80405ab5"
    assert key_of(("mutag", "gin", "plus", 0, 0, "default", BEFORE)).endswith(" 738a66e3")
    assert key_of(("mutag", "gin", "plus", 0, 0, "paper", {})).endswith(" bb6582c3")


def test_table_1_says_how_far_ours_is_from_the_papers_in_standard_errors() -> None:
    tasks: list[Split] = [("mutag", "gcn", model, split, {}) for model in ("plain", "prototypes") for split in range(4)]
    accuracies = (0.7, 0.8, 0.7, 0.8, 0.8, 0.8, 0.8, 0.8)
    done = {
        table1.key_of(task): {"accuracy": accuracy, "n": 100, "seconds": 1800.0}
        for task, accuracy in zip(tasks, accuracies, strict=True)
    }
    unfinished: list[Split] = [*tasks, ("mutag", "gcn", "plus", 0, {})]
    plain, prototypes = table1.rows_of(unfinished, done)
    assert (plain["accuracy"], plain["paper"], plain["difference"], plain["splits"]) == (75.0, 73.3, 1.7, 4)
    assert plain["standard_error"] == pytest.approx(100 * 0.05774 / 2, abs=0.01) and plain["in_errors"] == 0.6
    assert prototypes["standard_error"] == pytest.approx(2.0, abs=0.02), "equal splits are no certainty"
    told = table1.sentences([plain, prototypes], unfinished, done)
    assert told[0].startswith("2 of 2 cells are at or above the paper's figure")
    assert told[1] == "prototypes is at most 0.5 points below plain in 1 of 1 pairs"
    assert told[-1] == "8 runs took 4.0 hours of one core; 1 are not done"


def test_the_page_of_table_1_has_a_cell_for_every_run_and_a_dash_for_what_is_not_done():
    settings: dict[str, str] = {}
    tasks = [("mutag", "gcn", model, seed, settings) for model in ("plain", "prototypes") for seed in range(3)]
    run = {"n": 20, "seconds": 60.0, "prototype_error": 2e-7}
    done = {table1.key_of(task): {**run, "accuracy": 0.9} for task in tasks if task[2] == "plain"}
    text = "\n\n".join(table1_page.page(tasks, done))
    assert "| GCN | 90.0 ±" in text and "[3] · 73.3, " in text and "| – | – |" in text
    assert "`prototype_error` is 2e-07, `sum_error` not known yet" in text
    assert "1 of 1 cells are at or above the paper's figure" in text and "3 are not done" in text


def test_table_1_has_45_cells_and_keeps_words_and_splits_apart() -> None:
    everything = argparse.Namespace(data=list(table1.PLANS), encoders=["gcn", "gin", "gat"], models=list(MODELS))
    everything.splits, everything.set, everything.words = None, [], "contextual"
    tasks = table1.tasks_of(everything)
    with_paper = {task[:3] for task in tasks if table1.PLANS[task[0]].paper}
    assert len(with_paper) == 45 and len({table1.key_of(task) for task in tasks}) == len(tasks)
    everything.words = "static"
    other = {table1.key_of(task) for task in table1.tasks_of(everything)}
    same = {table1.key_of(task) for task in tasks} & other
    assert same and not any(key.startswith("graph-") for key in same)
