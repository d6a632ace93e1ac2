"""Training epochs per second: our loop against a stock PyG ``DataLoader`` loop, in one run.

``python -m benchmarks.batching`` is on BBBP, ``--data graph-sst2 --words contextual --rounds 3 --epochs 1`` on 56 000
sentences. The same GCN (3 x 128, batch norm, mean readout), the same graphs, batch 64, one process. Two stock loops:
one runs our very module, one PyG's own ``GCN``. Measured are seconds of the processor with one thread, on which other
work on the machine has little influence, and rounds alternate; the ratio is that of the medians, and the seconds of
every round are stored. ``peak_gb`` is the largest resident memory of a
process that reads the data and trains a GCN for an epoch with our loop, as a user's run does. Products of matrices
take as long in all loops of one precision; ours also runs with ``precision=bf16-mixed``, where they take less.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import global_mean_pool
from torch_geometric.nn.models import GCN

from benchmarks.outcome import machine, table, write
from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet
from protgnn.datasets.load import load_graphs
from protgnn.training.algorithm import fit
from protgnn.training.build import build
from protgnn.training.recipe import make_recipe
from protgnn.training.train import SplitData, train

BATCH = 64
SETTINGS: dict[str, Any] = {
    "encoder": "gcn",
    "head": "plain",
    "edge_features": False,
    "averaging": 0,
    "patience": 0,
    "batch_size": BATCH,
}


class OurModule(nn.Module):
    """Our model, fed by PyG's batches."""

    def __init__(self, graphs: GraphSet) -> None:
        super().__init__()
        self.model = build(make_recipe(**SETTINGS), graphs.schema)

    def forward(self, batch: Any) -> Tensor:
        out: Tensor = self.model(Batch(batch.x, batch.edge_index, batch.batch, batch.num_graphs))
        return out


class PyGModule(nn.Module):
    """The same architecture out of PyG's own parts."""

    def __init__(self, graphs: GraphSet) -> None:
        super().__init__()
        self.encoder = GCN(graphs.num_features, 128, 3, norm="batch_norm")
        self.norm, self.head = nn.BatchNorm1d(128), nn.Linear(128, graphs.schema.num_classes)

    def forward(self, batch: Any) -> Tensor:
        h = self.norm(self.encoder(batch.x, batch.edge_index))
        out: Tensor = self.head(global_mean_pool(h, batch.batch))
        return out


def stock_loop(model: nn.Module, graphs: list[Data], epochs: int) -> float:
    """Seconds of the processor per epoch of the loop that PyG's tutorials show."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    loader = DataLoader(graphs, batch_size=BATCH, shuffle=True)
    model.train()
    start = time.process_time()
    for _ in range(epochs):
        correct = 0
        total = 0.0
        for batch in loader:
            optimizer.zero_grad()
            logits = model(batch)
            loss = nn.functional.cross_entropy(logits, batch.y)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += loss.item() * batch.num_graphs
            correct += int((logits.argmax(1) == batch.y).sum())
    return (time.process_time() - start) / epochs


def our_loop(graphs: GraphSet, epochs: int, precision: str = "32-true") -> float:
    """The same of ``fit``, with what it does beside (logging, one validation graph, best weights)."""
    moments = [time.process_time()]
    recipe = make_recipe(**SETTINGS, epochs=epochs + 1, precision=precision)
    fit(
        build(recipe, graphs.schema),
        graphs,
        graphs[:1],
        recipe,
        on_epoch=lambda state: moments.append(time.process_time()),
    )
    return (moments[-1] - moments[1]) / epochs  # the first epoch warms up


def peak_memory(task: tuple[str, str | None, str]) -> dict[str, Any]:
    """Gigabytes of a process that reads data and trains a GCN for an epoch, scores included, and what that took."""
    data, words, head = task
    begun = time.perf_counter()
    parts = load_graphs(data, words).with_split("random", 0)
    read = time.perf_counter()
    recipe = make_recipe(encoder="gcn", head=head, epochs=1, anchored_epochs=0, split="random")
    train(SplitData(parts.train, parts.valid, parts.test), recipe)
    return {
        "head": head,
        "read_s": round(read - begun, 1),
        "train_s": round(time.perf_counter() - read, 1),
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="bbbp")
    parser.add_argument("--words", default=None, help="of sentences: static or contextual")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=5, help="in each round")
    chosen = parser.parse_args()
    memory = []
    for head in ("plain", "prototypes"):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            memory += pool.map(peak_memory, [(chosen.data, chosen.words, head)])
    print(table(memory), flush=True)
    torch.set_num_threads(1)
    graphs = load_graphs(chosen.data, chosen.words).with_split("random", 0).train
    items = graphs.to_pyg()
    loops: dict[str, Callable[[], float]] = {
        "ours": lambda: our_loop(graphs, chosen.epochs),
        "ours, bf16-mixed": lambda: our_loop(graphs, chosen.epochs, "bf16-mixed"),
        "DataLoader, our module": lambda: stock_loop(OurModule(graphs), items, chosen.epochs),
        "DataLoader, PyG's GCN": lambda: stock_loop(PyGModule(graphs), items, chosen.epochs),
    }
    seconds: dict[str, list[float]] = {name: [] for name in loops}
    for number in range(chosen.rounds):
        for name, loop in loops.items():
            seconds[name].append(loop())
            print(f"round {number}: {name} {seconds[name][-1]:.2f} processor seconds per epoch", flush=True)
    median = {name: statistics.median(values) for name, values in seconds.items()}
    rows = [
        {"loop": name, "epochs_per_second": 1 / value, "ours_is_faster_by": value / median["ours"]}
        for name, value in median.items()
    ]
    print(table(rows))
    name = "batching" if chosen.data == "bbbp" else f"batching-{chosen.data}"
    found = {"rows": rows, "seconds": seconds, "memory": memory}
    write(name, {"graphs": len(graphs), "words": chosen.words, "batch": BATCH, **found, "machine": machine()})


if __name__ == "__main__":
    main()
