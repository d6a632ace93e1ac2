"""ProtGNN: graph classifiers that show their work."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from protgnn.version import VERSION

if TYPE_CHECKING:
    from protgnn.data.graph_set import GraphSet
    from protgnn.data.network.instances import NetworkInstances
    from protgnn.data.network.network import Network
    from protgnn.datasets.dataset import Dataset
    from protgnn.datasets.load import load, read_csv
    from protgnn.estimator import ProtGNNClassifier

# Threads that wait by spinning make training several times slower on a machine that does something else as well.
# PyTorch reads this when it is first imported, which is why it stands here.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__version__ = VERSION
__all__ = [
    "Dataset",
    "GraphSet",
    "Network",
    "NetworkInstances",
    "ProtGNNClassifier",
    "__version__",
    "load",
    "read_csv",
]

_HOME = {
    "Dataset": "protgnn.datasets.dataset",
    "GraphSet": "protgnn.data.graph_set",
    "Network": "protgnn.data.network.network",
    "NetworkInstances": "protgnn.data.network.instances",
    "ProtGNNClassifier": "protgnn.estimator",
    "load": "protgnn.datasets.load",
    "read_csv": "protgnn.datasets.load",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import protgnn` stays quick."""
    if name not in _HOME:
        raise AttributeError(f"module 'protgnn' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """What completion offers in a shell or notebook: the public names, imported or not."""
    return sorted({*globals(), *__all__})
