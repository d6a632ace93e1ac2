"""Monte Carlo tree search for the subgraph nearest to a prototype, and the projection that uses it.

``tree`` searches, ``pool`` encodes and scores each subgraph once, ``bitsets`` holds node sets as integers, and
``projection`` moves every prototype onto the nearest training subgraph of its class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.search.projection import Projection, PrototypeSource, embed_all, project
    from protgnn.search.tree import Explored, SearchSettings, search

__all__ = [
    "Explored",
    "Projection",
    "PrototypeSource",
    "SearchSettings",
    "embed_all",
    "project",
    "search",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Explored": "tree",
        "Projection": "projection",
        "SearchSettings": "tree",
        "PrototypeSource": "projection",
        "embed_all": "projection",
        "project": "projection",
        "search": "tree",
    },
)
