"""A sweep over recipe values on several splits, which goes on where it was stopped; what figures are drawn from."""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

from benchmarks.accuracy import Task, key_of, run
from benchmarks.outcome import RESULTS, machine, table
from benchmarks.runs import stored, trained
from protgnn.io.atomic_files import write_json
from protgnn.training.settings import parse_settings

Point = dict[str, float]
"""Recipe keys and their values at one point of the sweep."""


def sweep(points: list[Point], chosen: argparse.Namespace, path: Path) -> None:
    """Train ProtGNN at every point on every split; each run is stored as soon as it is done."""
    settings = parse_settings(chosen.set)
    tasks: dict[str, tuple[str, Point]] = {}
    wanted: list[Task] = []
    for data in chosen.data:
        for point in points:
            values = {key: f"{value:g}" for key, value in point.items()}
            for split in range(chosen.splits):
                task: Task = (data, chosen.encoder, "prototypes", split, 0, chosen.recipe, {**settings, **values})
                tasks[key_of(task)] = data, point
                wanted.append(task)
    done = stored(path)
    left = [task for task in wanted if key_of(task) not in done]
    for key, figures in trained(run, left, chosen.processes):
        data, point = tasks[key]
        done[key] = {"data": data, "encoder": chosen.encoder, **point, **figures}
        _write(path, tasks, done)
        print(f"{data} {point}: {figures['accuracy']:.4f} in {figures['seconds']} s", flush=True)
    rows = _write(path, tasks, done)
    accuracies = ([100 * value for value in row["accuracy"]] for row in rows)
    shown = (f"{statistics.mean(values):.2f} ± {statistics.pstdev(values):.2f}" for values in accuracies)
    print(table([{**row, "accuracy": text} for row, text in zip(rows, shown, strict=True)]))


def _write(path: Path, tasks: dict[str, tuple[str, Point]], done: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Write all runs, and the accuracies of this sweep by point."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for key, (data, point) in tasks.items():
        if key in done:
            row = {"data": data, "encoder": done[key]["encoder"], **point, "accuracy": []}
            rows.setdefault((data, *point.values()), row)["accuracy"].append(done[key]["accuracy"])
    write_json(path, {"points": list(rows.values()), "runs": done, "machine": machine()})
    return list(rows.values())


def arguments(description: str | None, name: str) -> argparse.ArgumentParser:
    """What every sweep can be told."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["bbbp"])
    parser.add_argument("--encoder", default="gcn")
    parser.add_argument("--splits", type=int, default=3, help="random splits per point")
    parser.add_argument("--recipe", default="default")
    parser.add_argument("--set", nargs="*", default=[], help="recipe keys, as in --set epochs=40")
    parser.add_argument("--results", type=Path, default=RESULTS / f"{name}.json", help="the file to write and go on in")
    parser.add_argument("--processes", type=int, default=2)
    return parser
