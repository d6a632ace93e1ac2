"""The data a run was trained, chosen and scored on, read again and checked to be the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from protgnn.data.network.instances import Instances
from protgnn.datasets.load import Dataset, load
from protgnn.datasets.network_dataset import NetworkDataset
from protgnn.datasets.new_input import known_columns
from protgnn.errors import ProtGNNError, RunError
from protgnn.featurizers.words import stored_choice
from protgnn.training.resolve import as_model_input
from protgnn.training.run import Run

Part = Literal["train", "valid", "test"]
PARTS: tuple[Part, ...] = ("train", "valid", "test")


def run_data(run: Run) -> Dataset | NetworkDataset:
    """Read the data of a run again, split as it was.

    Raises:
        ProtGNNError: The run does not say where its data is, or the data is gone or has changed.
    """
    if run.data is None:
        raise ProtGNNError("This run does not say what it was trained on: name the data to use")
    options = dict(run.data.options)
    if options.get("words") is not None:  # by the digest that the schema has: a run names no folder and fetches nothing
        options["words"] = stored_choice(run.schema)
    data = load(run.data.source, **options)
    if isinstance(data, Dataset):  # molecules may have got columns since
        data = replace(data, graphs=known_columns(data.graphs, run.schema))
    if data.fingerprint() != run.data.fingerprint:
        raise ProtGNNError(f"{run.data.source} has changed since the run was trained: name the data to use")
    if run.split is not None:
        count = len(data.network) if isinstance(data, NetworkDataset) else len(data.graphs)
        if any(len(part) and int(part.max()) >= count for part in (run.split.train, run.split.valid, run.split.test)):
            raise RunError(f"The split of this run names more than the {count} that are in {run.data.source}")
        return replace(data, chosen_split=run.split)
    return data.with_split(run.recipe.split, run.recipe.seed)


def run_part(run: Run, part: Part, data: Dataset | NetworkDataset | None = None) -> Instances:
    """One part of the data of a run, as its model takes it.

    Args:
        run: The run.
        part: ``"train"``, ``"valid"`` or ``"test"``.
        data: All of its data, where that has been read already.

    Raises:
        ProtGNNError: See :func:`run_data`.
    """
    found: Instances = getattr(run_data(run) if data is None else data, part)
    if not len(found):
        raise RunError(f"The {part} part of this run is empty: name the data to use")
    if part == "train" and run.prototypes is not None:
        for number, card in enumerate(run.prototypes.cards):
            if card.graph >= len(found):
                raise RunError(f"Prototype {number} of this run is of training graph {card.graph} of {len(found)}")
    return as_model_input(run.recipe, found)
