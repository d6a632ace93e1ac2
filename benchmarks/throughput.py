"""Molecules per second of ``protgnn predict``, and its peak memory: ``make bench-throughput``.

For each number of rows, kind of model and number of worker processes the command runs in a process of its own, with one
thread each. The molecules are those of ``bbbp``, ``benzene`` and ``tox21`` under ``PROTGNN_DATA``, shuffled, else those
that the package ships; where there are not enough, they repeat under other ids. ``start_s`` is what the same command
takes for a hundred rows, and does not count in ``per_second``; ``per_cpu_second`` divides by the processor time of all
processes, which other work on the machine disturbs less. ``peak_gb`` is the largest sum of the memory of all processes,
of which what they share counts once. With chemprop installed, or named by ``--chemprop``, its own ``predict`` runs
beside it.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import psutil

from benchmarks.outcome import machine, table, write
from protgnn.datasets.load import load_graphs
from protgnn.featurizers.molecule import parse, quiet

START = 100
HEADS = {"plain": ["--set", "head=plain"], "prototypes": [], "plus": ["--plus"]}
FEW = ("epochs=2", "anchored_epochs=1", "search_iterations=2", "refine_steps=5", "warm_up=1")
"""A model as wide as any and hardly trained: what it predicts does not matter here."""


def molecules() -> list[str]:
    """The different molecules there are, shuffled."""
    folder, found = os.environ.get("PROTGNN_DATA"), []
    for name in ("bbbp", "benzene", "tox21") if folder else ():
        path = Path(str(folder)) / f"{name}.csv"
        with path.open(newline="") as file:
            found += [row["smiles"].strip() for row in csv.DictReader(file)]
    if not found:
        found = list(load_graphs("solubility").graphs.names or ())
    with quiet():
        sound = [text for text in dict.fromkeys(found) if parse(text) is not None]
    random.Random(0).shuffle(sound)
    return sound


def write_rows(path: Path, texts: list[str], rows: int) -> None:
    """A CSV of so many rows, each with an id of its own."""
    with path.open("w") as file:
        file.write("id,smiles\n")
        file.writelines(f"m{number},{text}\n" for number, text in enumerate(islice(cycle(texts), rows)))


def run(command: list[str]) -> dict[str, float]:
    """Wall and processor seconds of a command and all its processes, and their peak memory in GB."""
    peak, done = [0.0], threading.Event()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stderr=subprocess.PIPE)

    def watch() -> None:
        while not done.wait(0.2):
            peak[0] = max(peak[0], sum(_memory(process.pid)) / 2**30)

    watcher = threading.Thread(target=watch)
    watcher.start()
    _, said = process.communicate()
    done.set()
    watcher.join()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{said.decode()[-2000:]}")
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = spent.ru_utime + spent.ru_stime - used.ru_utime - used.ru_stime
    return {"seconds": time.perf_counter() - start, "cpu": cpu, "peak": peak[0]}


def _memory(pid: int) -> Iterator[int]:
    try:
        parent = psutil.Process(pid)
        for process in (parent, *parent.children(recursive=True)):
            yield process.memory_full_info().pss
    except psutil.NoSuchProcess:
        return


def figures(rows: int, took: dict[str, float], start: dict[str, float]) -> dict[str, Any]:
    """Rates without the start, and the peak."""
    return {
        "seconds": round(took["seconds"], 1),
        "start_s": round(start["seconds"], 1),
        "per_second": round((rows - START) / max(took["seconds"] - start["seconds"], 1e-9)),
        "per_cpu_second": round((rows - START) / max(took["cpu"] - start["cpu"], 1e-9)),
        "peak_gb": round(took["peak"], 2),
    }


def protgnn(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "protgnn", *map(str, arguments)]


def trained(folder: Path, head: str) -> Path:
    """A run of that kind, on the molecules that the package ships."""
    settings = [part for setting in FEW for part in ("--set", setting)]
    run(protgnn("train", "solubility", "--out", folder / head, *settings, *HEADS[head]))
    return folder / head


def measure_chemprop(command: str, folder: Path, texts: list[str], sizes: list[int]) -> list[dict[str, Any]]:
    """The same for chemprop's own predict, by a model of its defaults that was trained for three epochs."""
    train = folder / "chemprop.csv"
    with train.open("w") as file:
        file.write("smiles,label\n")
        file.writelines(f"{text},{number % 2}\n" for number, text in enumerate(texts[:200]))
    told = ["--task-type", "classification", "--epochs", "3", "--accelerator", "cpu"]
    run([command, "train", "--data-path", str(train), "--output-dir", str(folder / "chemprop"), *told])
    model = next((folder / "chemprop").rglob("best.pt"))
    rows = []
    start: dict[str, float] = {}
    for size in (START, *sizes):
        source, out = folder / f"{size}.csv", folder / "chemprop-out.csv"
        write_rows(source, texts, size)
        told = ["--smiles-columns", "smiles", "--accelerator", "cpu", "--num-workers", "0"]
        took = run([command, "predict", "-i", str(source), "--model-paths", str(model), "-o", str(out), *told])
        start = start or took
        if size != START:
            rows.append({"model": "chemprop", "rows": size, "workers": 1, **figures(size, took, start)})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--heads", nargs="+", choices=list(HEADS), default=["plain", "prototypes"])
    parser.add_argument("--plus-rows", type=int, default=10_000, help="rows at most for ProtGNN+")
    parser.add_argument("--chemprop", default=shutil.which("chemprop"), help="its command, where it is not on the path")
    parser.add_argument("--chemprop-rows", type=int, default=10_000, help="rows at most for it")
    chosen = parser.parse_args()
    texts, rows = molecules(), []
    about = {"different_molecules": len(texts), "machine": machine()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for head in chosen.heads:
            made = trained(folder, head)
            for workers in chosen.workers:
                start: dict[str, float] = {}
                for size in (START, *chosen.rows):
                    if head == "plus" and size > chosen.plus_rows:
                        continue
                    source = folder / f"{size}.csv"
                    write_rows(source, texts, size)
                    told = ("--keep", "id", "--workers", workers, "-o", folder / "out.csv")
                    took = run(protgnn("predict", made, source, *told))
                    start = start or took
                    if size != START:
                        rows.append({"model": head, "rows": size, "workers": workers, **figures(size, took, start)})
                        print(table(rows), flush=True)
                        write("throughput", {"rows": rows, **about})
        if chosen.chemprop:
            sizes = [size for size in chosen.rows if size <= chosen.chemprop_rows]
            rows += measure_chemprop(chosen.chemprop, folder, texts, sizes)
            print(table(rows), flush=True)
            write("throughput", {"rows": rows, **about})


if __name__ == "__main__":
    main()
