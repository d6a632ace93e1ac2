"""Table 1 of the paper: accuracy of GCN, GIN and GAT, plain, as ProtGNN and as ProtGNN+, on five datasets.

``python -m benchmarks.table1`` trains what is not in ``results/table1.json``, one process per core, and prints the
table with the paper's figure beside ours; ``--show`` prints it from what is stored, and ``--page`` writes it to
``docs/table1.md``, without training. Every (data,
encoder, model, split) is one run on the random 80/10/10 split of that number, stored as soon as it is done with its
recipe, seed, version, date and time: an interrupted benchmark goes on where it stopped, and a run whose recipe is no
longer today's is trained again. Words of sentences are contextual unless ``--words static``. ``graph-sst2:standard`` is
the split that comes with SST-2: on the random one phrases of one sentence are in several parts, so the two must not be
compared.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import math
import os
import statistics
import time
from dataclasses import dataclass, field
from typing import Any

from benchmarks.outcome import RESULTS, machine, table, write
from benchmarks.recipe_digest import METHODS
from benchmarks.runs import MODELS, Figures, Split, name_of, stored, trained
from protgnn.training.settings import parse_settings

STANDARD = ":standard"


@dataclass(frozen=True)
class Plan:
    """How a dataset is measured: random splits, recipe keys that are not the default's, and the paper's figures, plain,
    ProtGNN and ProtGNN+ of each encoder."""

    splits: int
    paper: dict[str, tuple[float, float, float]]
    settings: dict[str, str] = field(default_factory=dict)
    words: bool = False


# Chosen on splits of the training part of split 0: docs/decisions/0400
TWITTER = {"dropout": "0.5", "epochs": "15", "anchored_epochs": "8"}
SST2 = {"dropout": "0.5", "epochs": "12", "anchored_epochs": "3", "warm_up": "6"}
_SST2_PAPER = {"gcn": (89.7, 89.9, 89.0), "gin": (92.2, 92.0, 92.3), "gat": (88.1, 89.1, 88.7)}
PLANS = {
    "mutag": Plan(10, {"gcn": (73.3, 76.7, 73.3), "gin": (93.3, 90.7, 91.7), "gat": (75.0, 78.3, 81.7)}),
    "ba-shapes": Plan(10, {"gcn": (91.9, 95.7, 94.3), "gin": (92.9, 95.2, 95.5), "gat": (92.9, 93.4, 93.2)}),
    "bbbp": Plan(5, {"gcn": (84.6, 89.4, 88.0), "gin": (86.2, 86.5, 85.9), "gat": (83.0, 85.9, 85.5)}),
    "graph-twitter": Plan(
        3, {"gcn": (67.5, 68.9, 66.1), "gin": (66.2, 75.2, 76.5), "gat": (69.6, 64.8, 66.4)}, TWITTER, words=True
    ),
    "graph-sst2": Plan(1, _SST2_PAPER, SST2, words=True),
    f"graph-sst2{STANDARD}": Plan(1, {}, SST2, words=True),
}
FIGURES = (
    *("accuracy", "n", "loss", "prototype_error", "sum_error", "median_similarity", "evidence_error"),
    *("roc_auc", "balanced_accuracy", "ece", "majority_baseline"),
)
"""What is stored of the test part; the last four are for the page of peers (``benchmarks.peers``)."""
WITHIN = {"prototypes": ("plain", 0.5), "plus": ("prototypes", 1.0)}
"""Of each model, the simpler one that it is compared with, and by how many points it may be worse."""


def run(task: Split) -> tuple[str, Figures]:
    """One training run; the figures are those of the exported model on the test part."""
    import torch

    from protgnn.datasets.load import load
    from protgnn.training.recipe import make_recipe
    from protgnn.training.train import SplitData, train
    from protgnn.version import VERSION

    torch.set_num_threads(1)
    data, encoder, model, seed, settings = task
    begun = time.perf_counter()
    given = data.endswith(STANDARD)
    words = settings.get("words")
    parts = load(data.removesuffix(STANDARD), words=words).with_split("given" if given else "random", seed)
    changes = {key: value for key, value in settings.items() if key != "words"}
    recipe = make_recipe(encoder=encoder, seed=seed, split="given" if given else "random", **MODELS[model], **changes)
    result = train(SplitData(parts.train, parts.valid, parts.test), recipe)
    scores = result.scores
    figures: Figures = {key: scores["test"][key] for key in FIGURES if key in scores["test"]}
    figures |= {"valid_accuracy": scores["valid"]["accuracy"], "train_accuracy": scores["train"]["accuracy"]}
    figures |= {"epochs": scores["epochs"], "best_epoch": scores["best_epoch"], "seed": seed, "version": VERSION}
    figures |= {"seconds": round(time.perf_counter() - begun, 1), "load": round(os.getloadavg()[0], 1)}
    figures["date"] = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M")
    return key_of(task), {**figures, "recipe": result.recipe.model_dump(mode="json", exclude={"seed"})}


def key_of(task: Split) -> str:
    """The name under which a run is stored."""
    data, encoder, model, seed, settings = task
    words = {"words": settings["words"]} if "words" in settings else {}
    plain = {key: value for key, value in settings.items() if key != "words"}
    neither = PLANS[data].words or (data == "ba-shapes" and model != "plus")  # mined, nor with a composition
    method = [] if neither else [f"method:{METHODS[model]}"]
    return " ".join([name_of((data, encoder, model, seed, plain)), *words.values(), *method])


def tasks_of(chosen: argparse.Namespace) -> list[Split]:
    """All runs that are wanted, those first that fill a cell; large sets last."""
    changed = parse_settings(chosen.set)
    tasks: list[Split] = []
    for data in chosen.data:
        plan = PLANS[data]
        settings = {**plan.settings, **changed, **({"words": chosen.words} if plan.words else {})}
        tasks += [
            (data, encoder, model, seed, settings)
            for encoder in chosen.encoders
            for model in chosen.models
            for seed in range(chosen.splits or plan.splits)
        ]
    return sorted(tasks, key=lambda task: (task[0].startswith("graph-sst2"), task[3]))


def rows_of(tasks: list[Split], done: dict[str, Figures]) -> list[dict[str, Any]]:
    """A row per cell: mean accuracy ± standard error over the splits that are done, the paper's, and how far apart they
    are in points and in standard errors."""
    cells: dict[tuple[str, str, str], list[Figures]] = {}
    for task in tasks:
        if key_of(task) in done:
            cells.setdefault(task[:3], []).append(done[key_of(task)])
    rows = []
    for (data, encoder, model), runs in cells.items():
        accuracy = [100 * one["accuracy"] for one in runs]
        mean, error = statistics.mean(accuracy), standard_error(accuracy, int(runs[0]["n"]))
        row: dict[str, Any] = {"data": data, "encoder": encoder, "model": model, "splits": len(runs)}
        row |= {"accuracy": round(mean, 2), "standard_error": round(error, 2)}
        published = PLANS[data].paper.get(encoder)
        if published is not None:
            paper = published[list(MODELS).index(model)]
            row |= {"paper": paper, "difference": round(mean - paper, 2), "in_errors": round((mean - paper) / error, 1)}
        row["minutes"] = round(sum(one["seconds"] for one in runs) / 60, 1)
        rows.append(row)
    order = {name: place for place, name in enumerate([*PLANS, "gcn", "gin", "gat", *MODELS])}
    return sorted(rows, key=lambda row: [order[row[key]] for key in ("data", "encoder", "model")])


def standard_error(accuracy: list[float], graphs: int) -> float:
    """The standard error of a mean over splits, in points; of less than three, and at the least, that of counting so
    many test graphs in each (Laplace's estimate, which is never certain)."""
    total = graphs * len(accuracy)
    share = (statistics.mean(accuracy) / 100 * total + 1) / (total + 2)
    counted = 100 * math.sqrt(share * (1 - share) / total)
    if len(accuracy) < 3:
        return counted
    return max(statistics.stdev(accuracy) / math.sqrt(len(accuracy)), counted)


def sentences(rows: list[dict[str, Any]], tasks: list[Split], done: dict[str, Figures]) -> list[str]:
    """What the table comes to."""
    published = [row for row in rows if "paper" in row]
    above = sum(row["difference"] >= 0 for row in published)
    near = sum(row["in_errors"] >= -1 for row in published)
    found = [
        f"{above} of {len(published)} cells are at or above the paper's figure, {near} at most one standard error below"
    ]
    means = {(row["data"], row["encoder"], row["model"]): row["accuracy"] for row in published}
    for model, (simpler, most) in WITHIN.items():
        pairs = [
            (value, means[data, encoder, simpler])
            for (data, encoder, of), value in means.items()
            if of == model and (data, encoder, simpler) in means
        ]
        kept = sum(value >= other - most for value, other in pairs)
        found.append(f"{model} is at most {most} points below {simpler} in {kept} of {len(pairs)} pairs")
    spent = sum(done[key_of(task)]["seconds"] for task in tasks if key_of(task) in done)
    left = sum(key_of(task) not in done for task in tasks)
    found.append(f"{len(tasks) - left} runs took {spent / 3600:.1f} hours of one core; {left} are not done")
    return found


def stored_recipes(name: str) -> dict[str, str]:
    """The recipes of stored runs, as JSON in one line each, by the name that runs call them."""
    path = RESULTS / f"{name}.json"
    found: dict[str, str] = json.loads(path.read_text()).get("recipes", {}) if path.exists() else {}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(PLANS), choices=list(PLANS))
    parser.add_argument("--encoders", nargs="+", default=["gcn", "gin", "gat"])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--splits", type=int, default=None, help="another number of splits than the data's own")
    parser.add_argument("--words", default="contextual", help="of sentences: contextual or static")
    parser.add_argument("--set", nargs="*", default=[], help="recipe keys, as in --set epochs=40")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--name", default="table1", help="results file")
    parser.add_argument("--show", action="store_true", help="print what is stored, and train nothing")
    parser.add_argument(
        "--page", action="store_true", help="write docs/table1.md from what is stored, and train nothing"
    )
    chosen = parser.parse_args()
    tasks, done = tasks_of(chosen), stored(RESULTS / f"{chosen.name}.json")
    if chosen.page:
        from benchmarks.table1_page import write_page

        write_page(tasks)
        return
    left = [] if chosen.show else [task for task in tasks if key_of(task) not in done]
    for data, words in sorted({(task[0].removesuffix(STANDARD), task[4].get("words") or "") for task in left}):
        if words:
            from protgnn.datasets.load import load

            load(data, words=words)  # once, before several processes want the same words
    recipes = stored_recipes(chosen.name)
    for key, figures in trained(run, left, chosen.processes):
        recipe = json.dumps(figures["recipe"], sort_keys=True)
        figures["recipe"] = hashlib.sha256(recipe.encode()).hexdigest()[:8]
        done[key], recipes[figures["recipe"]] = figures, recipe
        kept = {"summary": rows_of(tasks, done), "runs": done, "recipes": recipes}
        write(chosen.name, {**kept, "machine": machine()})
        print(f"{key}: accuracy {100 * figures['accuracy']:.2f} in {figures['seconds']} s", flush=True)
    rows = rows_of(tasks, done)
    print(table(rows))
    for sentence in sentences(rows, tasks, done):
        print(sentence)


if __name__ == "__main__":
    main()
