"""Explaining 1 000 molecules: ProtGNN+ against PyG's GNNExplainer, in one run. ``python -m benchmarks.explaining``.

ProtGNN+ explains BBBP with all prototypes and their evidence, which is part of its prediction; GNNExplainer explains
the plain GNN of the same encoder by optimising a mask for each molecule (100 epochs, PyG's default). GNNExplainer takes
the same time for every molecule, so that it is timed on some of them; the row says on how many.
"""

from __future__ import annotations

import argparse
import time

from torch_geometric.explain import Explainer, GNNExplainer

from benchmarks.outcome import machine, table, write
from protgnn.datasets.load import load_graphs
from protgnn.explain.explanation import explain
from protgnn.explain.pyg_module import PyGModule
from protgnn.model.mined import ProtGNNMined
from protgnn.training.recipe import make_recipe
from protgnn.training.train import SplitData, train

MOLECULES = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=20, help="of training; the time to explain does not depend on it")
    parser.add_argument("--sample", type=int, default=50, help="molecules that GNNExplainer is timed on")
    chosen = parser.parse_args()
    data = load_graphs("bbbp").with_split("random", 0)
    recipe = make_recipe(encoder="gcn", plus=True, epochs=chosen.epochs, warm_up=chosen.epochs // 2, anchored_epochs=0)
    model = train(SplitData(data.train, data.valid), recipe).model
    graphs = data.graphs[:MOLECULES]

    explain(model, graphs[:10])  # first calls are slow
    start = time.perf_counter()
    reasons = explain(model, graphs)
    ours = (time.perf_counter() - start) / len(reasons)

    assert isinstance(model, ProtGNNMined)
    module = PyGModule(model.guide, graphs.schema)  # a plain GNN on whole graphs, which can be masked
    explainer = Explainer(
        module,
        GNNExplainer(epochs=100),
        explanation_type="model",
        node_mask_type="object",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"},
    )
    molecules = graphs[: chosen.sample].to_pyg()
    explainer(molecules[0].x, molecules[0].edge_index, edge_attr=molecules[0].edge_attr)
    start = time.perf_counter()
    for molecule in molecules:
        explainer(molecule.x, molecule.edge_index, edge_attr=molecule.edge_attr)
    theirs = (time.perf_counter() - start) / len(molecules)
    rows = [
        {
            "explainer": "ProtGNN+",
            "timed_on": len(reasons),
            "seconds_per_1000": 1000 * ours,
            "times_faster": theirs / ours,
        },
        {
            "explainer": "GNNExplainer",
            "timed_on": len(molecules),
            "seconds_per_1000": 1000 * theirs,
            "times_faster": 1.0,
        },
    ]
    print(table(rows))
    write("explaining", {"rows": rows, "machine": machine()})


if __name__ == "__main__":
    main()
