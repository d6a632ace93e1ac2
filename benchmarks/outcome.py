"""What every benchmark needs: a briefly trained model, and a results file that is never half written."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.datasets.splits import split
from protgnn.io.atomic_files import write_json
from protgnn.model.classifier import GraphClassifier
from protgnn.training.algorithm import fit
from protgnn.training.build import build
from protgnn.training.recipe import make_recipe

RESULTS = Path(__file__).parent / "results"


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "processors": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def write(name: str, values: dict[str, Any]) -> Path:
    """Write ``results/<name>.json`` in one move."""
    path = RESULTS / f"{name}.json"
    write_json(path, values)
    return path


def table(rows: list[dict[str, Any]]) -> str:
    """Rows as aligned columns, a dash where a row has no such key."""
    head = list(dict.fromkeys(key for row in rows for key in row))
    lines = [head, *([_cell(row.get(key, "-")) for key in head] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def trained_gcn(graphs: GraphSet, epochs: int = 30) -> GraphClassifier:
    """A plain GCN 3 x 128 with max readout after a few epochs, in evaluation mode."""
    recipe = make_recipe(
        encoder="gcn", head="plain", readout="max", edge_features=False, epochs=epochs, patience=0, averaging=0
    )
    parts = split(graphs, "stratified", 0)
    model = build(recipe, graphs.schema)
    fit(model, graphs[parts.train], graphs[parts.valid], recipe)
    return model


@torch.no_grad()
def prototypes_near(graphs: GraphSet, model: GraphClassifier, per_class: int = 5) -> tuple[Tensor, Tensor]:
    """Prototypes ``[K, H]`` and their classes ``[K]``: embeddings of real graphs, a little off."""
    generator = torch.Generator().manual_seed(0)
    assert graphs.y is not None
    chosen = []
    for label in range(int(graphs.y.max()) + 1):
        own = (graphs.y == label).nonzero().squeeze(1)
        chosen.append(own[torch.randperm(len(own), generator=generator)[:per_class]])
    index = torch.cat(chosen)
    h = model.embed(graphs.batch(index))
    return h + 0.1 * h.std() * torch.randn(h.shape, generator=generator), graphs.y[index]
