"""Random graphs, and an encoder whose arithmetic is exact: equal subgraphs have equal embeddings in any batch."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import torch
from hypothesis import strategies as st
from torch import Tensor

from protgnn.data.batch import Batch, offsets
from protgnn.data.graph_set import GraphSet
from protgnn.search.tree import SearchSettings

WIDTH = 3
_WEIGHTS = torch.tensor([[[1, 2, 0], [0, 1, -1], [1, 0, 1]], [[1, 0, 1], [-1, 1, 0], [0, 1, 2]]]).double()


def pack(networks: list[nx.Graph], targets: list[list[int]] | None = None, seed: int = 0) -> GraphSet:
    """Networkx graphs as a set with small whole numbers as features."""
    generator = torch.Generator().manual_seed(seed)
    edges = [[*network.edges, *((v, u) for u, v in network.edges if u != v)] for network in networks]
    counts = torch.tensor([len(network) for network in networks])
    return GraphSet(
        x=torch.randint(0, 4, (int(counts.sum()), WIDTH), generator=generator).double(),
        edge_index=torch.tensor([pair for part in edges for pair in part], dtype=torch.int64).reshape(-1, 2).t(),
        node_ptr=offsets(counts),
        edge_ptr=offsets(torch.tensor([len(part) for part in edges])),
        y=torch.arange(len(networks)) % 2,
        targets=None if targets is None else torch.tensor(targets),
    )


def encode(batch: Batch) -> Tensor:
    """Two rounds of whole-number message passing and a sum, plus what the targets see: exact in float64."""
    source, target = batch.edge_index
    x = batch.x
    for weight in _WEIGHTS:
        x = torch.relu((x + torch.zeros_like(x).index_add(0, target, x[source])) @ weight)
    h = x.new_zeros(batch.num_graphs, WIDTH).index_add(0, batch.batch, x)
    return (h if batch.targets is None else h + x[batch.targets].sum(1)) / 64


def _shape(kind: str, size: int, seed: int) -> nx.Graph:
    makers: dict[str, Callable[[], nx.Graph]] = {
        "random": lambda: nx.gnp_random_graph(size, 0.3, seed=seed),
        "sparse": lambda: nx.gnp_random_graph(size, 0.12, seed=seed),
        "tree": lambda: nx.random_labeled_tree(size, seed=seed),
        "star": lambda: nx.star_graph(size - 1),
        "path": lambda: nx.path_graph(size),
        "cycle": lambda: nx.cycle_graph(size),
        "complete": lambda: nx.complete_graph(size),
        "empty": lambda: nx.empty_graph(size),
    }
    return makers[kind]()


KINDS = ("random", "sparse", "tree", "star", "path", "cycle", "complete", "empty")


@st.composite
def graph_sets(draw: st.DrawFn, num_targets: int = 0, most: int = 14) -> GraphSet:
    """One to three graphs of any shape, with target nodes if asked for."""
    networks = [
        _shape(draw(st.sampled_from(KINDS)), draw(st.integers(1, most)), draw(st.integers(0, 99)))
        for _ in range(draw(st.integers(1, 3)))
    ]
    targets = [[draw(st.integers(0, len(network) - 1)) for _ in range(num_targets)] for network in networks]
    return pack(networks, targets if num_targets else None, draw(st.integers(0, 99)))


def settings() -> st.SearchStrategy[SearchSettings]:
    """Settings around the paper's."""
    return st.builds(
        SearchSettings,
        iterations=st.integers(1, 12),
        exploration=st.sampled_from([0.0, 1.0, 5.0]),
        children=st.integers(1, 10),
        min_nodes=st.integers(1, 5),
        max_nodes=st.integers(5, 8),
        seed=st.integers(0, 3),
        whole_nodes=st.sampled_from([5, 9, 64]),
    )


def prototypes(count: int, seed: int = 0) -> Tensor:
    """``[count, WIDTH]`` in the range of the embeddings, on a grid that keeps distances exact."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 200, (count, WIDTH), generator=generator).double() / 64
