"""Random networks for property tests."""

import torch
from hypothesis import strategies as st

from protgnn.data.network.network import Network


def random_network(
    nodes: int, edges: int, seed: int, *, directed: bool = False, attr: bool = False, features: int = 3
) -> Network:
    """A network with that many drawn edges, of which loops and repetitions are lost."""
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.randint(0, nodes, (2, edges), generator=generator)
    if not directed:
        pairs = pairs.sort(dim=0).values
    pairs = pairs[:, pairs[0] != pairs[1]].unique(dim=1)
    return Network.from_edge_index(
        torch.randn(nodes, features, generator=generator),
        pairs,
        edge_attr=torch.randn(pairs.shape[1], 2, generator=generator) if attr else None,
        y=torch.randint(0, 3, (nodes,), generator=generator),
        motif=torch.randint(-1, 3, (nodes,), generator=generator),
        directed=directed,
    )[0]


@st.composite
def networks(draw: st.DrawFn, max_nodes: int = 12) -> Network:
    """A small network, directed or not, with edge attributes or not, in one piece or many."""
    nodes = draw(st.integers(2, max_nodes))
    return random_network(
        nodes,
        draw(st.integers(0, 3 * nodes)),
        draw(st.integers(0, 2**31)),
        directed=draw(st.booleans()),
        attr=draw(st.booleans()),
    )


def edge_pairs(network: Network) -> list[tuple[int, int]]:
    """All edges as (source, target)."""
    return [tuple(pair) for pair in network.edge_index.t().tolist()]
