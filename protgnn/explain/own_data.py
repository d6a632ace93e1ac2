"""The data a run was trained, chosen and scored on, read again and checked to be the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from protgnn.errors import ProtGNNError
from protgnn.graphs.datasets import Dataset, load
from protgnn.graphs.instances import Instances
from protgnn.graphs.network_datasets import NetworkDataset
from protgnn.training.run import Run
from protgnn.training.task import seen_by

Part = Literal["train", "valid", "test"]
PARTS: tuple[Part, ...] = ("train", "valid", "test")


def own_data(run: Run) -> Dataset | NetworkDataset:
    """The data of a run, split as it was."""
    if run.data is None:
        raise ProtGNNError("This run does not say what it was trained on: name the data to use")
    data = load(run.data.source, **run.data.options)
    if data.fingerprint() != run.data.fingerprint:
        raise ProtGNNError(f"{run.data.source} has changed since the run was trained: name the data to use")
    if run.split is not None:
        return replace(data, chosen_split=run.split)
    return data.with_split(run.recipe.split, run.recipe.seed)


def own_part(run: Run, part: Part, data: Dataset | NetworkDataset | None = None) -> Instances:
    """One part of the data of a run, as its model sees it; ``data`` is all of it where it has been read already."""
    found: Instances = getattr(own_data(run) if data is None else data, part)
    return seen_by(run.recipe, found)
