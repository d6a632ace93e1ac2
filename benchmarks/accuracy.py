"""Held-out accuracy over random splits, beside the paper's: the cells of its Table 1 that we can run.

``python -m benchmarks.accuracy --data mutag bbbp --heads plain prototypes plus``. Every (data, encoder, head, split,
start) is one run of a recipe on the random 80/10/10 split of that number; each is stored as soon as it is done, so an
interrupted benchmark goes on where it stopped. Two processes share the machine. With ``--starts 3`` every split is
learned three times, from other weights and in another order, and counts with the mean of them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import time
from typing import Any

from benchmarks.outcome import RESULTS
from benchmarks.recipe_digest import named_by
from benchmarks.runs import MODELS, complete, stored
from protgnn.training.recipe import Recipe, largest_prototype, make_recipe
from protgnn.training.settings import parse_settings

SPLITS = {"mutag": 10, "bbbp": 5, "solubility": 3, "ba-2motifs": 5, "benzene": 5}
PAPER = {  # Table 1: accuracy of the original GNN, of ProtGNN and of ProtGNN+
    ("mutag", "gcn"): {"plain": 73.3, "prototypes": 76.7, "plus": 73.3},
    ("mutag", "gin"): {"plain": 93.3, "prototypes": 90.7, "plus": 91.7},
    ("mutag", "gat"): {"plain": 75.0, "prototypes": 78.3, "plus": 81.7},
    ("bbbp", "gcn"): {"plain": 84.6, "prototypes": 89.4, "plus": 88.0},
    ("bbbp", "gin"): {"plain": 86.2, "prototypes": 86.5, "plus": 85.9},
    ("bbbp", "gat"): {"plain": 83.0, "prototypes": 85.9, "plus": 85.5},
}
OTHER_TASKS = {"fanout", "instance_nodes"}
EVIDENCE = {
    "plus",
    "warm_up",
    "evidence_edges",
    "evidence_beside",
    "evidence_budget",
    "exploration",
    "evidence_share",
    "evidence_lr",
    "sampler_lr",
}
ENDING = {"refine_steps"}
SIMPLER = {"prototypes": "plain", "plus": "prototypes"}
"""What a head is compared with."""
ANOTHER_START = 1000
"""From the seed of a split to those of its further starts."""
Task = tuple[str, str, str, int, int, str, dict[str, str]]
"""Data, encoder, head, split, start, recipe and what is changed in it."""


def run(task: Task) -> tuple[str, dict[str, Any]]:
    """One training run; the figures are those of the exported model on the test part."""
    import torch

    from protgnn.datasets.load import load_graphs
    from protgnn.training.train import SplitData, train

    torch.set_num_threads(1)
    data, _, _, split, _, _, _ = task
    begun = time.perf_counter()
    parts = load_graphs(data).with_split("random", split)
    recipe = recipe_of(task)
    scores = train(SplitData(parts.train, parts.valid, parts.test), recipe).scores
    figures = {key: scores["test"][key] for key in FIGURES if key in scores["test"]}
    extra = {"valid_accuracy": scores["valid"]["accuracy"], "epochs": scores["epochs"]}
    return key_of(task), {**figures, **extra, "seconds": round(time.perf_counter() - begun, 1)}


FIGURES = (
    "accuracy",
    "loss",
    "n",
    "prototype_error",
    "sum_error",
    "median_similarity",
    "evidence_error",
    "evidence_size",
    "agreement",
)


def recipe_of(task: Task) -> Recipe:
    """The recipe of a run."""
    _, encoder, model, split, start, name, settings = task
    seed = split + start * ANOTHER_START
    return make_recipe(name, encoder=encoder, seed=seed, split="random", **MODELS[model], **settings)


def key_of(task: Task) -> str:
    """The name under which a run is stored."""
    data, encoder, model, split, start, name, _ = task
    recipe = recipe_of(task)
    # Another recipe is another run; keys that do not concern a model do not make it another one.
    foreign = OTHER_TASKS | (set() if recipe.plus else EVIDENCE) | (ENDING if recipe.head == "plain" else set())
    concerned = {key: value for key, value in named_by(recipe).items() if key not in foreign}
    concerned |= {"search_max_nodes": largest_prototype(recipe)}
    digest = hashlib.sha256(json.dumps(concerned).encode()).hexdigest()[:8]
    number = f"{split}.{start}" if start else str(split)
    return f"{data} {encoder} {model} {number} {name} {digest}"


def tasks_of(done: dict[str, dict[str, Any]], settings: dict[str, str]) -> list[Task]:
    """The tasks of all stored runs whose recipe is the one that these settings make today."""
    tasks: list[Task] = []
    for key in done:
        data, encoder, model, number, name, _ = key.split(" ")
        split, _, start = number.partition(".")
        task: Task = (data, encoder, model, int(split), int(start or 0), name, settings)
        if key_of(task) == key:
            tasks.append(task)
    return sorted(tasks, key=lambda task: task[:5])


def summary(done: dict[str, dict[str, Any]], tasks: list[Task]) -> list[dict[str, Any]]:
    """A row per (data, encoder, head): mean ± std over the splits, each of which counts with the mean of its starts;
    and the mean difference to the simpler head, split by split, ± its standard error."""
    cells: dict[tuple[str, str, str], dict[int, list[dict[str, Any]]]] = {}
    for task in tasks:
        cells.setdefault(task[:3], {}).setdefault(task[3], []).append(done[key_of(task)])
    accuracies = {
        cell: {split: 100 * statistics.mean(one["accuracy"] for one in starts) for split, starts in of_split.items()}
        for cell, of_split in cells.items()
    }
    rows = []
    for (data, encoder, head), of_split in cells.items():
        runs = [one for starts in of_split.values() for one in starts]
        accuracy = accuracies[data, encoder, head]
        row: dict[str, Any] = {"data": data, "encoder": encoder, "head": head}
        row |= {"splits": len(of_split), "runs": len(runs)}
        row["accuracy"] = f"{statistics.mean(accuracy.values()):.2f} ± {statistics.pstdev(accuracy.values()):.2f}"
        simpler = accuracies.get((data, encoder, SIMPLER.get(head, "")), {})
        gained = [accuracy[split] - simpler[split] for split in accuracy if split in simpler]
        row["gained"] = "-"
        if len(gained) > 1:
            row["gained"] = f"{statistics.mean(gained):+.2f} ± {statistics.stdev(gained) / len(gained) ** 0.5:.2f}"
        row["paper"] = PAPER.get((data, encoder), {}).get(head, "-")
        for name, pick in (("prototype_error", max), ("sum_error", max), ("median_similarity", min)):
            row[name] = f"{pick(one[name] for one in runs):.2g}" if head != "plain" else "-"
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=["mutag", "bbbp"])
    parser.add_argument("--encoders", nargs="+", default=["gcn", "gin", "gat"])
    parser.add_argument("--heads", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--splits", type=int, default=None, help="another number of splits than the data's own")
    parser.add_argument("--starts", type=int, default=1, help="how often each split is learned")
    parser.add_argument("--recipe", default="default")
    parser.add_argument("--set", nargs="*", default=[], help="recipe keys, as in --set epochs=40")
    parser.add_argument("--name", default="accuracy", help="results file")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    settings = parse_settings(chosen.set)
    tasks: list[Task] = [
        (data, encoder, head, split, start, chosen.recipe, settings)
        for start in range(chosen.starts)
        for data in chosen.data
        for encoder in chosen.encoders
        for head in chosen.heads
        for split in range(chosen.splits or SPLITS.get(data, 5))
    ]
    simpler = stored(RESULTS / "accuracy.json")  # where settings of evidence have a results file of their own

    def rows(done: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
        known = simpler | done
        return summary(known, tasks_of(known, settings))

    complete(chosen.name, tasks, key_of, run, rows, chosen.processes)


if __name__ == "__main__":
    main()
