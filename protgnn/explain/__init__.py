"""What a model knows and why it decides, in terms a person can check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from protgnn.explain.pyg import ProtGNNExplainer, PyGModule

__all__ = ["ProtGNNExplainer", "PyGModule"]


def __getattr__(name: str) -> Any:
    """Import the PyG adapter when it is first used: its explain package takes a second."""
    if name not in __all__:
        raise AttributeError(f"module 'protgnn.explain' has no attribute {name!r}")
    from protgnn.explain import pyg

    return getattr(pyg, name)
