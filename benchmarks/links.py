"""Link prediction: ProtGNN beside the plain encoder, on a generated network and on one read from CSV files.

``python -m benchmarks.links``. Every (data, encoder, model, seed) is one run on the link split of that seed, stored as
soon as it is done. ``csv`` is a network of people in six towns written to ``nodes.csv`` and ``edges.csv`` as a user
would have it: ids that are texts, a number, a kind; links are likelier within a town and between people of like age.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.runs import MODELS, Figures, Split, cells, complete, name_of
from protgnn.training.settings import parse_settings

FIGURES = ("roc_auc", "average_precision", "accuracy", "prototype_error", "sum_error", "evidence_error")


def write_people(folder: Path, people: int = 500, links: int = 3000) -> None:
    """The network ``csv``, always the same."""
    import numpy as np

    random = np.random.default_rng(0)
    town, age = random.integers(0, 6, people), random.integers(18, 80, people)
    job = np.array(["baker", "nurse", "smith", "clerk"])[random.integers(0, 4, people)]
    with (folder / "nodes.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "age", "job", "town"])
        rows.writerows([f"p{person:04d}", age[person], job[person], f"town {town[person]}"] for person in range(people))
    found: set[tuple[int, int]] = set()
    while len(found) < links:
        one, other = sorted(random.integers(0, people, 2).tolist())
        likely = (0.9 if town[one] == town[other] else 0.08) * np.exp(-(((age[one] - age[other]) / 15) ** 2))
        if one != other and random.random() < likely:
            found.add((one, other))
    with (folder / "edges.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["source", "target"])
        rows.writerows((f"p{one:04d}", f"p{other:04d}") for one, other in sorted(found))


def run(task: Split) -> tuple[str, dict[str, Any]]:
    """One training run; the figures are those of the exported model on the test pairs."""
    import torch

    from protgnn.datasets.load import load
    from protgnn.training.recipe import make_recipe
    from protgnn.training.train import SplitData, train

    torch.set_num_threads(1)
    data, encoder, model, seed, settings = task
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        if data == "csv":
            write_people(Path(folder))
        parts = load(folder if data == "csv" else data, task="links").with_split("random", seed)
    recipe = make_recipe(encoder=encoder, seed=seed, split="random", **MODELS[model], **settings)
    test = train(SplitData(parts.train, parts.valid, parts.test), recipe).scores["test"]
    figures: dict[str, Any] = {name: test[name] for name in FIGURES if name in test}
    return name_of(task), {**figures, "seconds": round(time.perf_counter() - start, 1)}


def summary(done: dict[str, Figures]) -> list[dict[str, Any]]:
    """A row per (data, encoder, model): means over the splits that are done."""
    rows = []
    for row, runs in cells(done):
        for name in FIGURES[:3]:
            row[name] = f"{100 * statistics.mean(one[name] for one in runs):.1f}"
        for name in FIGURES[3:]:
            row[name] = f"{max(one[name] for one in runs):.1e}" if name in runs[0] else "-"
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["communities", "csv"])
    parser.add_argument("--encoders", nargs="+", default=["gcn", "gin", "gat"])
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--set", nargs="*", default=[], help="recipe keys, as in --set epochs=40")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    settings = parse_settings(chosen.set)
    tasks: list[Split] = [
        (data, encoder, model, seed, settings)
        for seed in range(chosen.splits)
        for data in chosen.data
        for encoder in chosen.encoders
        for model in chosen.models
    ]
    complete("links", tasks, name_of, run, summary, chosen.processes, headline="roc_auc")


if __name__ == "__main__":
    main()
