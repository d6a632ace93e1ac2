"""Which nodes of a network train, validate and test."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from protgnn.data.labels import UNKNOWN
from protgnn.data.network.network import Network
from protgnn.data.split import Split, hold_out, turns
from protgnn.errors import DataError

PARTS = ("train", "valid", "test")


def split_nodes(
    network: Network,
    kind: Literal["random", "stratified"] = "stratified",
    seed: int = 0,
    fractions: tuple[float, float, float] = (0.8, 0.1, 0.1),
) -> Split:
    """Cut the nodes whose class is known into train, valid and test; ``stratified`` keeps the class proportions."""
    if kind not in ("random", "stratified"):
        raise DataError(f"Expected a split among random, stratified (got {kind!r})")
    if min(fractions) <= 0 or abs(sum(fractions) - 1) > 1e-6:
        raise DataError(f"Expected three positive fractions that add up to 1 (got {fractions})")
    nodes = network.labelled.numpy()
    if network.y is None or len(nodes) < 3:
        raise DataError(f"Expected at least 3 nodes with a label to split (got {len(nodes)})")
    classes = network.y.numpy() if kind == "stratified" else None
    rest, test = hold_out(nodes, None if classes is None else classes[nodes], fractions[2] * len(nodes), seed)
    train, valid = hold_out(rest, None if classes is None else classes[rest], fractions[1] * len(nodes), seed)
    split = Split(*(torch.from_numpy(np.sort(part).astype(np.int64)) for part in (train, valid, test)))
    check_node_split(network, split, "this split")
    return split


def fold_nodes(network: Network, k: int, kind: str = "stratified", seed: int = 0) -> list[Split]:
    """``k`` splits of the nodes whose class is known, so that each is tested on once; as ``data.split.k_fold``."""
    from sklearn.model_selection import KFold, StratifiedKFold

    if kind not in ("random", "stratified"):
        raise DataError(f"Folds of nodes are drawn random or stratified (got {kind!r}): choose one with --split")
    nodes = network.labelled.numpy()
    classes = np.zeros(0) if network.y is None else network.y.numpy()[nodes]
    smallest = len(nodes)
    if kind == "stratified" and len(nodes):
        smallest = int(np.unique(classes, return_counts=True)[1].min())
    if not 3 <= k <= smallest:
        raise DataError(f"Expected between 3 and {smallest} folds, the nodes of the smallest class (got {k})")
    folder = (StratifiedKFold if kind == "stratified" else KFold)(k, shuffle=True, random_state=seed)
    found = []
    for parts in turns([nodes[test] for _, test in folder.split(nodes, classes)]):
        split = Split(*(torch.from_numpy(np.sort(part).astype(np.int64)) for part in parts))
        check_node_split(network, split, "this split into folds")
        found.append(split)
    return found


def check_node_split(network: Network, split: Split, source: str) -> None:
    """Refuse a split with an empty part, a node without a label, or a class that is not trained on.

    ``source`` is where the split comes from, as a message names it.
    """
    for name in PARTS:
        if not len(getattr(split, name)):
            raise DataError(f"{source} leaves no node to the part {name}: give it some")
    if network.y is None:
        raise DataError(f"{source} needs nodes with labels (got none): give a label column")
    trained = set(network.y[split.train].tolist())
    for name in PARTS:
        nodes = getattr(split, name)
        labels = network.y[nodes]
        if bool((labels == UNKNOWN).any()):
            node = int(nodes[_first(labels == UNKNOWN)])
            raise DataError(
                f"{source} puts {network.name(node)} into the part {name}, but it has no label: give it one"
            )
        lost = sorted(set(labels.tolist()) - trained)
        if lost:
            node = int(nodes[_first(labels == lost[0])])
            raise DataError(
                f"{source} leaves no node of class {network.schema.class_names[lost[0]]} to train on, though the part "
                f"{name} has some, such as {network.name(node)}: move some into train, or remove or merge the class"
            )


def _first(mask: Tensor) -> int:
    return int(mask.nonzero()[0, 0])
