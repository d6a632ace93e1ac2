"""What a user asks a trained model about: files of graphs, networks, single nodes and pairs, parts of its own data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeGuard

import torch

from protgnn.errors import DataError, ProtGNNError
from protgnn.explain.own_data import PARTS, Part, own_data, own_part
from protgnn.graphs.datasets import catalogue, load
from protgnn.graphs.instances import Instances, NetworkInstances
from protgnn.graphs.network import Network
from protgnn.graphs.network_datasets import NetworkDataset, Task, is_network, read_network_instances
from protgnn.graphs.network_summary import network_fingerprint
from protgnn.graphs.new_input import conform, conform_network, existing_path, read_for_prediction, refuse_columns
from protgnn.graphs.node_datasets import node_datasets
from protgnn.graphs.packed import GraphSet
from protgnn.graphs.raw_inputs import Labels
from protgnn.graphs.summary import fingerprint
from protgnn.model.readout import targets_read
from protgnn.training.run import Run
from protgnn.training.task import seen_by

Say = Callable[[str], None]


def asked(
    run: Run,
    source: str,
    *,
    smiles: str | None = None,
    text: str | None = None,
    label: str | None = None,
    skip_bad: bool = False,
    labels: Labels = "welcome",
    say: Say | None = None,
) -> Instances:
    """The instances that a text means to a run: a part of its own data, a dataset's name, a file or folder, or what
    it says itself, a SMILES, a sentence or the id of a node (of two, with a comma between) in the network that was
    trained on.

    With ``labels`` needed those nodes of a network are meant that have one, and every row of a file must have one;
    ``say`` is told what was skipped or mended.
    """
    if not source.strip():
        raise ProtGNNError(f"Expected a {run.schema.kind} or a file of them (the input is empty)")
    if is_part(source):
        return own_part(run, source)
    path, targets = existing_path(source), targets_read(run.recipe.readout)
    if path is not None and is_network(path):
        if not targets:
            raise DataError(f"{source} is a network, and this model was trained on graphs: give it graphs like those")
        if targets == 2 and labels == "needed":
            raise DataError("A model of links is scored on the links that were held out: leave DATA out")
        directed = run.data is not None and bool(run.data.options.get("directed", False))
        refuse_columns(path, smiles, text, label, skip_bad)
        found, notes = read_network_instances(path, run.schema, _task(run), label, directed, labels == "needed")
        found = conform_network(found, run.schema)
        if say is not None:
            for note in notes:
                say(note)
        return seen_by(run.recipe, found)
    if path is None and source.lower() in {entry.name for entry in catalogue()}:
        return seen_by(run.recipe, _of_dataset(run, source, labels))
    if path is None:
        source = source.strip()
    if path is None and targets and run.data is not None:
        data = own_data(run)
        if isinstance(data, NetworkDataset):
            return seen_by(run.recipe, _named_targets(data, source, targets))
    columns = {"smiles": smiles, "text": text, "label": label}
    graphs = read_for_prediction(source, run.schema, **columns, skip_bad=skip_bad, labels=labels, say=say)
    return seen_by(run.recipe, graphs)


def is_part(source: str) -> TypeGuard[Part]:
    """Whether a user means a part of the run's own data; a file of that name is ``./test``."""
    return source in PARTS


def is_own_data(run: Run, instances: Instances) -> bool:
    """Whether these are the graphs, or nodes of the network, that a run was made from."""
    mark = None
    if isinstance(instances, GraphSet):
        mark = fingerprint(instances)
    elif isinstance(instances, NetworkInstances):
        mark = network_fingerprint(instances.network)
    return run.data is not None and run.data.fingerprint == mark


def _of_dataset(run: Run, name: str, labels: Labels) -> Instances:
    """All of a dataset; its labels may be of something else than what the model was trained to tell."""
    data = load(name, task=_task(run) if name.lower() in node_datasets() else None)
    found = data.instances if isinstance(data, NetworkDataset) else data.graphs
    known = set(found.schema.class_names) <= set(run.schema.class_names)
    if labels == "ignored" or (labels == "welcome" and not known):
        found = replace(found, y=None)
    return conform_network(found, run.schema) if isinstance(found, NetworkInstances) else conform(found, run.schema)


def _task(run: Run) -> Task:
    return "nodes" if targets_read(run.recipe.readout) == 1 else "links"


def _named_targets(data: NetworkDataset, text: str, targets: int) -> NetworkInstances:
    """A node or pair of the network by its id."""
    network = data.network
    names = [text] if targets == 1 else [part.strip() for part in text.split(",")]
    if len(names) != targets:
        raise DataError(f"Expected the ids of two nodes with a comma between them (got {text!r})")
    nodes = torch.tensor([[_number(network, name, data.name) for name in names]])
    if targets == 1:
        return NetworkInstances.of_nodes(network, nodes[0])
    if names[0] == names[1]:
        raise DataError(f"Expected the ids of two different nodes (got {names[0]!r} twice)")
    there = network.joined(nodes).to(torch.int64)
    return NetworkInstances(network, nodes, there, data.schema)


def _number(network: Network, name: str, where: str) -> int:
    if network.names is not None:
        if name in network.names:
            return network.names.index(name)
    else:
        digits = name.removeprefix("node ").strip()
        if digits.isdecimal() and int(digits) < len(network):
            return int(digits)
    example = network.name(0)
    raise DataError(f"{name!r} is neither a file nor a node of {where}, whose nodes are called like {example!r}")
