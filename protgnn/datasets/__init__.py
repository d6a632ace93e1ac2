"""Data by name or path: from a text that a user gives to checked graphs with a split.

``load`` finds and reads, ``registry`` is the catalogue of names, ``dataset`` and ``network_dataset`` are what comes
back, ``splits`` cuts it into parts, ``new_input`` reads graphs for a trained model, and ``policy`` says what the data
asks of a recipe. ``readers`` has one file per format, ``builtin`` the data that comes with the package.

The function ``load`` is ``protgnn.load``: here, ``load`` is the module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.datasets.dataset import Dataset
    from protgnn.datasets.load import load_graphs, read_csv
    from protgnn.datasets.network_dataset import NetworkDataset
    from protgnn.datasets.new_input import read_for_prediction
    from protgnn.datasets.policy import recipe_changes
    from protgnn.datasets.registry import catalogue

__all__ = [
    "Dataset",
    "NetworkDataset",
    "catalogue",
    "load_graphs",
    "read_csv",
    "read_for_prediction",
    "recipe_changes",
]

_HOME = {
    "Dataset": "dataset",
    "NetworkDataset": "network_dataset",
    "catalogue": "registry",
    "load_graphs": "load",
    "read_csv": "load",
    "read_for_prediction": "new_input",
    "recipe_changes": "policy",
}

__getattr__ = lazy_exports(__name__, _HOME)
