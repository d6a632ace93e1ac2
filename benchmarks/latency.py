"""Do things that a user waits for stay quick? ``python -m benchmarks.latency``.

A small model of the solubility data explains one molecule as SVG and as PNG, and predicts the dataset's molecules until
3 600 rows are reached; 70 000 graphs are validated; a molecule of 9 900 atoms and a graph of a million nodes are drawn.
Each is timed once everything is imported, in seconds of processor time, so that other work on the machine does not
count. The command fails if one takes longer than its limit.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.outcome import machine, table, write
from protgnn.cli.main import main as command_line
from protgnn.data.graph_set import GraphSet
from protgnn.data.validate import check
from protgnn.datasets.load import load_graphs
from protgnn.explain.explanation import RunContext
from protgnn.explain.predictions import predictions
from protgnn.featurizers.molecule import parse
from protgnn.training.run import load_model
from protgnn.viz.graphs import draw_graph
from protgnn.viz.molecules import draw_molecule

LIMITS = {
    "explain to SVG": 2.0,
    "explain to PNG": 2.0,
    "predict 3 600 rows": 10.0,
    "validate 70 000 graphs": 5.0,
    "draw 9 900 atoms": 2.0,
    "draw 1 000 000 nodes": 2.0,
}
"""Seconds of processor time."""

SETTINGS = ("epochs=2", "hidden=8", "prototypes=2", "anchored_epochs=1", "search_iterations=2", "refine_steps=5")
MOLECULE = "CC(=O)Nc1ccc(O)cc1"


def command(*arguments: str) -> None:
    """Run a protgnn command in this process."""
    try:
        command_line(list(arguments))
    except SystemExit as end:
        if end.code:
            raise


def seconds(work: Callable[[], object]) -> float:
    """Processor time of the second call; the first one imports and caches."""
    work()
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(folder: Path) -> dict[str, float]:
    """The seconds of each of ``LIMITS``."""
    run = folder / "run"
    command("train", "solubility", "--out", str(run), *(part for one in SETTINGS for part in ("--set", one)))
    model, content = load_model(run)
    graphs = load_graphs("solubility").graphs
    rows = GraphSet.concatenate([graphs] * (3600 // len(graphs) + 1))[:3600]
    known = RunContext.of(content)
    ends = torch.randint(1_000_000, (2, 2_000_000), generator=torch.Generator().manual_seed(0))
    large = GraphSet(torch.ones(1_000_000, 1), ends, torch.tensor([0, 1_000_000]), torch.tensor([0, 2_000_000]))
    chain = parse("C" * 9_900)
    assert chain is not None
    labelled = graphs[torch.arange(70_000) % len(graphs)]
    return {
        "explain to SVG": seconds(lambda: command("explain", str(run), MOLECULE, "-o", str(folder / "why.svg"))),
        "explain to PNG": seconds(lambda: command("explain", str(run), MOLECULE, "-o", str(folder / "why.png"))),
        "predict 3 600 rows": seconds(lambda: predictions(model, rows, known)),
        "validate 70 000 graphs": seconds(lambda: check(labelled, training=True)),
        "draw 9 900 atoms": seconds(lambda: draw_molecule(chain, [5_000])),
        "draw 1 000 000 nodes": seconds(lambda: draw_graph(large, [3])),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(Path(folder))
    rows = [
        {"what": what, "seconds": measured[what], "limit": limit, "quick": measured[what] <= limit}
        for what, limit in LIMITS.items()
    ]
    print(table(rows))
    write("latency", {"rows": rows, "machine": machine()})
    if not all(row["quick"] for row in rows):
        sys.exit("something takes longer than its limit")


if __name__ == "__main__":
    main()
