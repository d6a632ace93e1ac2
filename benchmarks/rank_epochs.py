"""The epochs of one rank: seconds and processor seconds of each, as JSON. ``benchmarks.ranks`` starts it with torchrun.

``torchrun --nproc-per-node 2 -m benchmarks.rank_epochs --data benzene --epochs 4 --out FOLDER`` writes ``rank-0.json``
and ``rank-1.json``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path

from protgnn.datasets.load import load_graphs
from protgnn.io.torchrun import launched_rank
from protgnn.training.algorithm import fit
from protgnn.training.build import build
from protgnn.training.checkpoint import TrainingState
from protgnn.training.recipe import make_recipe
from protgnn.training.resolve import resolve
from protgnn.training.settings import parse_settings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="benzene")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--set", nargs="*", default=[])
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    parts = load_graphs(chosen.data).with_split("random", 0)
    wanted = {"epochs": chosen.epochs, "head": "plain", "patience": 0, **parse_settings(chosen.set)}
    recipe = resolve(make_recipe(**wanted), parts.train)
    model = build(recipe, parts.schema)
    times: list[tuple[float, float]] = []

    def note(state: TrainingState) -> None:
        times.append((time.perf_counter(), time.process_time()))

    fit(model, parts.train, parts.valid, recipe, on_epoch=note)
    # The first epoch also reads, links and warms up.
    pairs = list(itertools.pairwise(times))
    figures = {"seconds": [b[0] - a[0] for a, b in pairs], "processor": [b[1] - a[1] for a, b in pairs]}
    (chosen.out / f"rank-{launched_rank()[0]}.json").write_text(json.dumps(figures))


if __name__ == "__main__":
    main()
