"""Training runs over many splits, stored under names, so that a benchmark goes on where it stopped."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

Figures = dict[str, Any]
Task = TypeVar("Task")

MODELS: dict[str, dict[str, Any]] = {"plain": {"head": "plain"}, "prototypes": {}, "plus": {"plus": True}}
"""The models of the paper's tables, as changes of a recipe."""


def stored(path: Path) -> dict[str, Figures]:
    """The runs that a results file holds, by their names."""
    found: dict[str, Figures] = json.loads(path.read_text())["runs"] if path.exists() else {}
    return found


def trained(
    run: Callable[[Task], tuple[str, Figures]], tasks: list[Task], processes: int
) -> Iterator[tuple[str, Figures]]:
    """The runs, as they are done; one process is this one."""
    if processes == 1:
        yield from map(run, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(run, tasks)


def name_of(*parts: object, settings: dict[str, str]) -> str:
    """The name under which a run is stored: what it is of, and the recipe keys that were set."""
    return " ".join([*map(str, parts), *(f"{key}={value}" for key, value in sorted(settings.items()))])


def cells(done: dict[str, Figures]) -> list[tuple[dict[str, Any], list[Figures]]]:
    """Runs named ``data encoder model seed settings…`` by all but the seed: the head of each row, and its runs."""
    found: dict[tuple[str, str, str, str], list[Figures]] = {}
    for key, figures in done.items():
        data, encoder, model, _, *changed = key.split(" ")
        found.setdefault((data, encoder, model, " ".join(changed)), []).append(figures)
    return [
        ({"data": data, "encoder": encoder, "model": model, "settings": settings, "splits": len(runs)}, runs)
        for (data, encoder, model, settings), runs in sorted(found.items())
    ]
