"""All nodes of a network predicted in one pass: time and memory, ``make bench-all-nodes``.

For each size, in a process of its own: a network with ten times as many edges is made, and a ProtGNN of the default
width, whose weights are random, predicts every node from all its neighbours and writes the rows. ``cpu_s`` is processor
time of predicting, ``csv_s`` of writing; ``peak_gb`` is the largest resident memory of the process.
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


def measure(nodes: int) -> dict[str, Any]:
    """The figures for a network of so many nodes."""
    import torch

    from protgnn.data.network.instances import NetworkInstances
    from protgnn.datasets.builtin.networks import web_network
    from protgnn.explain.explanation import RunContext
    from protgnn.explain.predictions import predictions
    from protgnn.io.partial_output import write_rows
    from protgnn.training.build import build
    from protgnn.training.recipe import make_recipe
    from protgnn.training.resolve import as_model_input, resolve

    network = web_network(nodes=nodes)
    every = NetworkInstances.of_nodes(network, torch.arange(nodes))
    recipe = resolve(make_recipe(fanout=0), every)
    model = build(recipe, network.schema).eval()
    wall, cpu = time.perf_counter(), time.process_time()
    rows = predictions(model, as_model_input(recipe, every), RunContext())
    found = {"nodes": nodes, "edges": network.num_edges // 2, "encoder": recipe.encoder, "hidden": recipe.hidden}
    found |= {"wall_s": round(time.perf_counter() - wall, 1), "cpu_s": round(time.process_time() - cpu, 1)}
    cpu = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder) / "out.csv", rows)
    found["csv_s"] = round(time.process_time() - cpu, 1)
    return {**found, "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", nargs="+", type=int, default=[10_000, 50_000, 200_000, 1_000_000])
    rows = []
    for nodes in parser.parse_args().nodes:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            rows += pool.map(measure, [nodes])
        print(table(rows), flush=True)
        write("all_nodes", {"rows": rows, "machine": machine()})


if __name__ == "__main__":
    main()
