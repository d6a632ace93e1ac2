"""Is the known motif found? ``python -m benchmarks.motifs``.

ProtGNN+ on data whose label is a motif. For every test graph of a motif class that is predicted to be of it, the edges
are scored by how much of the predicted class's logit they carry: the sum, over the prototypes of that class, of their
share of the logit, times the sampler's probability of the edge, where their evidence holds it. Reported is the ROC AUC
of that score against the true motif's edges, mean over graphs, and the accuracy on all test graphs, over random splits;
beside it, as ``one_motif_auc``, the same against the one motif of a molecule that is found best (evidence is connected,
and a third of the benzene molecules with a ring have several), and, as ``sampler_auc``, that of the sampler's
probabilities of all edges, the paper's soft mask.
Each run is stored as soon as it is done, so an interrupted benchmark goes on where it stopped.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from benchmarks.runs import Figures, Split, cells, complete, name_of
from protgnn.training.settings import parse_settings

SEEDS = 5
DATA: dict[str, dict[str, str]] = {  # and how large evidence may be where not as large as usual: about as the motif
    "ba-2motifs": {},
    "benzene": {"evidence_edges": "6"},
    "motif-molecules": {},
}
FIGURES = ("accuracy", "agreement", "evidence_error", "evidence_size", "prototype_error", "median_similarity")


def run(task: Split) -> tuple[str, Figures]:
    """Train on one split and measure on its test part."""
    import torch

    from protgnn.datasets.load import load_graphs
    from protgnn.explain.metrics.motif_auc import motif_auc
    from protgnn.training.recipe import make_recipe
    from protgnn.training.train import SplitData, train

    torch.set_num_threads(1)
    data, encoder, _, seed, settings = task
    start = time.perf_counter()
    parts = load_graphs(data).with_split("random", seed)
    recipe = make_recipe(encoder=encoder, plus=True, seed=seed, split="random", **settings)
    result = train(SplitData(parts.train, parts.valid, parts.test), recipe)
    figures = {name: result.scores["test"][name] for name in FIGURES}
    found = motif_auc(result.model, parts.test)
    figures["motif_auc"], figures["sampler_auc"] = statistics.mean(found.every), statistics.mean(found.soft)
    figures["one_motif_auc"] = statistics.mean(found.one)
    return name_of(task), {**figures, "graphs": len(found.every), "seconds": round(time.perf_counter() - start, 1)}


def summary(done: dict[str, Figures]) -> list[dict[str, Any]]:
    """A row for all runs that differ in their split alone: mean ± standard deviation."""
    rows = []
    for row, runs in cells(done):
        for name in ("motif_auc", "one_motif_auc", "sampler_auc", "accuracy"):
            values = [one[name] for one in runs if name in one]
            row[name] = f"{statistics.mean(values):.4f} ± {statistics.pstdev(values):.4f}" if values else "-"
        row["evidence_error"] = f"{max(one['evidence_error'] for one in runs):.1e}"
        row["edges"] = f"{statistics.mean(one['evidence_size'] for one in runs):.1f}"
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--encoder", default="gin")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--set", nargs="*", default=[], help="recipe keys, as in --set epochs=40")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    settings = parse_settings(chosen.set)
    tasks: list[Split] = [
        (data, chosen.encoder, "plus", seed, DATA.get(data, {}) | settings)
        for data in chosen.data
        for seed in range(chosen.seeds)
    ]
    complete("motifs", tasks, name_of, run, summary, chosen.processes)


if __name__ == "__main__":
    main()
