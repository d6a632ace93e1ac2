"""Networks by name or path as data to train on: their nodes, or the links between them, split into parts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from protgnn.data.network.instances import NetworkInstances
from protgnn.data.network.link_split import LINK_CLASSES, LinkSplit, split_links
from protgnn.data.network.network import Network
from protgnn.data.network.node_split import check_node_split, fold_nodes, split_nodes
from protgnn.data.network.stats import network_fingerprint, network_statistics
from protgnn.data.schema import Schema
from protgnn.data.split import Split
from protgnn.datasets.readers.network_csv import read_pairs
from protgnn.datasets.readers.reader import NetworkData, Task, network_reader
from protgnn.errors import DataError

__all__ = ["NetworkDataset", "Task", "is_network", "network_dataset", "read_network_instances"]


@dataclass(frozen=True, eq=False)
class NetworkDataset:
    """A checked network with its description, its task, and a split.

    Until ``with_split`` chose another, nodes are split as the data says where it comes with a split, else stratified,
    and links at random; 80/10/10, seed 0.
    """

    name: str
    network: Network
    task: Task
    description: str = ""
    origin: str = ""
    given_split: Split | None = None
    notes: list[str] = field(default_factory=list)
    chosen_split: Split | None = None
    seed: int = 0

    def __repr__(self) -> str:
        """In a line: tensors would fill the screen."""
        return f"NetworkDataset({self.name!r}, {self.network!r}, task={self.task!r})"

    @property
    def schema(self) -> Schema:
        """What a model of this data must remember: for links other classes than those of the nodes."""
        schema = self.network.schema
        return schema if self.task == "nodes" else replace(schema, class_names=LINK_CLASSES)

    @property
    def instances(self) -> NetworkInstances:
        """Everything that can be learned from or scored: all nodes with a label, or the pairs of all parts."""
        if self.task == "nodes":
            return NetworkInstances.of_nodes(self.network, self.network.labelled)
        parts = self._links
        all_parts = (parts.train, parts.valid, parts.test)
        pairs, y = torch.cat([part.pairs for part in all_parts]), torch.cat([part.y for part in all_parts])
        return NetworkInstances(self.network, pairs, y, self.schema)

    @cached_property
    def split_(self) -> Split | None:
        """Node numbers of each part; none for links, whose split follows from the seed."""
        if self.task == "links":
            return None
        if self.chosen_split is None and self.given_split is not None:
            return self._checked_given()
        return self.chosen_split or split_nodes(self.network, "stratified", self.seed)

    @property
    def train(self) -> NetworkInstances:
        """What to learn from."""
        return self._part("train")

    @property
    def valid(self) -> NetworkInstances:
        """What to choose and stop by."""
        return self._part("valid")

    @property
    def test(self) -> NetworkInstances:
        """What to report on."""
        return self._part("test")

    def with_split(self, kind: str, seed: int = 0) -> NetworkDataset:
        """The same dataset split otherwise; ``given`` is the split that came with the nodes."""
        if kind not in ("random", "stratified", "given"):
            raise DataError(f"A {kind} split is not for networks: use split=random, stratified or given")
        if self.task == "links":
            if kind == "given":
                raise DataError(f"The split of {self.name} is one of nodes: links are split with split=random")
            return replace(self, seed=seed)
        if kind != "given":
            chosen = split_nodes(self.network, kind, seed)  # type: ignore[arg-type]
            return replace(self, chosen_split=chosen, seed=seed)
        if self.given_split is None:
            raise DataError(f"{self.name} comes without a split of its own: use a random or stratified one")
        return replace(self, chosen_split=self._checked_given())

    def with_folds(self, k: int, kind: str = "stratified", seed: int = 0) -> list[NetworkDataset]:
        """The same dataset split ``k`` times, so that every node with a label is tested on once."""
        if self.task == "links":
            raise DataError("Folds are for graphs and nodes: links are split with another --seed instead")
        return [replace(self, chosen_split=one, seed=seed) for one in fold_nodes(self.network, k, kind, seed)]

    def uses_given_split(self, chosen: Collection[str]) -> bool:
        """Whether the split that came with the nodes is meant, given the recipe keys that a user has chosen."""
        return self.task == "nodes" and self.given_split is not None and "split" not in chosen

    def fingerprint(self) -> str:
        """A mark that changes with the data."""
        return network_fingerprint(self.network)

    def statistics(self) -> dict[str, Any]:
        """Counts and sizes, ready for JSON."""
        return {"task": self.task, **network_statistics(self.network)}

    def _checked_given(self) -> Split:
        assert self.given_split is not None
        check_node_split(self.network, self.given_split, f"the split of {self.name}")
        return self.given_split

    @cached_property
    def _links(self) -> LinkSplit:
        return split_links(self.network, self.seed)

    def _part(self, name: str) -> NetworkInstances:
        if self.task == "links":
            return NetworkInstances.of_links(getattr(self._links, name))
        return NetworkInstances.of_nodes(self.network, getattr(self.split_, name))


def is_network(path: Path) -> bool:
    """Whether a path holds a network: a folder with ``nodes.csv`` and ``edges.csv``, or a saved PyG ``Data``."""
    return network_reader(path) is not None


def network_dataset(
    name: str,
    data: NetworkData,
    task: Task | None = None,
    description: str = "",
    origin: str = "",
) -> NetworkDataset:
    """A dataset of a network; without a ``task`` it is one of nodes where any has a label, else one of links."""
    if task not in (None, "nodes", "links"):
        raise DataError(f"Expected a task of nodes, links (got {task!r})")
    labelled = bool(len(data.network.labelled))
    if task == "nodes" and not labelled:
        raise DataError(f"{name} has no labelled nodes to learn from: give a label column, or use --task links")
    chosen: Task = task or ("nodes" if labelled else "links")
    notes = list(data.notes)
    if chosen != task and chosen == "links":
        notes.append("No node has a label, so links are predicted; to classify nodes, name their column with --label")
    return NetworkDataset(name, data.network, chosen, description, origin, data.given_split, notes)


def read_network_instances(
    path: Path, schema: Schema, task: Task, label: str | None = None, directed: bool = False, labelled: bool = False
) -> tuple[NetworkInstances, list[str]]:
    """What a trained model is to predict in a network of its schema, and what was repaired.

    Of nodes those without a label, or all where that leaves none or all; with ``labelled`` those that have one. Of
    links the pairs of the file ``pairs.csv`` beside the network.
    """
    reader = network_reader(path)
    if reader is None:
        raise DataError(f"{path} holds no network: give a folder with nodes.csv and edges.csv, or a saved PyG Data")
    data = reader.read_new(path, schema, label, directed, task == "links")
    network = data.network
    if task == "links":
        pairs = read_pairs(path, network)
        return NetworkInstances(network, pairs, None, schema), data.notes
    return NetworkInstances.of_nodes(network, _nodes_to_predict(network, labelled, path)), data.notes


def _nodes_to_predict(network: Network, labelled: bool, path: Path) -> Tensor:
    known = network.labelled
    if labelled:
        if not len(known):
            raise DataError(f"{path} has no labels to score against: use `protgnn predict`")
        return known
    everyone = torch.arange(len(network))
    unknown = torch.ones(len(network), dtype=torch.bool).index_fill(0, known, False)
    return everyone[unknown] if 0 < len(known) < len(network) else everyone
