"""What a user asks a trained model about: files of graphs, networks, single nodes and pairs, parts of its own data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard

import torch

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances, NetworkInstances
from protgnn.data.network.network import Network
from protgnn.data.network.stats import network_fingerprint
from protgnn.data.stats import fingerprint
from protgnn.datasets.copies import canonical_smiles
from protgnn.datasets.load import Dataset, catalogue, load
from protgnn.datasets.network_dataset import NetworkDataset, Task, is_network, read_network_instances
from protgnn.datasets.new_input import conform, conform_network, existing_path, read_for_prediction, refuse_columns
from protgnn.datasets.readers.options import Labels, OnSkip
from protgnn.datasets.registry import named_networks, takes_words
from protgnn.errors import DataError, ProtGNNError
from protgnn.explain.run_data import PARTS, Part, run_data, run_part
from protgnn.featurizers.molecule import quiet
from protgnn.featurizers.words import stored_choice
from protgnn.model.readout import targets_read
from protgnn.training.resolve import as_model_input
from protgnn.training.run import Run

Say = Callable[[str], None]

MANY = 5000
"""Nodes of a network whose samples take longer than a pass over all of it."""


def resolve_input(
    run: Run,
    source: str,
    *,
    smiles: str | None = None,
    text: str | None = None,
    label: str | None = None,
    skip_bad: bool = False,
    labels: Labels = "welcome",
    say: Say | None = None,
    on_skip: OnSkip | None = None,
) -> Instances:
    """Find the instances that a text names for the model of a run.

    Args:
        run: The run whose model will predict.
        source: A part of the run's data (``train``, ``valid``, ``test``), a dataset's name, a file or folder, or the
            input itself: a SMILES, a sentence, or the id of a node (of two, with a comma between) in the network that
            the model was trained on.
        smiles: The CSV column with the SMILES.
        text: The CSV column with the sentences.
        label: The CSV column, or comment of a CoNLL-U file, with the class.
        skip_bad: Skip and count rows that cannot be read, instead of refusing the file.
        labels: With ``"needed"`` every row of a file must have a label, and of a network the nodes with one are meant.
        say: Called with a sentence for each thing that was skipped or repaired.
        on_skip: Called with the line and the fault of each row that was skipped.

    Returns:
        Graphs, nodes or pairs, as the model takes them.

    Raises:
        DataError: The input cannot be read, or is not of the kind that the model was trained on.
        ProtGNNError: The input is empty, or the data of the run is gone.
    """
    if not source.strip():
        raise ProtGNNError(f"Expected a {run.schema.kind} or a file of them (the input is empty)")
    if is_part(source):
        return run_part(run, source)
    path, targets = existing_path(source), targets_read(run.recipe.readout)
    if path is not None and is_network(path):
        refuse_columns(path, smiles, text, label, skip_bad)
        return as_model_input(run.recipe, _of_network(run, path, targets, label, labels, say))
    if path is None and source.lower() in {entry.name for entry in catalogue()}:
        return as_model_input(run.recipe, _of_dataset(run, source, labels))
    if path is None:
        source = source.strip()
    if path is None and targets and run.data is not None:
        data = run_data(run)
        if isinstance(data, NetworkDataset):
            return as_model_input(run.recipe, named_targets(data, source, targets))
    told: dict[str, Any] = {"smiles": smiles, "text": text, "label": label, "say": say, "on_skip": on_skip}
    told |= {"remembered": None if run.data is None else run.data.options}
    graphs = read_for_prediction(source, run.schema, skip_bad=skip_bad, labels=labels, **told)
    return as_model_input(run.recipe, graphs)


def is_part(source: str) -> TypeGuard[Part]:
    """Whether a user means a part of the run's data; a file of that name is ``./test``."""
    return source in PARTS


def from_all_neighbours(instances: Instances, source: str) -> NetworkInstances:
    """The same nodes of a network seen with all their neighbours, whatever was sampled in training: one pass over the
    network, layer by layer, then serves them all."""
    if not isinstance(instances, NetworkInstances):
        raise DataError(f"{source}: leave --neighbours out, which is for networks")
    return instances.reaching(replace(instances.reach, fanout=None))


def is_slow(instances: Instances) -> bool:
    """Whether there are many nodes or pairs of which each comes with its own sample of the network."""
    sampled = isinstance(instances, NetworkInstances) and instances.reach.fanout is not None
    return sampled and len(instances) > MANY


def is_run_data(run: Run, instances: Instances) -> bool:
    """Whether these are the graphs, or nodes of the network, that a run was made from."""
    mark = None
    if isinstance(instances, GraphSet):
        mark = fingerprint(instances)
    elif isinstance(instances, NetworkInstances):
        mark = network_fingerprint(instances.network)
    return run.data is not None and run.data.fingerprint == mark


def learned_from(run: Run, instances: Instances) -> int:
    """How many of these molecules or sentences a run was trained or chosen on; none where its data is gone."""
    if not isinstance(instances, GraphSet) or instances.names is None:
        return 0
    try:
        data = run_data(run)
    except ProtGNNError:
        return 0
    if not isinstance(data, Dataset) or data.graphs.schema.kind not in ("molecule", "sentence"):
        return 0
    as_text = canonical_smiles if data.graphs.schema.featurizer == "molecule" else str
    with quiet():
        known = {as_text(name) for part in (data.train, data.valid) for name in part.names or ()}
        return sum(as_text(name) in known for name in instances.names)


def _of_network(
    run: Run, path: Path, targets: int, label: str | None, labels: Labels, say: Say | None
) -> NetworkInstances:
    """The nodes or pairs of another network, read as the one that the model was trained on."""
    if not targets:
        raise DataError(f"{path} is a network, and this model was trained on graphs: give it graphs like those")
    if targets == 2 and labels == "needed":
        raise DataError("A model of links is scored on the links that were held out: leave DATA out")
    directed = run.data is not None and bool(run.data.options.get("directed", False))
    found, notes = read_network_instances(path, run.schema, _task(run), label, directed, labels == "needed")
    if say is not None:
        for note in notes:
            say(note)
    return conform_network(found, run.schema)


def _of_dataset(run: Run, name: str, labels: Labels) -> Instances:
    """All of a dataset; its labels may be of something else than what the model was trained to tell."""
    words = stored_choice(run.schema) if run.schema.kind == "sentence" and takes_words(name) else None
    data = load(name, task=_task(run) if name.lower() in named_networks() else None, words=words)
    found = data.instances if isinstance(data, NetworkDataset) else data.graphs
    known = set(found.schema.class_names) <= set(run.schema.class_names)
    if labels == "ignored" or (labels == "welcome" and not known):
        found = replace(found, y=None)
    return conform_network(found, run.schema) if isinstance(found, NetworkInstances) else conform(found, run.schema)


def _task(run: Run) -> Task:
    return "nodes" if targets_read(run.recipe.readout) == 1 else "links"


def named_targets(data: NetworkDataset, text: str, targets: int) -> NetworkInstances:
    """A node or pair of the network by its id, or by "node" and its id.

    Raises:
        DataError: There is no such node, or not as many as the model asks for.
    """
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
    plain = name.removeprefix("node ").strip()
    if network.names is None and plain.isdecimal() and int(plain) < len(network):
        return int(plain)
    for one in (name, plain):
        if network.names is not None and one in network.names:
            return network.names.index(one)
    example = network.name(0)
    raise DataError(f"{name!r} is neither a file nor a node of {where}, whose nodes are called like {example!r}")
