"""The league of explanations: ``python -m benchmarks.explanations``.

Every method explains the same test instances of the same random splits, with the same features, by scores of edges and
nodes. Reported, mean ± standard deviation over splits:

- ``motif_auc``, ``precision``, ``node_auc`` and ``gea`` where the true motif is known (``benchmarks.league.scoring``);
- ``fidelity_plus`` (``benchmarks.league.edge_removal``), computed in the same way for every method;
- ``accuracy`` of the model that is explained, ``seconds`` to train it and what explains it, ``explain_cpu_seconds``,
  processor time for one explanation;
- for ours also the figures of ``protgnn evaluate`` (``protgnn/explain/metrics``).

``MODEL_OF`` names the methods and the model that each explains; all that explain one model share it, so that it is
trained once. Runs are stored as soon as a model is done, under data, encoder, method, split and a digest of the
settings: runs of another recipe stay in the file and count no more. ``--page`` writes ``docs/league.md`` from the
stored runs and trains nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import time
from functools import lru_cache
from typing import Any

import torch

from benchmarks.league.edge_removal import drops, fidelity_plus, packed
from benchmarks.league.scoring import Explained, concatenate, truth_figures
from benchmarks.league.sets import SETS, LeagueSplit, as_graphs, league_split, to_explain
from benchmarks.outcome import RESULTS, machine, table, write
from benchmarks.recipe_digest import METHODS
from benchmarks.runs import Figures, digest_of, stored, trained
from protgnn.data.graph_set import GraphSet

MODEL_OF = {
    "plus": "plus",
    "sampled": "sampled",
    "soft": "sampled",
    "searched": "prototypes",
    "ig": "plain",
    "saliency": "plain",
    "gnnexplainer": "plain",
    "pgexplainer": "plain",
    "random": "plain",
    "gsat": "gsat",
    "gmt": "gmt",
}
"""The model that each method explains."""

OURS = ("plus", "sampled", "soft", "searched")
ATTENTION = ("gsat", "gmt")
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {"head": "plain", "composition": False},  # which has no gradient, so peers would not see it
    "prototypes": {"composition": False},
    "plus": {"plus": True},
    "sampled": {"plus": True, "evidence": "sampled"},
}
SHOWN = ("motif_auc", "precision", "node_auc", "gea", "fidelity_plus", "accuracy", "explain_cpu_seconds", "seconds")
Group = tuple[str, str, str, int, tuple[str, ...]]
"""Data, encoder, model, seed of the split, and the methods that explain this model."""


def key_of(data: str, encoder: str, method: str, seed: int) -> str:
    """The name under which a run is stored."""
    nodes = data in ("ba-shapes", "tree-cycles")
    return f"{data} {encoder} {method} {seed} {_digest(encoder, MODEL_OF[method], nodes)}"


@lru_cache
def _digest(encoder: str, model: str, nodes: bool) -> str:
    """A few letters that differ where the settings of the model do."""
    if model in ATTENTION:
        from benchmarks.league.stochastic_attention import settings_of

        return f"settings:{hashlib.sha256(repr(settings_of(model, nodes)).encode()).hexdigest()[:8]}"  # type: ignore[arg-type]
    settings = {"evidence": "sampled"} if model == "sampled" else {}
    method = f"-{METHODS[model]}" if model == "plus" else ""
    return f"recipe:{digest_of(encoder, 'plus' if model == 'sampled' else model, settings)}{method}"


def run(group: Group) -> dict[str, Figures]:
    """Train a model on a split and score what each method says of it."""
    torch.set_num_threads(1)
    data, encoder, model, seed, methods = group
    parts = league_split(data, seed)
    found = _of_attention(group, parts) if model in ATTENTION else _of_trained(group, parts)
    return {key_of(data, encoder, method, seed): found[method] for method in methods}


def _of_attention(group: Group, parts: LeagueSplit) -> dict[str, Figures]:
    from benchmarks.league.stochastic_attention import accuracy_of, attention_logits, train_attention
    from protgnn.training.recipe import make_recipe
    from protgnn.training.resolve import resolve

    _, encoder, method, seed, _ = group
    recipe = resolve(make_recipe(encoder=encoder, head="plain", seed=seed, split="random"), parts.train)
    train, valid, test = (as_graphs(part, recipe) for part in (parts.train, parts.valid, parts.test))
    begun = time.perf_counter()
    model = train_attention(method, encoder, train, valid, seed)  # type: ignore[arg-type]
    figures: Figures = {"accuracy": accuracy_of(model, test), "seconds": round(time.perf_counter() - begun, 1)}
    graphs = to_explain(test, seed)
    begun = time.process_time()
    explained = concatenate([model.scores(batch) for batch in graphs.batches(256)])
    figures["explain_cpu_seconds"] = (time.process_time() - begun) / len(graphs)
    return {method: figures | _scored(graphs, explained, lambda some: attention_logits(model, some), seed)}


def _of_trained(group: Group, parts: LeagueSplit) -> dict[str, Figures]:
    from protgnn.training.evaluate import predict_logits
    from protgnn.training.recipe import make_recipe
    from protgnn.training.train import SplitData, train

    _, encoder, model, seed, methods = group
    recipe = make_recipe(encoder=encoder, seed=seed, split="random", **SETTINGS[model])
    begun = time.perf_counter()
    result = train(SplitData(parts.train, parts.valid, parts.test), recipe)
    seconds = time.perf_counter() - begun
    graphs = to_explain(as_graphs(parts.test, result.recipe), seed)

    @torch.no_grad()
    def logits(some: GraphSet) -> torch.Tensor:
        return predict_logits(result.model, some)

    found: dict[str, Figures] = {}
    for method in methods:
        begun = time.perf_counter()
        explain, learned = _explainer(method, result, parts, seed), time.perf_counter()
        clock = time.process_time()
        explained = explain(graphs)
        spent = time.process_time() - clock
        found[method] = {
            "accuracy": result.scores["test"]["accuracy"],
            "seconds": round(seconds + learned - begun, 1),
            "explain_cpu_seconds": spent / len(graphs),
        } | _scored(graphs, explained, logits, seed)
        if method in ("plus", "sampled"):
            found[method] |= _of_evidence(result, graphs, as_graphs(parts.test, result.recipe))
    return found


def _explainer(method: str, result: Any, parts: LeagueSplit, seed: int) -> Any:
    """What makes ``Explained`` of graphs; what has to learn first does it here."""
    from benchmarks.league import gradients, ours, pyg_explainers

    model = result.model.eval()
    if method in ("plus", "sampled", "soft"):
        return lambda graphs: ours.evidence_scores(model, graphs, shown=method != "soft")
    if method == "searched":
        return lambda graphs: ours.searched_scores(model, graphs)
    generator = torch.Generator().manual_seed(seed)
    learned = None
    if method == "pgexplainer":
        torch.manual_seed(seed)
        learned = pyg_explainers.TrainedPGExplainer(model, as_graphs(parts.train, result.recipe), seed)

    def explain(graphs: GraphSet) -> Explained:
        found = []
        for batch in graphs.batches(100):
            with torch.no_grad():
                predicted = model(batch).argmax(1)
            if method == "random":
                found.append(gradients.random_scores(batch, generator))
            elif method == "gnnexplainer":
                torch.manual_seed(seed)
                found.append(pyg_explainers.gnn_explainer_scores(model, batch, predicted))
            elif learned is not None:
                found.append(learned.scores(batch, predicted))
            else:
                found.append(gradients.gradient_scores(model, batch, predicted, method))  # type: ignore[arg-type]
        return concatenate(found)

    return explain


def _scored(graphs: GraphSet, explained: Explained, logits: Any, seed: int) -> Figures:
    truth = truth_figures(graphs, explained, logits(graphs).argmax(1))
    return {**truth, "drops": packed(drops(graphs, explained.edge, logits, seed))}


def _of_evidence(result: Any, graphs: GraphSet, test: GraphSet) -> Figures:
    """How large evidence is on each graph, and the figures that the library computes of it."""
    from benchmarks.league.edge_removal import ASKED
    from benchmarks.league.ours import evidence_edges
    from protgnn.explain.explanation import RunContext, explain
    from protgnn.explain.metrics.summary import explanation_figures

    context, scores = RunContext(result.prototypes), result.scores["test"]
    asked = graphs[: min(len(graphs), ASKED)]
    sizes = evidence_edges(asked, explain(result.model, asked, context))
    computed = explanation_figures(result.model, test, context)
    figures: Figures = {name: value for name, value in computed.items() if name not in ("motif_auc", "fidelity_plus")}
    figures |= {name: scores[name] for name in ("evidence_error", "sum_error", "prototype_error") if name in scores}
    return figures | {"prototypes": len(result.prototypes.cards), "evidence_edges": " ".join(map(str, sizes))}


def current(done: dict[str, Figures]) -> dict[tuple[str, str, str, int], Figures]:
    """The stored runs of today's settings by data, encoder, method and split, with ``fidelity_plus``."""
    found = {}
    for key, figures in done.items():
        data, encoder, method, seed, _ = key.split(" ")
        if key == key_of(data, encoder, method, int(seed)):
            evidence = done.get(key_of(data, encoder, "plus", int(seed)), {}).get("evidence_edges")
            sizes = None if evidence is None else [int(size) for size in evidence.split(" ")]
            fidelity = fidelity_plus(figures["drops"], sizes)
            found[data, encoder, method, int(seed)] = {**figures, "fidelity_plus": fidelity}
    return found


def summary(done: dict[str, Figures]) -> list[dict[str, Any]]:
    """A row for each data set, encoder and method: mean ± standard deviation over splits."""
    runs = current(done)
    order = {name: number for number, name in enumerate([*SETS, *MODEL_OF])}
    cells = {key[:3] for key in runs}
    rows = []
    for data, encoder, method in sorted(cells, key=lambda cell: (order.get(cell[0], -1), cell[1], order[cell[2]])):
        own = [figures for key, figures in runs.items() if key[:3] == (data, encoder, method)]
        row: dict[str, Any] = {"data": data, "encoder": encoder, "method": method, "splits": len(own)}
        for figure in SHOWN:
            values = [one[figure] for one in own if figure in one]
            digits = 1 if figure == "seconds" else 4 if figure == "explain_cpu_seconds" else 3
            spread = f" ± {statistics.pstdev(values):.{digits}f}" if len(values) > 1 else ""
            row[figure] = f"{statistics.mean(values):.{digits}f}{spread}" if values else "-"
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(SETS))
    parser.add_argument("--encoders", nargs="+", default=["gin"])
    parser.add_argument("--methods", nargs="+", default=list(MODEL_OF), choices=list(MODEL_OF))
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 11, 12], help="splits that no choice was made on")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--page", action="store_true", help="write docs/league.md from the stored runs")
    chosen = parser.parse_args()
    if chosen.page:
        from benchmarks.league.page import write_page

        write_page()
        return
    done = stored(RESULTS / "explanations.json")
    groups: list[Group] = []
    for seed in chosen.seeds:
        for data in chosen.data:
            for encoder in chosen.encoders:
                left = [one for one in chosen.methods if key_of(data, encoder, one, seed) not in done]
                for model in dict.fromkeys(MODEL_OF[one] for one in left):
                    groups.append((data, encoder, model, seed, tuple(one for one in left if MODEL_OF[one] == model)))
    for found in trained(run, groups, chosen.processes):
        done |= found
        write("explanations", {"summary": summary(done), "runs": done, "machine": machine()})
        for key, figures in found.items():
            print(
                f"{key}: motif AUC {figures.get('motif_auc', 'unknown')}, accuracy {figures['accuracy']:.3f}",
                flush=True,
            )
    rows = summary(done)
    write("explanations", {"summary": rows, "runs": done, "machine": machine()})
    print(table(rows))


if __name__ == "__main__":
    main()
