"""What a network looks like in figures, and a mark that changes when it does."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import torch

from protgnn.data.labels import UNKNOWN
from protgnn.data.network.network import Network


def network_statistics(network: Network) -> dict[str, Any]:
    """Counts and sizes, ready for JSON. Edges of an undirected network are counted once, as papers do."""
    degree = network.degree
    return {
        "nodes": len(network),
        "edges": network.num_edges if network.directed else network.num_edges // 2,
        "directed": network.directed,
        "classes": _class_sizes(network),
        "unlabelled": len(network) - len(network.labelled),
        "degree": {"mean": float(degree.double().mean()), "min": int(degree.min()), "max": int(degree.max())},
        "node_features": network.x.shape[1],
        "edge_features": 0 if network.edge_attr is None else network.edge_attr.shape[1],
        "has_node_truth": network.motif is not None,
    }


def network_fingerprint(network: Network) -> str:
    """SHA-256 over the tensors, the schema and the direction: equal for equal data, on any machine."""
    described = {**network.schema.to_json(), "directed": network.directed}
    mark = hashlib.sha256(json.dumps(described, sort_keys=True).encode())
    for name in ("x", "ptr", "source", "edge_attr", "y", "motif"):
        tensor = getattr(network, name)
        mark.update(name.encode())
        if tensor is not None:
            mark.update(f"{tensor.dtype} {tuple(tensor.shape)}".encode())
            mark.update(memoryview(tensor.contiguous().numpy()))  # no copy of what may be gigabytes
    return mark.hexdigest()


def _class_sizes(network: Network) -> dict[str, int]:
    if network.y is None:
        return {}
    sizes = torch.bincount(network.y[network.y != UNKNOWN], minlength=network.schema.num_classes)
    return dict(zip(network.schema.class_names, sizes.tolist(), strict=True))
