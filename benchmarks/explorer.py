"""Does the explorer keep answering? ``python -m benchmarks.explorer``.

Trains a small ProtGNN+ on the solubility data, or takes ``--run``, and starts ``protgnn explore`` on a free port of
this machine. Then three things, each with a limit; the command fails where one is passed:

* one visitor asks about drugs, one after the other: the median is to be at most 100 ms;
* 50 visitors at once ask about molecules of the dataset for 60 s, each ``--pause`` seconds after an answer, and look at
  the table now and then: no error, 95 % of the answers within 1 s, and memory that does not grow;
* 2 000 hostile or malformed requests and 200 that are no HTTP: no failure of the server, no traceback, and no file
  written anywhere but in its temporary folder, which is empty afterwards.

Milliseconds are those of a clock, as a visitor sees them: on a busy machine they say more about the machine. The load
is stored beside them, and the processor time of an answer, which does not depend on it as much.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil

from benchmarks.hostile_requests import hostile_requests
from benchmarks.outcome import machine, table, write
from protgnn.cli.main import main as command_line
from protgnn.datasets.load import load_graphs

LIMITS = {
    "median of one visitor, ms": 100.0,
    "95% of 50 visitors, ms": 1000.0,
    "errors of 50 visitors": 0,
    "growth of memory, %": 5.0,
    "failures of hostile requests": 0,
    "files written": 0,
}
DRUGS = (
    "CC(=O)Nc1ccc(O)cc1",
    "CC(C)Cc1ccc(cc1)C(C)C(=O)O",
    "CN1CCC[C@H]1c1cccnc1",
    "CC1(C)SC2C(NC(=O)Cc3ccccc3)C(=O)N2C1C(=O)O",
    "COc1ccc2nc(S(=O)Cc3ncc(C)c(OC)c3C)[nH]c2c1",
    "CN1C(=O)CN=C(c2ccccc2)c2cc(Cl)ccc21",
    "CC12CCC3C(CCC4=CC(=O)CCC34C)C1CCC2O",
    "CCOC(=O)C1=C(COCCN)NC(C)=C(C(=O)OC)C1c1ccccc1Cl",
    "O=C(NCc1ccc(F)cc1)c1ccc(Cl)cc1O",
    "CC(C)NCC(O)COc1cccc2ccccc12",
)
HEADERS = {"x-protgnn": "explorer"}
_NO_HTTP = 200


@dataclass(frozen=True)
class Started:
    """An explorer in a process of its own, with a folder to run in and one for temporary files."""

    url: str
    process: psutil.Process
    work: Path
    temporary: Path
    errors: Path


@contextmanager
def started(run: Path, folder: Path) -> Iterator[Started]:
    """Serve a run until the block ends."""
    work, temporary, errors = folder / "work", folder / "temporary", folder / "errors"
    work.mkdir()
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "protgnn", "explore", str(run.resolve()), "--port", "0", "--no-browser"]
    root = str(Path(__file__).parents[1])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    with errors.open("wb") as complaints:
        process = subprocess.Popen(command, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=complaints)
        try:
            assert process.stdout is not None
            said = process.stdout.readline().decode()
            address = re.search(r"http://\S+", said)
            if address is None:
                sys.exit(f"the explorer did not start: {errors.read_text()}")
            _wait_until_it_answers(address.group())
            yield Started(address.group(), psutil.Process(process.pid), work, temporary, errors)
        finally:
            process.terminate()
            process.wait(timeout=20)


def _wait_until_it_answers(url: str) -> None:
    for _ in range(300):
        try:
            httpx.get(url, timeout=5)
            return
        except httpx.TransportError:
            time.sleep(0.1)
    sys.exit("the explorer does not answer")


def one_visitor(url: str) -> dict[str, Any]:
    """Milliseconds from question to answer, for one visitor who edits a molecule again and again."""
    taken = []
    with httpx.Client(base_url=url, headers=HEADERS, timeout=60) as client:
        client.get("/")
        client.post("/api/ask", json={"text": "CCO"}).raise_for_status()
        for number, text in enumerate(DRUGS):
            start = time.perf_counter()
            question = {"text": text, "before": DRUGS[number - 1]}
            client.post("/api/ask", json=question).raise_for_status()
            taken.append(1000 * (time.perf_counter() - start))
    return {"median of one visitor, ms": statistics.median(taken), "slowest of one visitor, ms": max(taken)}


async def _visit(url: str, molecules: list[str], until: float, pause: float, seed: int) -> tuple[list[float], int]:
    """Milliseconds of each answer to one of many visitors, and how many were none."""
    chance, taken, errors = random.Random(seed), [], 0
    before = "CCO"
    async with httpx.AsyncClient(base_url=url, headers=HEADERS, timeout=60) as client:
        await client.get("/")
        while time.monotonic() < until:
            text = chance.choice(molecules)
            start = time.perf_counter()
            try:
                if chance.random() < 0.05:
                    answer = await client.get("/api/rows")
                else:
                    answer = await client.post("/api/ask", json={"text": text, "before": before})
                errors += answer.status_code != 200 or "problem" in answer.text[:12]
            except httpx.HTTPError:
                errors += 1
            taken.append(1000 * (time.perf_counter() - start))
            before = text
            await asyncio.sleep(pause * chance.uniform(0.5, 1.5))
    return taken, errors


async def many_visitors(
    server: Started, molecules: list[str], count: int, seconds: float, pause: float
) -> dict[str, Any]:
    """Milliseconds and errors of many visitors at once, and by how much the server's memory grew meanwhile."""
    until, spent = time.monotonic() + seconds, sum(server.process.cpu_times()[:2])
    visits = [asyncio.create_task(_visit(server.url, molecules, until, pause, seed)) for seed in range(count)]
    memory = []
    while time.monotonic() < until:
        memory.append(server.process.memory_info().rss / 2**20)
        await asyncio.sleep(0.5)
    found = await asyncio.gather(*visits)
    spent = sum(server.process.cpu_times()[:2]) - spent
    taken = sorted(one for times, _ in found for one in times)
    quarter = max(1, len(memory) // 4)
    first, last = statistics.median(memory[quarter : 2 * quarter]), statistics.median(memory[-quarter:])
    return {
        "answers": len(taken),
        f"median of {count} visitors, ms": statistics.median(taken),
        f"95% of {count} visitors, ms": taken[int(0.95 * (len(taken) - 1))],
        f"errors of {count} visitors": sum(errors for _, errors in found),
        "processor time of an answer, ms": 1000 * spent / len(taken),
        "memory, MB": last,
        "growth of memory, %": 100 * (last / first - 1),
    }


def hostile(server: Started, run: Path, count: int) -> dict[str, Any]:
    """How many hostile requests the server failed at, and how many files it wrote."""
    before = _files(run, server.work)
    failures, statuses = 0, set()
    with httpx.Client(base_url=server.url, timeout=60) as client:
        client.get("/")
        for request in hostile_requests(count, seed=1):
            answer = client.request(request.method, request.path, content=request.body, headers=request.headers)
            statuses.add(answer.status_code)
            failures += answer.status_code >= 500 or "Traceback" in answer.text
        _no_http(server.url)
        failures += client.get("/api/run", headers=HEADERS).status_code != 200
    failures += server.errors.read_text("utf-8", "replace").count("Traceback")
    written = set(_files(run, server.work).items()) ^ set(before.items())
    left = [path for path in server.temporary.rglob("*") if path.is_file()]
    return {
        "hostile requests": count + _NO_HTTP,
        "statuses": sorted(statuses),
        "failures of hostile requests": failures,
        "files written": len(written) + len(left),
    }


def _no_http(url: str) -> None:
    """Bytes that are no request, or break off."""
    chance, place = random.Random(2), urlsplit(url)
    for number in range(_NO_HTTP):
        with socket.create_connection((place.hostname, place.port), timeout=5) as wire:
            wire.sendall(
                (
                    chance.randbytes(200),
                    b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
                    b"POST /api/ask HTTP/1.1\r\nHost: " + place.netloc.encode() + b"\r\nContent-Length: 100\r\n\r\n{",
                    b"GET " + b"/" * 40_000 + b" HTTP/1.1\r\n\r\n",
                    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nzz\r\n",
                )[number % 5]
            )


def _files(*folders: Path) -> dict[str, str]:
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def trained(folder: Path) -> Path:
    """A small ProtGNN+ on the solubility data."""
    run = folder / "run"
    try:
        command_line(["train", "solubility", "--plus", "--set", "warm_up=30", "--out", str(run)])
    except SystemExit as end:
        if end.code:
            raise
    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, help="a run of molecules; else one is trained")
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between an answer and the next question")
    parser.add_argument("--hostile", type=int, default=2000)
    given = parser.parse_args()
    names = load_graphs("solubility").graphs.names
    assert names is not None
    molecules = [name for name in names if len(name) < 80]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = given.run or trained(folder)
        with started(run, folder) as server:
            with httpx.Client(base_url=server.url, headers=HEADERS, timeout=60) as client:
                client.get("/")
                for text in molecules:  # what is parsed is kept: memory is measured once all of them are
                    client.post("/api/ask", json={"text": text})
            found = one_visitor(server.url)
            found |= asyncio.run(many_visitors(server, molecules, given.visitors, given.seconds, given.pause))
            found |= hostile(server, run, given.hostile)
    rows = [{"what": what, "measured": value, "limit": LIMITS.get(what, "-")} for what, value in found.items()]
    print(table(rows))
    write("explorer", {"measured": found, "pause": given.pause, "seconds": given.seconds, "machine": machine()})
    if any(found[what] > limit for what, limit in LIMITS.items() if what in found):
        sys.exit("a limit was passed")


if __name__ == "__main__":
    main()
