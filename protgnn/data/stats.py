"""What a set of graphs looks like in figures, and a mark that changes when it does."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import torch

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import CONTEXTUAL

FINGERPRINT_NAMES = {"node_mask": "node_truth"}
"""Tensors that had another name when the first runs were stored: a fingerprint must not change with a name."""


def statistics(graphs: GraphSet) -> dict[str, Any]:
    """Counts and sizes, ready for JSON. Edges are undirected ones, as papers count them."""
    nodes, edges = graphs.node_counts, graphs.edge_counts
    sizes = {} if graphs.y is None else _class_sizes(graphs)
    return {
        "graphs": len(graphs),
        "classes": sizes,
        "nodes": {"mean": float(nodes.double().mean()), "min": int(nodes.min()), "max": int(nodes.max())},
        "edges": {"mean": float(edges.double().mean()) / 2, "min": int(edges.min()) // 2, "max": int(edges.max()) // 2},
        "node_features": graphs.num_features,
        "edge_features": graphs.num_edge_features,
        "has_node_truth": graphs.node_mask is not None,
    }


def fingerprint(graphs: GraphSet) -> str:
    """SHA-256 over the tensors and the schema: equal for equal data, on any machine.

    The features of words in their context are computed, and processors round differently: they are marked by the words
    themselves, and by the model that the schema names.
    """
    mark = hashlib.sha256(json.dumps(graphs.schema.to_json(), sort_keys=True).encode())
    words = graphs.names if graphs.schema.featurizer.startswith(CONTEXTUAL) else None
    for name in ("x", "edge_index", "node_ptr", "edge_ptr", "edge_attr", "y", "targets", "node_mask"):
        tensor = getattr(graphs, name)
        if name == "x" and words is not None:
            mark.update("\n".join(words).encode("utf-8", "surrogatepass"))
            continue
        mark.update(FINGERPRINT_NAMES.get(name, name).encode())
        if tensor is not None:
            mark.update(f"{tensor.dtype} {tuple(tensor.shape)}".encode())
            mark.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return mark.hexdigest()


def _class_sizes(graphs: GraphSet) -> dict[str, int]:
    assert graphs.y is not None
    names = graphs.schema.class_names or tuple(str(number) for number in range(int(graphs.y.max()) + 1))
    sizes = torch.bincount(graphs.y, minlength=len(names)).tolist()
    return dict(zip(names, sizes, strict=True))
