"""What the data asks of a recipe where the user chose nothing, for the command line and Python alike."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from protgnn.datasets.dataset import Dataset
from protgnn.datasets.network_dataset import NetworkDataset

__all__ = ["RecipeChanges", "default_encoder", "recipe_changes", "settled_options"]

LINK_ENCODER = "gcn"


@dataclass(frozen=True)
class RecipeChanges:
    """Recipe keys with the values that the data asks for, and a sentence on each for the user."""

    values: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def default_encoder(num_targets: int) -> str | None:
    """The encoder for instances with so many target nodes, nothing where the recipe's own is right: links (two) are
    learned with a GCN, which is steadier there than a GIN."""
    return LINK_ENCODER if num_targets == 2 else None


def recipe_changes(data: Dataset | NetworkDataset, chosen: Collection[str]) -> RecipeChanges:
    """What to change in a recipe for this data; ``chosen`` are the keys that the user has set, which stay."""
    changes = RecipeChanges()
    if data.uses_given_split(chosen):
        changes.values["split"] = "given"
        changes.notes.append("the parts are those of the split column or comment; --split stratified draws others")
    encoder = default_encoder(2 if isinstance(data, NetworkDataset) and data.task == "links" else 0)
    if encoder is not None and "encoder" not in chosen:
        changes.values["encoder"] = encoder
        changes.notes.append(
            "links are learned with a GCN, which is steadier there than a GIN; --encoder chooses another"
        )
    return changes


def settled_options(options: Mapping[str, Any], data: Dataset | NetworkDataset) -> dict[str, Any]:
    """The options of a run's data with what was guessed or computed: the same columns and ranges for other files."""
    settled = data.settled if isinstance(data, Dataset) else {}
    cut = {} if not {"threshold", "bins"} & set(settled) else {"threshold": None, "bins": None}
    return {key: value for key, value in {**options, **cut, **settled}.items() if key not in cut or value is not None}
