"""Generated networks: planted motifs, whose nodes are known, communities, and one as large as one likes.

All by seed, and without a trace in the caller's random generators.
"""

from __future__ import annotations

from typing import Literal

import networkx
import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.datasets.graph_generator import TreeGraph
from torch_geometric.datasets.motif_generator import CycleMotif, HouseMotif
from torch_geometric.utils import from_networkx, stochastic_blockmodel_graph

from protgnn.data.labels import UNKNOWN
from protgnn.data.network.network import Network
from protgnn.data.schema import Schema
from protgnn.data.sorted_arrays import distinct

Features = Literal["constant", "degree"]

_CONSTANT_COLUMNS, _MAX_DEGREE = 10, 10


def ba_shapes(seed: int = 0, features: Features = "constant", random_edges: int = 20) -> Network:
    """BA-Shapes (Ying et al. 2019): a Barabási–Albert graph of 300 nodes with 80 houses, and some random edges.

    700 nodes in 4 classes: the base, and the middle, bottom and top of a house, which is joined to the base by a
    middle node as in the published generator. That generator adds 1% random edges, which makes the 2 055 edges in the
    statistics of the ProtGNN paper; its article speaks of 0.1 N, which would be 70. A random edge that would fall
    inside one house is drawn again, so that the edges within a motif are the motif's.

    Features are ten ones, as published. From constants an encoder learns by what it sums: GIN sees degrees, GCN
    their ratios, but GAT nothing at all, since a weighted mean of equal rows is that row. ``features="degree"`` has
    the degree as one-hot columns instead, which all three can use.
    """
    random = np.random.default_rng(seed)
    base = from_networkx(networkx.barabasi_albert_graph(300, 5, seed=int(random.integers(2**31))))
    edges, y, motif = _with_motifs(base.edge_index, 300, HouseMotif()(), 80, random)
    edges = torch.cat([edges, _random_edges(edges, motif, random_edges, random)], dim=1)
    return _planted(edges, y, motif, ("base", "middle", "bottom", "top"), features)


def tree_cycles(seed: int = 0, features: Features = "constant", cycles: int = 80) -> Network:
    """Tree-Cycles (Ying et al. 2019): a balanced binary tree of depth 8 (511 nodes) with cycles of six attached.

    Classes are tree and cycle; for ``features`` see :func:`ba_shapes`.
    """
    random = np.random.default_rng(seed)
    tree = TreeGraph(depth=8, undirected=True)()
    edges, y, motif = _with_motifs(tree.edge_index, tree.num_nodes, CycleMotif(6)(), cycles, random)
    return _planted(edges, y, motif, ("tree", "cycle"), features)


def communities(
    nodes: int = 600, groups: int = 4, within: float = 0.06, across: float = 0.003, columns: int = 8, seed: int = 0
) -> Network:
    """A stochastic block model: groups of equal size, denser inside than between; features lean towards the group."""
    size = torch.full((groups,), nodes // groups)
    size[: nodes % groups] += 1
    probability = torch.full((groups, groups), across) + torch.eye(groups) * (within - across)
    with torch.random.fork_rng(devices=[]):  # PyG draws from the caller's global generator
        torch.manual_seed(seed)
        edges = stochastic_blockmodel_graph(size, probability)
        y = torch.arange(groups).repeat_interleave(size)
        x = torch.randn(groups, columns)[y] + 1.5 * torch.randn(nodes, columns)
    names = tuple(f"group {number}" for number in range(groups))
    return Network.from_edge_index(x, edges, y=y, schema=Schema(class_names=names))[0]


def web_network(
    nodes: int = 10_000,
    edges_per_node: int = 10,
    classes: int = 5,
    columns: int = 16,
    loyalty: float = 0.8,
    noise: float = 3.0,
    seed: int = 0,
) -> Network:
    """A large network with hubs, ``nodes · edges_per_node`` undirected edges, for measuring; made in seconds.

    Every edge starts at a node of any kind and with probability ``loyalty`` ends at one of its own class; how often
    the n-th node is chosen falls with the root of n. Features are the class's centre under ``noise``, so that a node
    alone tells little and its neighbours more.
    """
    random = np.random.default_rng(seed)
    y = np.arange(nodes) % classes
    key = np.zeros(0, dtype=np.int64)
    wanted = min(nodes * edges_per_node, nodes * (nodes - 1) // 4)
    while len(key) < wanted:
        more = _hub_edges(nodes, classes, loyalty, wanted - len(key) + wanted // 20, random)
        key = distinct(np.concatenate([key, more]))
    if len(key) > wanted:
        stays = np.ones(len(key), dtype=bool)
        stays[random.choice(len(key), len(key) - wanted, replace=False, shuffle=False)] = False
        key = key[stays]
    edges = torch.from_numpy(np.stack([key // nodes, key % nodes]))
    del key
    x = random.standard_normal((nodes, columns), dtype=np.float32)
    x *= noise
    x += random.standard_normal((classes, columns), dtype=np.float32)[y]
    names = tuple(f"topic {number}" for number in range(classes))
    return Network.from_edge_index(torch.from_numpy(x), edges, y=torch.from_numpy(y), schema=Schema(class_names=names))[
        0
    ]


def _hub_edges(nodes: int, classes: int, loyalty: float, count: int, random: np.random.Generator) -> np.ndarray:
    """Random edges, each as smaller end · nodes + larger end, without loops."""
    start = random.integers(0, nodes, count)
    rank = random.random(count) ** 2
    own = random.random(count) < loyalty
    group = start % classes
    size = (nodes - group + classes - 1) // classes
    end = np.where(own, group + classes * (rank * size).astype(np.int64), (rank * nodes).astype(np.int64))
    key: np.ndarray = (np.minimum(start, end) * nodes + np.maximum(start, end))[start != end]
    return key


def _with_motifs(
    edges: Tensor, base: int, motif: Data, count: int, random: np.random.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Join ``count`` copies of a motif by their first node to different nodes of a base graph: edges, classes (0 is
    the base) and which motif each node belongs to."""
    size = motif.num_nodes
    first = base + size * torch.arange(count)
    copies = (motif.edge_index[:, None, :] + first[:, None]).reshape(2, -1)
    joints = torch.stack([torch.from_numpy(random.choice(base, count, replace=False)), first])
    role = torch.zeros(size, dtype=torch.int64) if motif.y is None else motif.y
    y = torch.cat([torch.zeros(base, dtype=torch.int64), (role + 1).repeat(count)])
    owner = torch.cat([torch.full((base,), UNKNOWN), torch.arange(count).repeat_interleave(size)])
    return torch.cat([edges, copies, joints], dim=1), y, owner


def _random_edges(edges: Tensor, motif: Tensor, count: int, random: np.random.Generator) -> Tensor:
    """``count`` new edges between any two nodes that are not joined yet and not of one motif."""
    there = {frozenset(pair) for pair in edges.t().tolist()}
    owner: list[int] = motif.tolist()
    found: list[tuple[int, int]] = []
    while len(found) < count:
        source, target = (int(node) for node in random.integers(0, len(owner), 2))
        pair = frozenset((source, target))
        if source != target and pair not in there and not owner[source] == owner[target] != UNKNOWN:
            there.add(pair)
            found.append((source, target))
    return torch.tensor(found, dtype=torch.int64).reshape(-1, 2).T


def _planted(edges: Tensor, y: Tensor, motif: Tensor, classes: tuple[str, ...], features: Features) -> Network:
    plain, _ = Network.from_edge_index(
        torch.ones(len(y), _CONSTANT_COLUMNS), edges, y=y, motif=motif, schema=Schema(class_names=classes)
    )
    if features == "constant":
        return plain
    if features != "degree":
        raise ValueError(f"Expected features of constant, degree (got {features!r})")
    names = (*(f"degree={count}" for count in range(1, _MAX_DEGREE)), f"degree={_MAX_DEGREE}+")
    x = torch.eye(_MAX_DEGREE)[plain.degree.clamp(1, _MAX_DEGREE) - 1]
    schema = Schema(class_names=classes, node_features=names)
    return Network.from_edge_index(x, plain.edge_index, y=y, motif=motif, schema=schema)[0]
