"""SIGKILL at random moments of training, resuming, replacing and reporting: nothing is lost, and the end is the same.

``make bench-kills`` kills 100 times. A moment is a share of the processor time that the command takes when it is left
alone, so that a busy machine kills at the same places as an idle one. The moments are spread over the whole command, a
fifth of them over its last tenth, and a fifth right after the run was sealed. After each kill every command is asked
about what is there, training is continued to the end, and its weights, prototypes and predictions are compared with
those of training that was never killed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from protgnn.cli.main import main as protgnn
from protgnn.datasets.dataset import Dataset
from protgnn.datasets.load import load
from protgnn.errors import RunError
from protgnn.io.atomic_files import unfinished_name
from protgnn.training import checkpoint
from protgnn.training.run import load_model, read_run
from protgnn.training.run_file import FILE_NAME

RESULT = Path(__file__).parent / "results" / "kills.json"
FEW = ("epochs=8", "patience=0", "hidden=8", "prototypes=1", "search_iterations=5", "anchored_epochs=6")
MORE = ("refine_steps=10", "projection_start=2", "projection_period=3", "warm_up=8")
SETTINGS = [part for setting in (*FEW, *MORE) for part in ("--set", setting)]
OPTIONS = {
    "prototypes": SETTINGS,
    "plus": ["--plus", *SETTINGS],
    "mined": ["--plus", "--set", "evidence=mined", *SETTINGS],
}
OLD_SEED = 7
OLD = [*SETTINGS, "--seed", str(OLD_SEED)]
SCENES = (
    *("train prototypes", "train plus", "train mined", "resume prototypes", "resume plus", "resume mined"),
    *("overwrite prototypes", "overwrite mined", "report prototypes", "report mined"),
)


@dataclass(frozen=True)
class Said:
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str


def command(*arguments: object) -> Said:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            protgnn([str(argument) for argument in arguments])
        except SystemExit as end:
            return Said(int(end.code or 0), out.getvalue(), err.getvalue())
    raise RuntimeError("the command returned")


def started(arguments: list[object]) -> int:
    """A command in a process of its own, its number."""
    process = os.fork()
    if process:
        return process
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        protgnn([str(argument) for argument in arguments])
    except SystemExit as end:
        os._exit(int(end.code or 0))
    finally:
        os._exit(70)


def after(moment: float) -> Callable[[int], bool]:
    """Whether a process has had so much processor time."""
    return lambda process: nanoseconds(process) >= moment


def nanoseconds(process: int) -> int:
    """The processor time that a process has taken so far."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0])


def whole_time(arguments: list[object]) -> int:
    """The processor time of a command that is left alone, in nanoseconds."""
    process = started(arguments)
    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    taken = nanoseconds(process)
    if os.waitpid(process, 0)[1]:
        raise RuntimeError(f"{arguments} failed")
    return taken


def killed_when(arguments: list[object], ready: Callable[[int], bool], delay: float) -> bool:
    """Run a command and kill it as soon as it is ready and a little later; whether it was still running."""
    process = started(arguments)
    while os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if ready(process):
            time.sleep(delay)
            break
        time.sleep(0.0002)
    os.kill(process, signal.SIGKILL)
    status = os.waitpid(process, 0)[1]
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


@dataclass
class Reference:
    """What a model is like that was trained without being killed."""

    weights: dict[str, torch.Tensor]
    predictions: str
    cards: list[Any]

    @classmethod
    def of(cls, folder: Path, data: Path) -> Reference:
        model, run = load_model(folder)
        cards = [] if run.prototypes is None else [vars(card) for card in run.prototypes.cards]
        return cls(model.state_dict(), command("predict", folder, data).out, cards)

    def same(self, other: Reference) -> bool:
        """Whether all is the same, to the last bit."""
        return (
            self.weights.keys() == other.weights.keys()
            and all(torch.equal(value, other.weights[name]) for name, value in self.weights.items())
            and (self.predictions, self.cards) == (other.predictions, other.cards)
        )


@dataclass
class Bench:
    """Data, runs that were never killed, and what was found."""

    work: Path
    seed: int
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.data, self.run = self.work / "mols.csv", self.work / "run"
        write_data(self.data)
        self.new: dict[str, Reference] = {}
        for name, options in {"old": OLD, **OPTIONS}.items():
            done = command("train", self.data, "--out", self.work / name, *options)
            if done.status:
                raise RuntimeError(done.err)
            self.new[name] = Reference.of(self.work / name, self.data)
        self.old = self.new.pop("old")

    def train(self, name: str, *more: str) -> list[object]:
        """The command that trains a model of that name."""
        return ["train", self.data, "--out", self.run, *OPTIONS[name], *more]

    def prepare(self, scene: str, chance: random.Random, time_alone: int) -> list[object]:
        """Make what a scene begins with, and say which command is to be killed."""
        verb, name = scene.split()
        shutil.rmtree(self.run, ignore_errors=True)
        if verb == "report":
            shutil.copytree(self.work / name, self.run)
            return ["report", self.run]
        if verb == "overwrite":
            shutil.copytree(self.work / "old", self.run)
            return self.train(name, "--overwrite")
        if verb == "resume":
            while not killed_when(self.train(name), after(chance.uniform(0.1, 0.8) * time_alone), 0):
                shutil.rmtree(self.run)
            return self.train(name, "--resume")
        return self.train(name)

    def sealed(self, process: int) -> bool:
        """Whether the new run is there."""
        try:
            content = (self.run / "run.json").read_bytes()
        except FileNotFoundError:
            return False
        return b'"finished": true' in content and content != (self.work / "old" / "run.json").read_bytes()

    def fault(self, scene: str, number: int, what: str) -> None:
        """Note what must not be."""
        self.faults.append(f"{scene} {number}: {what}")
        print(self.faults[-1], file=sys.stderr, flush=True)

    def judge(self, scene: str, number: int) -> str:
        """Ask every command about what a kill has left, go on to the end, compare; what was left, in a word."""
        verb, name = scene.split()
        found = standing(self.run)
        asked = [command(*arguments) for arguments in questions(self.run)]
        for said in asked:
            clear = said.status == 0 if found in ("old", "new") else one_sentence(said)
            if not clear:
                self.fault(scene, number, f"with a run that is {found} a command ended so: {said}")
        if verb == "overwrite" and found not in ("old", "new"):
            self.fault(scene, number, "neither the old run nor the new one is there")
        if found in ("old", "new"):
            expected = self.old if found == "old" else self.new[name]
            if not expected.same(Reference.of(self.run, self.data)):
                self.fault(scene, number, f"the {found} run is not what it was")
        if verb == "report":
            self._judge_report(scene, number)
        else:
            self._go_on(scene, number, name, found)
        return found

    def _go_on(self, scene: str, number: int, name: str, found: str) -> None:
        """Continue training to its end, as a user would."""
        if found == "new":
            said = command(*self.train(name, "--resume"))
            if said.status != 1 or "is finished: nothing to resume" not in said.err:
                self.fault(scene, number, f"a finished run was not taken for one: {said}")
        begun = found != "old" or (self.run / ".replacement" / "run.json").exists()
        if found != "new":
            said = command(*self.train(name, "--resume" if begun else "--overwrite"))
            if said.status:
                self.fault(scene, number, f"it did not go on: {said.err}")
                return
        if not self.new[name].same(Reference.of(self.run, self.data)):
            self.fault(scene, number, "the weights, prototypes or predictions are others")
        names, own = {path.name for path in self.run.iterdir()}, self._own_files()
        odd = {one for one in names if unfinished_name(one) or re.fullmatch(FILE_NAME, one)} - own | names & LEFTOVERS
        if found != "new" and odd:
            self.fault(scene, number, f"left behind: {sorted(odd)}")

    def _own_files(self) -> set[str]:
        return set(json.loads((self.run / "run.json").read_text())["files"])

    def _judge_report(self, scene: str, number: int) -> None:
        page = self.run / "report.html"
        if page.exists() and not page.read_text().rstrip().endswith("</html>"):
            self.fault(scene, number, "half a report")
        if command("report", self.run).status or not page.read_text().rstrip().endswith("</html>"):
            self.fault(scene, number, "no report could be made after that")


LEFTOVERS = {"state.safetensors", ".replacement"}


def standing(folder: Path) -> str:
    """``nothing``, ``begun``, or which finished run is there: ``old`` or ``new``."""
    if not (folder / "run.json").exists():
        return "nothing"
    try:
        run = read_run(folder)
    except RunError as error:
        return f"damaged: {error}"
    return "begun" if not run.finished else "old" if run.recipe.seed == OLD_SEED else "new"


def questions(folder: Path) -> Iterator[list[object]]:
    """Every command that reads a run."""
    yield ["predict", folder, "CCO"]
    yield ["evaluate", folder]
    yield ["report", folder, "-o", folder.parent / "page.html"]
    yield ["explain", folder, "CCO"]
    yield ["prototypes", folder]


def one_sentence(said: Said) -> bool:
    """Whether a command was refused as it should be."""
    return said.status == 1 and said.err.startswith("error: ") and said.err.count("error: ") == 1


def write_data(path: Path) -> None:
    """Ninety real molecules, thirty of each class."""
    solubility = load("solubility")
    assert isinstance(solubility, Dataset)
    graphs = solubility.graphs
    assert graphs.names is not None and graphs.y is not None
    rows = ["smiles,label"]
    for number, name in enumerate(graphs.schema.class_names):
        members = (graphs.y == number).nonzero().squeeze(1)[:30].tolist()
        rows += [f"{graphs.names[member]},{name}" for member in members]
    path.write_text("\n".join(rows) + "\n")


def run_scene(bench: Bench, scene: str, kills: int) -> dict[str, int]:
    """Kill a command so many times; how often what was left standing."""
    verb, name = scene.split()
    chance = random.Random(f"{bench.seed}/{scene}")
    shutil.rmtree(bench.run, ignore_errors=True)
    alone = whole_time(bench.train(name))
    taken = alone
    if verb == "report":
        taken = whole_time(["report", bench.run])
    found: dict[str, int] = {}
    for number in range(kills):
        arguments = bench.prepare(scene, chance, alone)
        if number % 5 == 4 and verb != "report":
            delay = chance.uniform(0, 0.01)
            while not killed_when(arguments, bench.sealed, delay):
                delay *= 0.5  # it had ended: a little earlier, then
                arguments = bench.prepare(scene, chance, alone)
        else:
            share = 0.9 + 0.1 * chance.random() if number % 5 == 3 else (number + chance.random()) / kills
            while not killed_when(arguments, after(share * taken), chance.uniform(0, 0.02)):
                share *= 0.93
                arguments = bench.prepare(scene, chance, alone)
        left = bench.judge(scene, number)
        found[left] = found.get(left, 0) + 1
    return found


def main(arguments: list[str] | None = None) -> int:
    """Kill, judge, and print the count; 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scenes", nargs="*", default=list(SCENES))
    parser.add_argument("--json", type=Path, default=RESULT)
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    checkpoint.SAVE_SECONDS = 0.0  # so that a short training has many states
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        bench = Bench(Path(folder), chosen.seed)
        command("report", bench.work / "prototypes")  # what is imported when first used is imported now
        each, rest = divmod(chosen.kills, len(chosen.scenes))
        scenes = {}
        for place, scene in enumerate(chosen.scenes):
            scenes[scene] = run_scene(bench, scene, each + (place < rest))
            print(f"{scene}: {scenes[scene]}", flush=True)
    total = sum(sum(found.values()) for found in scenes.values())
    print(f"{total} kills in {time.monotonic() - begun:.0f} s, {len(bench.faults)} faults")
    content = {"kills": total, "seed": chosen.seed, "faults": bench.faults, "left": scenes}
    chosen.json.write_text(json.dumps(content, indent=2) + "\n")
    return 1 if bench.faults else 0


if __name__ == "__main__":
    sys.exit(main())
