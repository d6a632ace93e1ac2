"""Time and memory of one projection as the training set grows: ``python -m benchmarks.projection [--all SIZE ...]``.

Benzene molecules, GCN 3 x 128, 5 prototypes per class. Each row runs in a process of its own, so that its peak memory
is its own; ``before_mb`` is what that process held before it projected (libraries, data, model). ``cpu_seconds`` is
the processor time that was used, which others on the machine do not change much.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import torch

from benchmarks.outcome import machine, prototypes_near, table, trained_gcn, write
from protgnn.datasets.load import load_graphs
from protgnn.search.projection import project

SIZES = (100, 1_000, 10_000)
CANDIDATES = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", type=int, nargs="*", default=[100, 1_000], help="sizes to search every graph of")
    parser.add_argument("--row", type=int, nargs=2, metavar=("SIZE", "CANDIDATES"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        print(json.dumps(measure(options.row[0], options.row[1] or None)))
        return
    rows = []
    for size, candidates in [(size, CANDIDATES) for size in SIZES] + [(size, 0) for size in options.all]:
        command = [sys.executable, "-m", "benchmarks.projection", "--row", str(size), str(candidates)]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        rows.append(json.loads(answer.stdout.splitlines()[-1]))
        path = write("projection", {"dataset": "benzene", "rows": rows, "machine": machine()})
        print(table(rows), flush=True)
    print(f"written to {path}")


def measure(size: int, candidates: int | None) -> dict[str, Any]:
    """Project once on the first ``size`` graphs; ``None`` searches them all."""
    graphs = load_graphs("benzene").graphs[:size]
    model = trained_gcn(graphs, epochs=max(1, 1_000 // size))
    prototypes, classes = prototypes_near(graphs, model)
    searched = 0

    def count(done: int, total: int) -> None:
        nonlocal searched
        searched = done

    before, start, cpu = peak_mb(), time.perf_counter(), time.process_time()
    result = project(graphs, prototypes, classes, model.embed, candidates=candidates, progress=count)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    assert torch.isfinite(result.vectors).all()
    return {
        "graphs": size,
        "candidates": "all" if candidates is None else candidates,
        "searched": searched,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "cpu_ms_per_search": 1000 * cpu / (searched * len(prototypes) / 2),
        "before_mb": before,
        "peak_mb": peak_mb(),
    }


def peak_mb() -> float:
    """The most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
