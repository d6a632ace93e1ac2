"""The data of the league: graphs or nodes, split at random, with the true motif where it is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.datasets.dataset import Dataset
from protgnn.datasets.load import load
from protgnn.training.recipe import Recipe
from protgnn.training.resolve import as_model_input

SMARTS = "motif-molecules"
SETS: dict[str, str] = {
    "ba-2motifs": "a house or a cycle of five on a random graph",
    "benzene": "a benzene ring, a fixed 3 000 of the 12 000 molecules",
    "ba-shapes": "nodes of houses on a random graph",
    "tree-cycles": "nodes of cycles of six on a tree",
    f"{SMARTS}:amide": "an amide",
    f"{SMARTS}:tertiary-amine": "a tertiary amine",
    f"{SMARTS}:alcohol": "an alcohol, which often occurs several times",
    f"{SMARTS}:nitro|nitrile": "a nitro group or a nitrile",
    f"{SMARTS}:!ketone": "no ketone: the motif is in the other class",
    f"{SMARTS}:amide+aryl-chloride": "an amide and a chlorine on an aromatic ring, both",
    f"{SMARTS}:carboxylic-acid+phenol": "a carboxylic acid and a phenol, both",
    "mutag": "mutagenic or not; the truth is not known",
    "bbbp": "passes the blood-brain barrier or not; the truth is not known",
    "solubility": "low, medium or high; the truth is not known",
}
"""Every set and what decides its label."""

AT_MOST = {"benzene": 3000}
"""Sets of which a fixed random part is taken."""

EXPLAINED = 200
"""Test instances that are explained at the most, drawn by the seed of the split."""


@dataclass(frozen=True, eq=False)
class LeagueSplit:
    """The three parts of a split as they are trained on."""

    train: Instances
    valid: Instances
    test: Instances


def league_split(name: str, seed: int) -> LeagueSplit:
    """The random 80/10/10 split of a set."""
    data: Any = load(name)
    if name in AT_MOST and isinstance(data, Dataset):
        order = torch.randperm(len(data.graphs), generator=torch.Generator().manual_seed(0))
        data = replace(data, graphs=data.graphs[order[: AT_MOST[name]].sort().values])
    parts = data.with_split("random", seed)
    return LeagueSplit(parts.train, parts.valid, parts.test)


def as_graphs(part: Instances, recipe: Recipe) -> GraphSet:
    """Each instance as a graph of its own; of a network what is nearest to the target."""
    return as_model_input(recipe, part).ego_graphs()


def to_explain(test: GraphSet, seed: int) -> GraphSet:
    """The test instances that every method explains, in an order drawn by the seed."""
    order = torch.randperm(len(test), generator=torch.Generator().manual_seed(seed))
    return test[order[:EXPLAINED]]
