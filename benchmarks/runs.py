"""Training runs over many splits, stored under names, so that a benchmark goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.outcome import RESULTS, machine, table, write
from benchmarks.recipe_digest import named_by
from protgnn.training.recipe import make_recipe

Figures = dict[str, Any]
Split = tuple[str, str, str, int, dict[str, str]]
"""One run: data, encoder, model, seed of the split, and what is changed in the recipe."""
Task = TypeVar("Task")
Result = TypeVar("Result")

MODELS: dict[str, dict[str, Any]] = {"plain": {"head": "plain"}, "prototypes": {}, "plus": {"plus": True}}
"""The models of the paper's tables, as changes of a recipe."""


def stored(path: Path) -> dict[str, Figures]:
    """The runs that a results file holds, by their names."""
    found: dict[str, Figures] = json.loads(path.read_text())["runs"] if path.exists() else {}
    return found


def complete(
    name: str,
    tasks: list[Task],
    key_of: Callable[[Task], str],
    run: Callable[[Task], tuple[str, Figures]],
    summary: Callable[[dict[str, Figures]], list[dict[str, Any]]],
    processes: int,
    headline: str = "accuracy",
) -> None:
    """Do the tasks that are not in ``results/<name>.json``, store each as soon as it is done, and print the summary."""
    done = stored(RESULTS / f"{name}.json")
    left = [task for task in tasks if key_of(task) not in done]
    for key, figures in trained(run, left, processes):
        done[key] = figures
        write(name, {"summary": summary(done), "runs": done, "machine": machine()})
        print(f"{key}: {headline} {figures[headline]:.4f} in {figures['seconds']} s", flush=True)
    rows = summary(done)
    write(name, {"summary": rows, "runs": done, "machine": machine()})
    print(table(rows))


def trained(run: Callable[[Task], Result], tasks: list[Task], processes: int) -> Iterator[Result]:
    """The runs, as they are done; one process is this one."""
    if processes == 1:
        yield from map(run, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(run, tasks)


def name_of(task: Split) -> str:
    """The name under which a run is stored: what it is of, the recipe keys that were set, and a digest of all of them,
    since a run with other defaults is another run."""
    data, encoder, model, seed, settings = task
    changed = [f"{key}={value}" for key, value in sorted(settings.items())]
    return " ".join([data, encoder, model, str(seed), *changed, f"recipe:{digest_of(encoder, model, settings)}"])


def digest_of(encoder: str, model: str, settings: dict[str, str]) -> str:
    """A few letters that differ where any key of the recipe does."""
    recipe = make_recipe(encoder=encoder, **{**MODELS[model], **settings})
    return hashlib.sha256(json.dumps(named_by(recipe), separators=(",", ":")).encode()).hexdigest()[:8]


def cells(done: dict[str, Figures]) -> list[tuple[dict[str, Any], list[Figures]]]:
    """Runs named ``data encoder model seed settings… recipe`` by all but the seed: the head of each row, and its runs;
    runs without a digest of their recipe are older."""
    found: dict[tuple[str, str, str, str], list[Figures]] = {}
    for key, figures in done.items():
        data, encoder, model, _, *changed = key.split(" ")
        found.setdefault((data, encoder, model, " ".join(changed)), []).append(figures)
    return [
        ({"data": data, "encoder": encoder, "model": model, "settings": settings, "splits": len(runs)}, runs)
        for (data, encoder, model, settings), runs in sorted(found.items())
    ]
