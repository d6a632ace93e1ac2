"""A sweep by two workers at once, one of which is killed and started again: no trial is lost or done twice.

``make bench-sweep`` runs 20 trials on BBBP. A worker is an ordinary ``protgnn sweep``; the first is killed with SIGKILL
while a trial of its is in the middle of training, and started again with the same command. Written down are how many
trials there are and how each ended, how many were continued after the kill, the best on validation beside the recipe as
it was given, and how often the test part was looked at.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.outcome import RESULTS, machine, write

NAME = "sweep"


def command(chosen: argparse.Namespace, study: Path) -> list[str]:
    """What every worker is given."""
    settings = [part for setting in chosen.set for part in ("--set", setting)]
    arguments = ["sweep", chosen.data, "--study", str(study), "--trials", str(chosen.trials), *settings, "--json"]
    return [sys.executable, "-m", "protgnn", *arguments]


def start(arguments: list[str], log: Path) -> subprocess.Popen[str]:
    """A worker with one thread, whose words go to a file."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with log.open("a") as words:
        return subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=words, text=True)


def in_the_middle(log: Path, study: Path) -> int | None:
    """The trial that a worker is training, if its state has been stored by now."""
    begun = [line.split()[1] for line in log.read_text().splitlines() if " begins: " in line]
    if not begun:
        return None
    folder = study / f"trial-{int(begun[-1]):04d}"
    return int(begun[-1]) if (folder / "state.safetensors").exists() else None


def measure(chosen: argparse.Namespace, work: Path) -> dict[str, Any]:
    """Two workers, a kill in the middle of the first one's second trial or later, and what came of it."""
    study, arguments = work / "study", command(chosen, work / "study")
    logs = [work / "first.log", work / "second.log"]
    first, second = (start(arguments, log) for log in logs)
    killed = None
    while killed is None and first.poll() is None:
        time.sleep(0.05)
        killed = in_the_middle(logs[0], study)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    again = start(arguments, logs[0])
    outputs = [worker.communicate()[0] for worker in (again, second)]
    if again.returncode or second.returncode:
        raise RuntimeError(logs[0].read_text() + logs[1].read_text())
    found = [json.loads(output) for output in outputs]
    words = "".join(log.read_text() for log in logs)
    trials = found[0]["trials"]
    states = [trial["state"] for trial in trials]
    return {
        "killed in trial": killed,
        "trials": len(trials),
        "numbers": len({trial["trial"] for trial in trials}),
        "folders": len(list(study.glob("trial-*"))),
        "states": {state: states.count(state) for state in sorted(set(states))},
        "begun": words.count(" begins: "),
        "continued": words.count(" goes on: "),
        "recipe as given": trials[0]["value"],
        "best": found[0]["best"]["value"],
        "best trial": found[0]["best"]["trial"],
        "both workers agree": found[0]["best"]["trial"] == found[1]["best"]["trial"],
        "test accuracy": found[0]["test"]["accuracy"],
        "trials that saw the test part": len(found[0]["tested_trials"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="bbbp")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--set", nargs="*", default=[], help="recipe keys that are not tried, as in epochs=40")
    parser.add_argument("--keep", type=Path, help="a folder for the study, which is gone on with if it is there")
    chosen = parser.parse_args()
    work = chosen.keep or Path(tempfile.mkdtemp(prefix="sweep-"))
    work.mkdir(parents=True, exist_ok=True)
    try:
        figures = measure(chosen, work)
    finally:
        if chosen.keep is None:
            shutil.rmtree(work, ignore_errors=True)
    for name, value in figures.items():
        print(f"{name}: {value}")
    path = RESULTS / f"{NAME}.json"
    before = json.loads(path.read_text())["runs"] if path.exists() else {}
    key = " ".join([chosen.data, str(chosen.trials), *sorted(chosen.set)])
    write(NAME, {"runs": {**before, key: figures}, "machine": machine()})
    lost = (
        figures["trials"] != chosen.trials or figures["folders"] != chosen.trials or figures["begun"] != chosen.trials
    )
    sys.exit(1 if lost or figures["trials that saw the test part"] != 1 else 0)


if __name__ == "__main__":
    main()
