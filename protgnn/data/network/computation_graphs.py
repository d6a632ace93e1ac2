"""What a target's embedding is computed from, as a graph of its own: all that is within L hops, for many targets.

After L layers a node has got messages from everything within L hops. Its computation graph has these nodes and every
edge that leads into a node within L - 1 hops, so that L layers give the target the same embedding there as in the whole
network. Of an undirected network both directions of these edges are there. Nodes at the rim have fewer neighbours than
in the network, which matters only to the degrees of a graph convolution: ``missing_degree`` counts those left out.

With a ``fanout`` no more than that many neighbours of a node are sampled: this is the computation graph in a
thinned-out network, and its degrees are those there. Of an undirected network an edge that was sampled at one end is
there for both, so a node may have further neighbours besides those sampled for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.labels import UNKNOWN
from protgnn.data.network.network import Network
from protgnn.data.network.sampling import Rng, in_edges
from protgnn.data.sorted_arrays import distinct, first_of_each, without
from protgnn.errors import DataError

Fanout = int | Sequence[int]


def computation_graphs(
    network: Network,
    targets: Tensor,
    hops: int,
    fanout: Fanout | None = None,
    rng: Rng = None,
) -> GraphSet:
    """The computation graph of each of G targets, as G graphs.

    A pair's graph reaches ``hops`` from both ends and is that of the network without the link between them (from the
    first to the second where the network is directed).

    Args:
        network: The network.
        targets: Nodes ``[G]`` or pairs of nodes ``[G, 2]``.
        hops: How far to go, as many as an encoder has layers.
        fanout: How many neighbours of a node to sample, one number or one per hop from the target on; all without it.
        rng: Samples them. A number in its place is a seed, with which a target's graph does not depend on the others.

    Returns:
        The graphs. Nodes are in the order of the network, ``n_id`` says which they are, and edges are sorted by
        (target, source).
    """
    seeds = _checked_targets(network, targets)
    owner = np.repeat(np.arange(len(seeds)), seeds.shape[1])
    reached = _reach(network, owner, seeds, _fanouts(fanout, hops), rng)
    first = np.searchsorted(reached.owner, np.arange(len(seeds) + 1))
    edge_owner = reached.owner[reached.target]
    places = reached.seeds.reshape(seeds.shape) - first[:-1, None]
    is_node = seeds.shape[1] == 1
    motif = None if network.motif is None or not is_node else network.motif.numpy()
    truth = None if motif is None else _same_motif(motif, reached.node, seeds[:, 0][reached.owner])
    return GraphSet(
        x=network.x[torch.from_numpy(reached.node)],
        edge_index=torch.from_numpy(np.stack([reached.source, reached.target]) - first[edge_owner]),
        node_ptr=torch.from_numpy(first),
        edge_ptr=torch.from_numpy(np.searchsorted(edge_owner, np.arange(len(seeds) + 1))),
        edge_attr=reached.edge_attr(network),
        y=None if network.y is None or not is_node else network.y[torch.from_numpy(seeds[:, 0])],
        targets=torch.from_numpy(places),
        node_mask=None if truth is None else torch.from_numpy(truth),
        names=tuple(" – ".join(map(network.name, row)) for row in seeds.tolist()),
        schema=network.schema,
        missing_degree=torch.from_numpy(reached.missing_degree),
        n_id=torch.from_numpy(reached.node),
    )


@dataclass(frozen=True, eq=False)
class _Reached:
    """All graphs as one, its M nodes sorted by (graph, node): ``owner [M]`` is the graph of a node, ``node [M]`` its
    number in the network, ``source, target [E]`` are rows of these, ``edge [E]`` numbers in the network, ``seeds`` the
    rows of the targets."""

    owner: np.ndarray
    node: np.ndarray
    source: np.ndarray
    target: np.ndarray
    edge: np.ndarray | None
    seeds: np.ndarray
    missing_degree: np.ndarray

    def edge_attr(self, network: Network) -> Tensor | None:
        return None if network.edge_attr is None else network.edge_attr[torch.from_numpy(self.edge)]


def _reach(
    network: Network,
    owner: np.ndarray,
    seeds: np.ndarray,
    fanouts: list[int | None],
    rng: Rng,
) -> _Reached:
    """Go out from the seeds hop by hop. A (graph, node) is one number, graph · N + node, and a set of these sorted."""
    size, neighbour = len(network), network.source.numpy()
    start = owner * size + seeds.reshape(-1)
    known = frontier = distinct(start)
    sources, targets, numbers = [], [], []
    for hop, most in enumerate(fanouts):
        graph, node = np.divmod(frontier, size)
        other = _other_end(seeds[graph], node, network.directed) if seeds.shape[1] == 2 and not hop else None
        row, edge = in_edges(network, node, most, rng, other)
        sources.append(graph[row] * size + neighbour[edge])
        targets.append((frontier, row))
        numbers.append(edge)
        frontier = without(distinct(sources[-1]), known)
        known = np.sort(np.concatenate([known, frontier]))

    source = np.searchsorted(known, np.concatenate(sources))
    target = np.concatenate([np.searchsorted(known, nodes)[row] for nodes, row in targets])
    rim = np.searchsorted(known, frontier)
    edge_number = None if network.edge_attr is None else np.concatenate(numbers)
    if not network.directed:
        # All but the rim have both directions of their edges already; of a sample nothing is certain.
        at_rim = np.ones(len(known), dtype=bool) if fanouts[-1] is not None else np.isin(np.arange(len(known)), rim)
        back = at_rim[source]
        source, target = np.concatenate([source, target[back]]), np.concatenate([target, source[back]])
        edge_number = None if edge_number is None else np.concatenate([edge_number, edge_number[back]])
    source, target, edge_number = _sorted_edges(source, target, edge_number, len(known))
    graph, node = np.divmod(known, size)
    outside = _missing_degree(network, node, target, rim, fanouts[-1])
    return _Reached(graph, node, source, target, edge_number, np.searchsorted(known, start), outside)


def _missing_degree(
    network: Network, node: np.ndarray, target: np.ndarray, rim: np.ndarray, most: int | None
) -> np.ndarray:
    """How many neighbours of each node were left out, ``[M]``: those of the rim, which is not expanded."""
    degree = network.degree.numpy()[node[rim]]
    wanted = degree if most is None else np.minimum(degree, most)
    outside = np.zeros(len(node), dtype=np.int64)
    outside[rim] = np.maximum(wanted - np.bincount(target, minlength=len(node))[rim], 0)
    return outside


def _sorted_edges(
    source: np.ndarray, target: np.ndarray, edge: np.ndarray | None, rows: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Every edge once, sorted by (target, source)."""
    key = target * rows + source
    if edge is None:
        key = distinct(key)
    else:
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = first_of_each(key)
        key, edge = key[first], edge[order[first]]
    return key % rows, key // rows, edge


def _other_end(pair: np.ndarray, node: np.ndarray, directed: bool) -> np.ndarray:
    """The neighbour whose message each node must not get, -1 for none: ``[R, 2], [R] → [R]``."""
    first, second = pair.T
    return np.where(node == second, first, UNKNOWN if directed else second)


def _same_motif(motif: np.ndarray, node: np.ndarray, target: np.ndarray) -> np.ndarray:
    same: np.ndarray = (motif[node] == motif[target]) & (motif[node] != UNKNOWN)
    return same


def _checked_targets(network: Network, targets: Tensor) -> np.ndarray:
    """Targets as ``[G, T]``, nodes of the network."""
    if targets.dim() not in (1, 2) or (targets.dim() == 2 and targets.shape[1] not in (1, 2)):
        raise DataError(f"Expected targets of shape [nodes] or [pairs, 2] (got {tuple(targets.shape)})")
    seeds = targets.to(torch.int64).reshape(len(targets), -1).numpy() if len(targets) else np.zeros((0, 1), np.int64)
    outside = ((seeds < 0) | (seeds >= len(network))).any(axis=1)
    if outside.any():
        wrong = seeds[outside.argmax()].tolist()
        raise DataError(f"Expected targets among the nodes 0 to {len(network) - 1} (got {wrong})")
    if seeds.shape[1] == 2 and (seeds[:, 0] == seeds[:, 1]).any():
        node = int(seeds[(seeds[:, 0] == seeds[:, 1]).argmax(), 0])
        raise DataError(f"Expected pairs of two different nodes (got {network.name(node)} twice)")
    return seeds


def _fanouts(fanout: Fanout | None, hops: int) -> list[int | None]:
    if hops < 1:
        raise DataError(f"Expected at least one hop, as an encoder has layers (got {hops})")
    each: list[int | None] = [fanout] * hops if fanout is None or isinstance(fanout, int) else list(fanout)
    if len(each) != hops or any(most is not None and most < 1 for most in each):
        raise DataError(f"Expected a fanout of at least 1 for each of {hops} hops (got {fanout})")
    return each
