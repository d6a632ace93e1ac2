"""Thousands of damaged inputs through the command line: each must end in a result or in one clear sentence.

``make fuzz`` runs 10 000. Every input is run in a worker process, which is replaced when it dies, takes too long or
grows too large; an input is told by its number and the seed, and ``--only N`` runs that one alone and shows all of it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

import torch

from benchmarks.fuzz_inputs import Stock
from protgnn.cli.main import main as protgnn

SECONDS, MEGABYTES = 20.0, 2048
"""Of processor time, so that a busy machine makes no input slow; what waits without end is ended after much longer."""
WAITED = 15 * SECONDS
GOOD = ("ok", "refused")
_FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Ended:
    """How an input ended: ``ok``, ``refused`` (in one sentence), or in one of the ways that must not be."""

    number: int
    kind: str
    how: str
    detail: str = ""


@dataclass
class Worker:
    """A process and what it is at."""

    process: BaseProcess
    results: Connection
    left: list[int]
    began: float = field(default_factory=time.monotonic)
    used: float = 0.0

    def begin(self) -> None:
        """The next input begins."""
        self.began, self.used = time.monotonic(), self._processor_time()

    def is_slow(self) -> bool:
        """Whether the input has taken too long."""
        return self._processor_time() - self.used > SECONDS or time.monotonic() - self.began > WAITED

    def _processor_time(self) -> float:
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended, or the platform does not tell
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_one(stock: Stock, number: int, seed: int, loud: bool = False) -> Ended:
    """Make and run an input in this process."""
    work = Path(tempfile.mkdtemp(prefix="fuzz-"))
    out, err = io.StringIO(), io.StringIO()
    kind = ""
    arguments: list[str] = []
    try:
        kind, arguments = stock.case(number, seed, work)
        if loud:
            print(arguments)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            protgnn(arguments)
        how, detail = "no end", "the command returned"
    except SystemExit as end:
        how, detail = _judged(end.code, err.getvalue())
    except BaseException:
        how, detail = "traceback", traceback.format_exc()
    finally:
        if not loud:
            shutil.rmtree(work, ignore_errors=True)
    if loud:
        print(err.getvalue(), work, sep="\n")
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if how in GOOD and size > MEGABYTES:
        how, detail = "too large", f"{size:.0f} MB"
    return Ended(number, kind, how, detail if how in GOOD else f"{' '.join(arguments)[:300]}\n{detail}")


def _judged(code: object, err: str) -> tuple[str, str]:
    if code in (None, 0):
        return "ok", ""
    said = [line for line in err.splitlines() if line.startswith(("error: ", "Usage: "))]
    if code in (1, 2) and len(said) == 1 and len(said[0]) > 17 and "Traceback" not in err:
        return "refused", said[0]
    return "unclear", f"status {code}: {err[-500:]}"


def _work(stock: Stock, numbers: list[int], seed: int, results: Connection) -> None:
    torch.set_num_threads(1)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    room = pages * resource.getpagesize() + 3 * MEGABYTES * 2**20  # reserved is more than used; this saves the machine
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    for number in numbers:
        results.send(None)
        ended = run_one(stock, number, seed)
        results.send(ended)
        if ended.how == "too large":
            return


def run_all(stock: Stock, numbers: list[int], seed: int, workers: int) -> Iterator[Ended]:
    """Run every input, ``workers`` at a time."""
    busy = [_started(stock, numbers[start::workers], seed) for start in range(workers)]
    busy = [worker for worker in busy if worker.left]
    while busy:
        wait([worker.results for worker in busy], timeout=0.5)
        for place, worker in enumerate(busy):
            yield from _finished(worker, list(stock.kinds))
            if worker.process.is_alive() and worker.is_slow():
                worker.process.kill()
                worker.process.join()
                yield from _finished(worker, list(stock.kinds))
                if worker.left:
                    yield _lost(worker, stock, "too slow", f"over {SECONDS:.0f} s")
            elif not worker.process.is_alive():
                yield from _finished(worker, list(stock.kinds))
                code = worker.process.exitcode
                if worker.left and code:
                    yield _lost(worker, stock, "signal", f"exit code {code}")
            if worker.left and not worker.process.is_alive():
                busy[place] = _started(stock, worker.left, seed)
        busy = [worker for worker in busy if worker.left]


def _started(stock: Stock, numbers: list[int], seed: int) -> Worker:
    results, sender = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=_work, args=(stock, numbers, seed, sender), daemon=True)
    process.start()
    sender.close()
    return Worker(process, results, list(numbers))


def _finished(worker: Worker, kinds: list[str]) -> Iterator[Ended]:
    """What a worker has told since it was last asked."""
    with contextlib.suppress(EOFError, OSError):
        while worker.results.poll():
            told = worker.results.recv()
            if told is None:
                worker.begin()
            else:
                worker.left.remove(told.number)
                yield told


def _lost(worker: Worker, stock: Stock, how: str, detail: str) -> Ended:
    number = worker.left.pop(0)
    return Ended(number, list(stock.kinds)[number % len(stock.kinds)], how, detail)


def main(arguments: list[str] | None = None) -> int:
    """Run the inputs and print the count; 1 if any of them ended as none must."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--only", type=int, help="run this one input here, and show all of it")
    parser.add_argument("--json", type=Path, help="write the count there")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fuzz-stock-") as folder:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            stock = Stock(Path(folder))
        if chosen.only is not None:
            print(run_one(stock, chosen.only, chosen.seed, loud=True))
            return 0
        counts: Counter[str] = Counter()
        by_kind: Counter[str] = Counter()
        for ended in run_all(
            stock, list(range(chosen.first, chosen.first + chosen.count)), chosen.seed, chosen.workers
        ):
            counts[ended.how] += 1
            by_kind[f"{ended.kind}: {ended.how}"] += 1
            if ended.how not in GOOD:
                print(
                    f"input {ended.number} ({ended.kind}): {ended.how}\n{ended.detail}\n", file=sys.stderr, flush=True
                )
    total = sum(counts.values())
    said = ", ".join(f"{counts[how]} {how}" for how in sorted(counts))
    print(f"{total} inputs in {time.monotonic() - begun:.0f} s: {said}")
    if chosen.json is not None:
        content = {
            "inputs": total,
            "seed": chosen.seed,
            "counts": dict(counts),
            "by_kind": dict(sorted(by_kind.items())),
        }
        chosen.json.write_text(json.dumps(content, indent=2) + "\n")
    return 0 if total == chosen.count and not set(counts) - set(GOOD) else 1


if __name__ == "__main__":
    sys.exit(main())
