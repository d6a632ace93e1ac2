"""What prototypes and evidence cost: training time over the plain GNN on BBBP, in one run (the paper's Table 2).

``python -m benchmarks.overhead``. 500 epochs, the paper's schedule (T_p = 100, τ = 50, T_w = 200), no early stop, GCN;
projections search the nearest graphs, as the default recipe does (one per prototype on the way, four at the end). The
paper measured 177.9 s for GCN, 506.3 s for ProtGNN (2.85 times as long) and 632.7 s for ProtGNN+ (3.56). Epochs of the
models alternate in slices, so that noise of the machine hits all alike.

ProtGNN+* searches a tree for the evidence of every graph and prototype in every step on evidence. It would take hours
(the paper: more than two), so the search is timed on some graphs and the rest is extrapolated; the row says so.
"""

from __future__ import annotations

import argparse
import threading
import time
from typing import Any

import torch

from benchmarks.outcome import machine, table, write
from benchmarks.runs import MODELS
from protgnn.data.graph_set import GraphSet
from protgnn.datasets.load import load_graphs
from protgnn.explain.mcts_evidence import mcts_evidence
from protgnn.model.classifier import GraphClassifier, ProtGNN
from protgnn.training.algorithm import fit
from protgnn.training.build import build
from protgnn.training.checkpoint import TrainingState
from protgnn.training.recipe import make_recipe

SLICE = 25  # epochs before the other model has its turn
PAPER = {"plain": 177.9, "prototypes": 506.3, "plus": 632.7}
SEARCHED = 32  # graphs on which the search of ProtGNN+* is timed


class Turns:
    """Lets several trainings run one at a time, a slice of epochs each, and counts the time of each."""

    def __init__(self, names: list[str]) -> None:
        self.seconds = dict.fromkeys(names, 0.0)
        self._waiting = list(names)
        self._change = threading.Condition()

    def take(self, name: str) -> None:
        """Wait for the turn of ``name`` and start its clock."""
        with self._change:
            self._change.wait_for(lambda: self._waiting[0] == name)
        self._started = time.perf_counter()

    def give(self, name: str, last: bool = False) -> None:
        """Stop the clock and let the next one run."""
        self.seconds[name] += time.perf_counter() - self._started
        with self._change:
            self._waiting.pop(0)
            if not last:
                self._waiting.append(name)
            self._change.notify_all()


def search_seconds(model: GraphClassifier, graphs: GraphSet) -> float:
    """Seconds to search one graph for the evidence of all prototypes, mean over some graphs."""
    assert isinstance(model, ProtGNN)
    wanted = torch.ones(SEARCHED, len(model.head.classes), dtype=torch.bool)
    start = time.perf_counter()
    mcts_evidence(model, graphs[:SEARCHED], wanted)
    return (time.perf_counter() - start) / SEARCHED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=500)
    epochs = parser.parse_args().epochs
    parts = load_graphs("bbbp").with_split("random", 0)
    train, valid = parts.train, parts.valid
    turns = Turns(list(PAPER))

    trained: dict[str, GraphClassifier] = {}

    def one(head: str) -> None:
        changes: dict[str, Any] = {"encoder": "gcn", **MODELS[head], "epochs": epochs, "patience": 0}
        changes |= {"candidates": 4, "candidates_on_the_way": 1}
        recipe = make_recipe("paper", **changes)

        def next_turn(state: TrainingState) -> None:
            if state.epoch % SLICE == 0:
                turns.give(head)
                turns.take(head)

        turns.take(head)
        model = build(recipe, train.schema)
        fit(model, train, valid, recipe, on_epoch=next_turn)
        turns.give(head, last=True)
        trained[head] = model

    threads = [threading.Thread(target=one, args=(head,)) for head in PAPER]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = [
        {
            "model": head,
            "seconds": seconds,
            "over_plain": seconds / turns.seconds["plain"],
            "paper_seconds": PAPER[head],
            "paper_over_plain": PAPER[head] / PAPER["plain"],
        }
        for head, seconds in turns.seconds.items()
    ]
    paper = make_recipe("paper")
    steps = max(epochs - paper.warm_up, 0) * paper.evidence_share
    searching = search_seconds(trained["prototypes"], train) * len(train) * steps
    rows.append(
        {
            "model": f"ProtGNN+* (extrapolated from {SEARCHED} graphs)",
            "seconds": turns.seconds["plus"] + searching,
            "over_plain": (turns.seconds["plus"] + searching) / turns.seconds["plain"],
            "paper_seconds": 7200.0,
            "paper_over_plain": 7200.0 / PAPER["plain"],
        }
    )
    print(table(rows))
    write("overhead", {"epochs": epochs, "rows": rows, "machine": machine()})


if __name__ == "__main__":
    main()
