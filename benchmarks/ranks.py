"""One process against several: epochs per second on benzene, and test accuracy on BBBP over the same splits.

``make bench-ranks``. Every rank has one thread. Rounds of one and of two ranks alternate, so that a busy machine slows
both alike; beside the seconds stand processor seconds of the busiest rank, which say what the ratio would be if every
rank had a processor to itself. The accuracy is that of the exported ProtGNN. Results are stored as they come, and a
stopped benchmark goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.outcome import RESULTS, machine, table, write
from benchmarks.runs import Figures, stored

NAME = "ranks"


def torchrun(ranks: int, *arguments: str) -> None:
    """Run a module on so many ranks of one thread each."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), "-m"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)


def epochs(data: str, ranks: int, count: int, settings: list[str]) -> Figures:
    """The median epoch of a short training."""
    with tempfile.TemporaryDirectory() as folder:
        more = ["--set", *settings] if settings else []
        torchrun(ranks, "benchmarks.rank_epochs", "--data", data, "--epochs", str(count), "--out", folder, *more)
        found = [json.loads(path.read_text()) for path in sorted(Path(folder).glob("rank-*.json"))]
    assert len(found) == ranks
    return {
        "seconds": statistics.median(found[0]["seconds"]),
        "processor": max(statistics.median(one["processor"]) for one in found),
    }


def accuracy(data: str, ranks: int, seed: int, settings: list[str]) -> Figures:
    """The scores of a run of ProtGNN on a random split."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = [part for setting in settings for part in ("--set", setting)]
        out = Path(folder) / "run"
        arguments = ["train", data, "--split", "random", "--seed", str(seed), "--out", str(out), *chosen]
        torchrun(ranks, "protgnn", *arguments)
        scores = json.loads((out / "run.json").read_text())["scores"]
    test = scores["test"]
    kept = {key: test[key] for key in ("accuracy", "prototype_error", "sum_error")}
    return {**kept, "epochs": scores["epochs"]}


def summary(done: dict[str, Figures]) -> list[dict[str, Any]]:
    """A row for each measurement: what one rank and two come to, and their ratio or difference."""
    cells: dict[tuple[str, str, str], dict[int, list[Figures]]] = {}
    for key, figures in done.items():
        what, data, ranks, _, *changed = key.split(" ")
        cells.setdefault((what, data, " ".join(changed)), {}).setdefault(int(ranks), []).append(figures)
    rows: list[dict[str, Any]] = []
    for (what, data, settings), by_ranks in sorted(cells.items()):
        if len(by_ranks) < 2:
            continue
        (few, one), (more, several) = sorted(by_ranks.items())[:2]
        row: dict[str, Any] = {"what": what, "data": data, "settings": settings, "ranks": f"{few} / {more}"}
        for name in ("seconds", "processor") if what == "epoch" else ("accuracy",):
            means = [statistics.fmean(figures[name] for figures in runs) for runs in (one, several)]
            row[f"{name} of {few}"], row[f"{name} of {more}"] = means
            row[f"{name} gain"] = means[0] / means[1] if what == "epoch" else means[1] - means[0]
        rows.append({**row, "times": f"{len(one)} / {len(several)}"})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs=2, default=[1, 2])
    parser.add_argument("--speed-data", default="benzene")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--speed-set", nargs="*", default=[], help="recipe keys of the trainings that are timed")
    parser.add_argument("--data", default="bbbp")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--set", nargs="*", default=[], help="recipe keys of the trainings that are scored")
    chosen = parser.parse_args()
    done = stored(RESULTS / f"{NAME}.json")
    jobs = [("epoch", chosen.speed_data, r, n, chosen.speed_set) for n in range(chosen.rounds) for r in chosen.ranks]
    jobs += [("accuracy", chosen.data, r, n, chosen.set) for n in range(chosen.splits) for r in chosen.ranks]
    for what, data, ranks, number, settings in jobs:
        key = " ".join([what, data, str(ranks), str(number), *sorted(settings)])
        if key not in done:
            figures = (
                epochs(data, ranks, chosen.epochs, settings)
                if what == "epoch"
                else accuracy(data, ranks, number, settings)
            )
            done[key] = figures
            write(NAME, {"summary": summary(done), "runs": done, "machine": machine()})
            print(f"{key}: {figures}", flush=True)
    for what in ("epoch", "accuracy"):
        print(table([row for row in summary(done) if row["what"] == what]))


if __name__ == "__main__":
    main()
