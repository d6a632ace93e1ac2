"""Node classification over random splits, beside the paper's Table 1, and whether the evidence is the known motif.

``python -m benchmarks.nodes``. Every (data, encoder, model, seed) is one run on the random 80/10/10 split of that seed,
stored as soon as it is done, so that an interrupted benchmark goes on where it stopped. ``ba-shapes`` has degrees as
features; ``ba-shapes:constant`` has ones, as published, of which a GAT can learn nothing (a mean of equal rows is that
row), so that it is left out there. For ProtGNN+ the edges around each test node of a motif, predicted rightly, are
ranked as in ``benchmarks.motifs``: ``motif_auc`` is the mean ROC AUC against the motif's edges.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from benchmarks.runs import MODELS, Figures, Split, cells, complete, name_of
from protgnn.training.settings import parse_settings

PAPER = {  # Table 1, BA-Shapes
    "gcn": {"plain": 91.9, "prototypes": 95.7, "plus": 94.3},
    "gin": {"plain": 92.9, "prototypes": 95.2, "plus": 95.5},
    "gat": {"plain": 92.9, "prototypes": 93.4, "plus": 93.2},
}
FIGURES = ("accuracy", "prototype_error", "sum_error", "median_similarity", "evidence_error", "evidence_size")


def run(task: Split) -> tuple[str, dict[str, Any]]:
    """One training run; the figures are those of the exported model on the test part."""
    import torch

    from protgnn.datasets.load import load
    from protgnn.explain.metrics.motif_auc import motif_auc
    from protgnn.training.recipe import make_recipe
    from protgnn.training.resolve import as_model_input
    from protgnn.training.train import SplitData, train

    torch.set_num_threads(1)
    data, encoder, model, seed, settings = task
    start = time.perf_counter()
    parts = load(data).with_split("random", seed)
    recipe = make_recipe(encoder=encoder, seed=seed, split="random", **MODELS[model], **settings)
    result = train(SplitData(parts.train, parts.valid, parts.test), recipe)
    test = result.scores["test"]
    figures: dict[str, Any] = {name: test[name] for name in FIGURES if name in test}
    if model == "plus":
        found = motif_auc(result.model, as_model_input(result.recipe, parts.test).ego_graphs())
        figures["motif_auc"], figures["sampler_auc"] = statistics.mean(found.every), statistics.mean(found.soft)
    return name_of(task), {**figures, "seconds": round(time.perf_counter() - start, 1)}


def summary(done: dict[str, Figures]) -> list[dict[str, Any]]:
    """A row per (data, encoder, model): mean ± std over the splits that are done."""
    rows = []
    for row, runs in cells(done):
        accuracy = [100 * one["accuracy"] for one in runs]
        row["accuracy"] = f"{statistics.mean(accuracy):.1f} ± {statistics.pstdev(accuracy):.1f}"
        row["paper"] = PAPER[row["encoder"]][row["model"]] if row["data"].startswith("ba-shapes") else "-"
        for name, pick in (("prototype_error", max), ("sum_error", max), ("evidence_error", max)):
            row[name] = f"{pick(one[name] for one in runs):.1e}" if name in runs[0] else "-"
        for name in ("motif_auc", "sampler_auc"):
            row[name] = f"{statistics.mean(one[name] for one in runs):.3f}" if name in runs[0] else "-"
        row["minutes"] = f"{statistics.mean(one['seconds'] for one in runs) / 60:.1f}"
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["ba-shapes", "ba-shapes:constant", "tree-cycles"])
    parser.add_argument("--encoders", nargs="+", default=list(PAPER))
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--splits", type=int, default=10)
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
        if not (encoder == "gat" and data.endswith(":constant"))
    ]
    complete("nodes", tasks, name_of, run, summary, chosen.processes)


if __name__ == "__main__":
    main()
