"""Under which name a recipe's results are stored.

Stored results are named by a digest of their recipe as it was written when they were made: its keys in the order they
had then, and -1 or 0 where a key says ``auto`` today. A key that came later counts only where it is not at its default,
so that results from before it keep their names. See docs/decisions/0008.
"""

from __future__ import annotations

from typing import Any

from protgnn.training.recipe import AUTO_BEFORE, Recipe

KEYS = (
    "encoder",
    "hidden",
    "layers",
    "heads",
    "norm",
    "dropout",
    "readout",
    "edge_features",
    "head",
    "prototypes",
    "prototypes_start",
    "epsilon",
    "cluster",
    "separation",
    "separation_margin",
    "diversity",
    "diversity_threshold",
    "plus",
    "warm_up",
    "evidence_edges",
    "evidence_beside",
    "evidence_budget",
    "exploration",
    "evidence_share",
    "evidence_lr",
    "sampler_lr",
    "projection_start",
    "projection_period",
    "candidates",
    "candidates_on_the_way",
    "search_iterations",
    "search_exploration",
    "search_children",
    "search_min_nodes",
    "search_max_nodes",
    "anchored_epochs",
    "refine_steps",
    "prune",
    "epochs",
    "patience",
    "window",
    "batch_size",
    "lr",
    "weight_decay",
    "averaging",
    "split",
    "seed",
    "fanout",
    "instance_nodes",
    "accelerator",
    "precision",
)
"""The keys of a recipe in the order in which results are named by them."""


METHODS = {"plain": 3, "prototypes": 3, "plus": 6}
"""Counts changes of how prototypes are mined and the composition is fitted, of which no key of the recipe tells, by
model. Names of results that depend on either end with it (docs/decisions/0054 to 0056, 0058, 0061, 0062)."""


UNNAMED = {"calibrate"}
"""Keys that change no prediction."""


BEFORE = {"evidence": "sampled", "whole_parts": False}
"""What results from before a key were made with, where that is no longer the default."""


def named_by(recipe: Recipe) -> dict[str, Any]:
    """The keys and values that name the results of a recipe, in the order that names them."""
    values = recipe.model_dump()
    named = {key: AUTO_BEFORE[key] if values[key] == "auto" and key in AUTO_BEFORE else values[key] for key in KEYS}
    later = {key: value for key, value in values.items() if key not in named and key not in UNNAMED}
    before = {key: BEFORE.get(key, Recipe.model_fields[key].default) for key in later}
    return named | {key: value for key, value in later.items() if value != before[key] and _concerns(recipe, key)}


def _concerns(recipe: Recipe, key: str) -> bool:
    """Whether a key says anything about the model."""
    if key == "whole_parts":  # mined parts are whole in any case, and networks have no units
        return recipe.head == "prototypes" and (not recipe.plus or recipe.evidence == "sampled")
    if key == "composition":
        return recipe.plus and recipe.evidence != "sampled"
    return key not in ("evidence", "mined_prototypes") or recipe.plus
