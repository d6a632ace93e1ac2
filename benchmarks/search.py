"""How long one search takes, against the plain one: ``python -m benchmarks.search``.

All graphs of MUTAG for 10 prototypes, GCN 3 x 128, the paper's settings (20 iterations, λ = 5, at most 10 children,
leaves of 5 nodes), once as the default recipe searches, by whole rings and functional groups, and once by single atoms,
as the paper does. The plain search of the tests runs on a sample of the same pairs, by the same units.
"""

from __future__ import annotations

import time
from typing import Any

import torch

from benchmarks.outcome import machine, prototypes_near, table, trained_gcn, write
from protgnn.data.graph_set import GraphSet
from protgnn.data.units import Units
from protgnn.datasets.load import load_graphs
from protgnn.featurizers.batch_units import BatchUnits
from protgnn.model.classifier import GraphClassifier
from protgnn.search.tree import Explored, SearchSettings, search
from tests.search.oracle import plain_search

AUTHORS_MS = 11_000.0
"""One search of the authors' code on this kind of machine."""

PAIRS = 200


def main() -> None:
    graphs = load_graphs("mutag").graphs
    model = trained_gcn(graphs)
    prototypes, _ = prototypes_near(graphs, model)
    settings, units = SearchSettings(), BatchUnits.of(graphs.schema)
    assert units is not None
    search(graphs, range(8), prototypes, model.embed, settings)  # warm up

    searches = len(graphs) * len(prototypes)
    atom_wall, atom_cpu = time.perf_counter(), time.process_time()
    search(graphs, range(len(graphs)), prototypes, model.embed, settings)
    atom_wall, atom_cpu = time.perf_counter() - atom_wall, time.process_time() - atom_cpu
    wall, cpu = time.perf_counter(), time.process_time()
    results = search(graphs, range(len(graphs)), prototypes, model.embed, settings, units=units)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    fast = 1000 * wall / searches

    known = units(graphs.batch())
    assert known is not None
    plain, better = compare(graphs, results, prototypes, model, settings, known)
    values: dict[str, Any] = {
        "dataset": "mutag",
        "searches": searches,
        "ms_per_search": fast,
        "cpu_ms_per_search": 1000 * cpu / searches,
        "ms_by_single_atoms": 1000 * atom_wall / searches,
        "cpu_ms_by_single_atoms": 1000 * atom_cpu / searches,
        "plain_ms_per_search": plain,
        "times_faster_than_plain": plain / fast,
        "times_faster_than_authors": AUTHORS_MS * searches / (1000 * atom_wall),  # who prune single atoms
        **better,
        "machine": machine(),
    }
    path = write("search", values)
    print(table([{"figure": key, "value": value} for key, value in values.items() if key != "machine"]))
    print(f"written to {path}")


def compare(
    graphs: GraphSet,
    results: list[Explored],
    prototypes: torch.Tensor,
    model: GraphClassifier,
    settings: SearchSettings,
    units: list[Units],
) -> tuple[float, dict[str, Any]]:
    """Milliseconds of a plain search, and whose answers are more similar, over ``PAIRS`` random pairs."""
    generator = torch.Generator().manual_seed(1)
    pairs = torch.randperm(len(graphs) * len(prototypes), generator=generator)[:PAIRS].tolist()
    start, difference = time.perf_counter(), []
    for pair in pairs:
        number, prototype = divmod(pair, len(prototypes))
        _, similarity = plain_search(graphs, number, prototypes[prototype], model.embed, settings, units[number])
        result = results[number]
        difference.append(float(result.similarity[result.best[prototype], prototype]) - similarity)
    plain = 1000 * (time.perf_counter() - start) / len(pairs)
    return plain, {
        "pairs_compared": len(pairs),
        "share_at_least_as_similar": sum(value >= -1e-6 for value in difference) / len(pairs),
        "share_more_similar": sum(value > 1e-6 for value in difference) / len(pairs),
        "mean_similarity_gain": sum(difference) / len(pairs),
    }


if __name__ == "__main__":
    main()
