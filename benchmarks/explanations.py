"""The league of explanations: ``python -m benchmarks.explanations``.

Every method explains the same test graphs of the same random splits, with the same features. Reported, over splits:

- ``motif_auc``: ROC AUC of edge scores against the edges of the true motif, mean over the graphs of a motif class that
  the method's own model predicts to be of it;
- ``fidelity_quarter``: by how much the probability of the predicted class falls when the quarter of the nodes that
  matter most, by the method's own word, is removed, mean over at most 200 graphs;
- for ours all figures of ``protgnn evaluate`` (``protgnn/explain/metrics``), ``prototypes`` and ``evidence_error``;
- ``accuracy`` of the model that is explained, and ``seconds`` to train it.

Methods: ``mined`` and ``sampled`` are ProtGNN+ with its own evidence; ``ig`` and ``saliency`` are integrated gradients
and gradients of a plain GNN of the same encoder; ``random`` draws the scores. Each run is stored as soon as it is done.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import torch
from torch import Tensor

from benchmarks.runs import Figures, complete
from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet
from protgnn.explain.metrics.motif_auc import node_share

DATA = (
    "ba-2motifs",
    "benzene",
    "motif-molecules:amide",
    "motif-molecules:tertiary-amine",
    "motif-molecules:nitro|nitrile",
    "motif-molecules:!ketone",
    "motif-molecules:amide+aryl-chloride",
    "motif-molecules:carboxylic-acid+phenol",
    "mutag",
    "bbbp",
    "solubility",
)
METHODS = ("mined", "ig", "saliency", "random")
SHOWN = (
    *("motif_auc", "accuracy", "fidelity_quarter", "fidelity_plus", "whole_parts", "filler"),
    *("resemblance", "resemblance_random", "resemblance_correlation", "prototypes", "weak_prototypes", "idle"),
)
STEPS = 32
League = tuple[str, str, str, int]
"""Data, encoder, method and seed of the split."""


def run(task: League) -> tuple[str, Figures]:
    """Train what a method explains, and score its explanations."""
    from protgnn.datasets.load import load_graphs
    from protgnn.training.recipe import make_recipe
    from protgnn.training.train import SplitData, train

    torch.set_num_threads(1)
    data, encoder, method, seed = task
    parts = load_graphs(data).with_split("random", seed)
    start = time.perf_counter()
    ours = method in ("mined", "sampled")
    settings: dict[str, Any] = {"plus": True, "evidence": method} if ours else {"head": "plain"}
    recipe = make_recipe(encoder=encoder, seed=seed, split="random", **settings)
    trained = train(SplitData(parts.train, parts.valid, parts.test), recipe)
    figures: Figures = {
        "accuracy": trained.scores["test"]["accuracy"],
        "seconds": round(time.perf_counter() - start, 1),
    }
    if ours:
        figures |= _of_ours(trained, parts.test)
    if method != "sampled":
        figures |= _ranked(trained.model, parts.test, method, seed)
    return " ".join(map(str, task)), figures


def _of_ours(trained: Any, test: GraphSet) -> Figures:
    from protgnn.explain.explanation import RunContext
    from protgnn.explain.metrics.figures import explanation_figures

    figures: Figures = explanation_figures(trained.model, test, RunContext(trained.prototypes))
    figures["prototypes"] = len(trained.prototypes.cards)
    for name in ("evidence_error", "sum_error", "prototype_error", "evidence_size"):
        figures[name] = trained.scores["test"][name]
    return figures


def _ranked(model: Any, test: GraphSet, method: str, seed: int) -> Figures:
    """``fidelity_quarter``, and ``motif_auc`` where the truth is known, of a method's scores of nodes."""
    from sklearn.metrics import roc_auc_score

    from protgnn.explain.metrics.removal import ASKED, probabilities_without

    assert test.y is not None
    generator = torch.Generator().manual_seed(seed)
    model.eval()
    aucs: list[float] = []
    removed: list[set[int]] = []
    said: list[int] = []
    first = 0
    for batch in test.batches(200):
        node, predicted = _node_scores(model, batch, method, generator)
        source, target = batch.edge_index
        score, owner = (node[source] + node[target]) / 2, batch.batch[source]
        starts = (batch.node_counts.cumsum(0) - batch.node_counts).tolist()
        for number, size in enumerate(batch.node_counts.tolist()):
            own = node[starts[number] : starts[number] + size]
            removed.append(set(own.argsort(descending=True, stable=True)[: max(1, size // 4)].tolist()))
        said += predicted.tolist()
        if test.node_mask is not None:
            truth = test.node_mask[first : first + len(batch.x)]
            true = truth[source] & truth[target]
            assert batch.y is not None
            for number in (predicted == batch.y).nonzero().squeeze(1).tolist():
                own = owner == number
                if bool(true[own].any()) and not bool(true[own].all()):
                    aucs.append(float(roc_auc_score(true[own].numpy(), score[own].numpy())))
        first += len(batch.x)
    asked = list(range(min(len(test), ASKED)))
    now = torch.tensor([said[number] for number in asked])[:, None]
    before = probabilities_without(model, test, asked, [set() for _ in asked]).gather(1, now)
    after = probabilities_without(model, test, asked, [removed[number] for number in asked]).gather(1, now)
    figures: Figures = {"fidelity_quarter": float((before - after).mean())}
    return figures | ({"motif_auc": statistics.mean(aucs)} if aucs else {})


def _node_scores(model: Any, batch: Batch, method: str, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """How much each node matters to the predicted class, ``[N]``, and the predicted classes."""
    with torch.no_grad():
        predicted = model(batch).argmax(1)
        if method == "mined":
            return node_share(model, batch)
    if method == "random":
        return torch.rand(len(batch.x), generator=generator), predicted
    points = [1.0] if method == "saliency" else [(step + 0.5) / STEPS for step in range(STEPS)]
    total = torch.zeros_like(batch.x)
    for point in points:
        x = (batch.x * point).requires_grad_()
        moved = Batch(x, batch.edge_index, batch.batch, batch.num_graphs, batch.edge_attr)
        total += torch.autograd.grad(model(moved).gather(1, predicted[:, None]).sum(), x)[0] / len(points)
    return (total.abs() if method == "saliency" else total * batch.x).sum(1), predicted


def summary(done: dict[str, Figures]) -> list[dict[str, Any]]:
    """A row for each data set, encoder and method: mean ± standard deviation over splits."""
    rows = []
    for name in sorted({key.rpartition(" ")[0] for key in done}):
        runs = [figures for key, figures in done.items() if key.rpartition(" ")[0] == name]
        data, encoder, method = name.split(" ")
        row: dict[str, Any] = {"data": data, "encoder": encoder, "method": method, "splits": len(runs)}
        for figure in SHOWN:
            values = [one[figure] for one in runs if figure in one]
            spread = f" ± {statistics.pstdev(values):.3f}" if len(values) > 1 else ""
            row[figure] = f"{statistics.mean(values):.3f}{spread}" if values else "-"
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--encoders", nargs="+", default=["gin"])
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 11, 12], help="splits that no choice was made on")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    tasks: list[League] = [
        (data, encoder, method, seed)
        for seed in chosen.seeds
        for data in chosen.data
        for encoder in chosen.encoders
        for method in chosen.methods
    ]
    complete("explanations", tasks, lambda task: " ".join(map(str, task)), run, summary, chosen.processes)


if __name__ == "__main__":
    main()
