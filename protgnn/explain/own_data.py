"""The graphs a run was trained, chosen and scored on, read again and checked to be the same."""

from __future__ import annotations

from typing import Literal

from protgnn.errors import ProtGNNError
from protgnn.graphs.packed import GraphSet
from protgnn.training.run import Run

Part = Literal["train", "valid", "test"]
PARTS: tuple[Part, ...] = ("train", "valid", "test")


def own_data(run: Run) -> GraphSet:
    """All graphs of a run, in the order that its split counts them."""
    from protgnn.graphs.datasets import fingerprint, load

    if run.data is None or run.split is None:
        raise ProtGNNError("This run does not say what it was trained on: name the data to use")
    graphs = load(run.data.source, **run.data.options).graphs
    if fingerprint(graphs) != run.data.fingerprint:
        raise ProtGNNError(f"{run.data.source} has changed since the run was trained: name the data to use")
    return graphs


def own_part(run: Run, part: Part, graphs: GraphSet | None = None) -> GraphSet:
    """One part of the data of a run; ``graphs`` are all of it where they have been read already."""
    whole = own_data(run) if graphs is None else graphs
    return whole[getattr(run.split, part)]
