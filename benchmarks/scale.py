"""Time and memory on networks of 10⁴ to 10⁶ nodes with ten times as many edges: ``python -m benchmarks.scale``.

For each size, in a process of its own: the network is made, ProtGNN is trained for an epoch over some thousand nodes by
neighbour sampling, its prototypes are projected, the run is saved and loaded, and nodes are predicted and explained.
``peak_gb`` is the largest resident memory of the process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.outcome import machine, table, write


def measure(task: tuple[int, int, int, dict[str, str]]) -> dict[str, Any]:
    """The figures for a network of so many nodes, of which some are trained on and some are asked about."""
    import torch

    from protgnn.data.network.instances import NetworkInstances
    from protgnn.datasets.builtin.networks import web_network
    from protgnn.explain.explanation import RunContext, explain
    from protgnn.training.evaluate import predict_logits
    from protgnn.training.recipe import make_recipe
    from protgnn.training.resolve import as_model_input
    from protgnn.training.run import Run, load_model
    from protgnn.training.train import SplitData, train_in

    nodes, learned, asked, settings = task
    row: dict[str, Any] = {"nodes": nodes}
    clock = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal clock
        row[name], clock = round(time.perf_counter() - clock, 1), time.perf_counter()

    network = web_network(nodes=nodes)
    row["edges"] = network.num_edges // 2
    lap("make_s")
    order = torch.randperm(nodes, generator=torch.Generator().manual_seed(0))
    sizes = [min(learned, nodes // 2), 1000, 1000, asked]
    trained_on, valid, test, some = (
        NetworkInstances.of_nodes(network, part) for part in order[: sum(sizes)].split_with_sizes(sizes)
    )
    row["trained_on"] = len(trained_on)
    recipe = make_recipe(epochs=1, anchored_epochs=0, **settings)
    with tempfile.TemporaryDirectory() as folder:
        run = Run(recipe, network.schema)
        train_in(Path(folder) / "run", SplitData(trained_on, valid, test), run, on_epoch=lambda state: lap("epoch_s"))
        lap("project_and_score_s")
        model, done = load_model(Path(folder) / "run")
    seen = as_model_input(done.recipe, some)
    predict_logits(model, seen)
    lap("predict_s")
    reasons = explain(model, seen, RunContext.of(done))
    shown = [why.graph for why in reasons]
    lap("explain_s")
    row["accuracy"] = round(done.scores["test"]["accuracy"], 3)
    row["asked"] = len(shown)
    for name in ("prototype_error", "sum_error"):
        row[name] = f"{done.scores['test'][name]:.1e}"
    row["peak_gb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", nargs="+", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--train", type=int, default=10_000, help="nodes to train on")
    parser.add_argument("--ask", type=int, default=100, help="nodes to predict and explain")
    parser.add_argument("--set", nargs="*", default=[], help="recipe keys, as in --set fanout=10")
    chosen = parser.parse_args()
    settings = dict(item.split("=", 1) for item in chosen.set)
    rows = []
    for nodes in chosen.nodes:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            rows += pool.map(measure, [(nodes, chosen.train, chosen.ask, settings)])
        print(table(rows), flush=True)
        write("scale", {"summary": rows, "settings": settings, "machine": machine()})


if __name__ == "__main__":
    main()
