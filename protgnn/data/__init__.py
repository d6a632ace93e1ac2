"""Graphs as tensors: sets of graphs, batches, subgraphs, and the validation of both.

``graph_set`` stores many graphs and ``batch`` is what encoders get, with its edges in compressed rows (``adjacency``).
``validate`` checks graphs and ``canonical_edges`` repairs edge lists; ``pyg`` is the border to PyTorch Geometric.
``subgraph`` cuts and ``grow`` proposes subgraphs. One large graph is a ``network``, a package of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.data.adjacency import CSRAdjacency
    from protgnn.data.batch import Batch
    from protgnn.data.degree import with_degrees
    from protgnn.data.graph_set import GraphSet
    from protgnn.data.grow import CandidateSubgraphs, cut_parts
    from protgnn.data.labels import UNKNOWN
    from protgnn.data.schema import Schema
    from protgnn.data.split import Split, k_fold, random_split
    from protgnn.data.stats import fingerprint, statistics
    from protgnn.data.subgraph import cut
    from protgnn.data.validate import check

__all__ = [
    "UNKNOWN",
    "Batch",
    "CSRAdjacency",
    "CandidateSubgraphs",
    "GraphSet",
    "Schema",
    "Split",
    "check",
    "cut",
    "cut_parts",
    "fingerprint",
    "k_fold",
    "random_split",
    "statistics",
    "with_degrees",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Batch": "batch",
        "CSRAdjacency": "adjacency",
        "CandidateSubgraphs": "grow",
        "GraphSet": "graph_set",
        "Schema": "schema",
        "Split": "split",
        "UNKNOWN": "labels",
        "check": "validate",
        "cut": "subgraph",
        "cut_parts": "grow",
        "fingerprint": "stats",
        "k_fold": "split",
        "random_split": "split",
        "statistics": "stats",
        "with_degrees": "degree",
    },
)
