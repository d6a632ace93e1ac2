"""ProtGNN: graph classifiers that show their work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protgnn.version import VERSION

if TYPE_CHECKING:
    from protgnn.estimator import ProtGNNClassifier
    from protgnn.graphs.datasets import Dataset, load, read_csv
    from protgnn.graphs.instances import NetworkInstances
    from protgnn.graphs.network import Network
    from protgnn.graphs.packed import GraphSet

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
    "Dataset": "protgnn.graphs.datasets",
    "GraphSet": "protgnn.graphs.packed",
    "Network": "protgnn.graphs.network",
    "NetworkInstances": "protgnn.graphs.instances",
    "ProtGNNClassifier": "protgnn.estimator",
    "load": "protgnn.graphs.datasets",
    "read_csv": "protgnn.graphs.datasets",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import protgnn` stays quick."""
    if name not in _HOME:
        raise AttributeError(f"module 'protgnn' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
