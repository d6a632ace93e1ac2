"""What the benchmarks make of their runs."""

from __future__ import annotations

from benchmarks.accuracy import Task, key_of, recipe_of, summary, tasks_of


def _task(split: int, start: int = 0) -> Task:
    return ("mutag", "gin", "plain", split, start, "default", {})


def test_a_split_counts_with_the_mean_of_its_starts() -> None:
    tasks = [_task(0), _task(0, 1), _task(1), _task(1, 1)]
    done = {key_of(task): {"accuracy": accuracy} for task, accuracy in zip(tasks, (0.5, 0.7, 0.9, 1.0), strict=True)}
    (row,) = summary(done, tasks)
    assert (row["splits"], row["runs"]) == (2, 4)
    assert row["accuracy"] == "77.50 ± 17.50"


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
