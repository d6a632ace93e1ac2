"""Random sets of graphs for property tests."""

import torch
from hypothesis import settings
from hypothesis import strategies as st

from protgnn.data.batch import offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema

law = settings(max_examples=25, deadline=None)
"""How hard a law is tried; the machine may be busy, so no deadline."""


@st.composite
def graph_sets(
    draw: st.DrawFn, max_graphs: int = 5, max_nodes: int = 6, undirected: bool = False, taken_out: bool = False
) -> GraphSet:
    """Some small graphs with every optional part there or not; edges in any direction, doubled, looped.

    With ``taken_out`` they may also say that they were taken out of larger ones.
    """
    counts = draw(st.lists(st.integers(1, max_nodes), min_size=1, max_size=max_graphs))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    edges = []
    for count in counts:
        degree = draw(st.integers(0, 2 * count))
        pairs = torch.randint(0, count, (2, degree), generator=generator)
        if undirected:
            pairs = pairs[:, pairs[0] != pairs[1]]
            pairs = torch.cat([pairs, pairs.flip(0)], dim=1).unique(dim=1)
            pairs = pairs[:, (pairs[1] * count + pairs[0]).argsort()]
        edges.append(pairs)
    total, total_edges = sum(counts), sum(pairs.shape[1] for pairs in edges)
    has_attr, has_y, has_targets, has_truth, has_names = (draw(st.booleans()) for _ in range(5))
    taken_out = taken_out and draw(st.booleans())
    return GraphSet(
        x=torch.randn(total, 3, generator=generator),
        edge_index=torch.cat(edges, dim=1),
        node_ptr=offsets(torch.tensor(counts)),
        edge_ptr=offsets(torch.tensor([pairs.shape[1] for pairs in edges])),
        edge_attr=torch.randn(total_edges, 2, generator=generator) if has_attr and not undirected else None,
        y=torch.randint(0, 3, (len(counts),), generator=generator) if has_y else None,
        targets=torch.stack([torch.randint(0, count, (2,), generator=generator) for count in counts])
        if has_targets
        else None,
        node_mask=torch.rand(total, generator=generator) > 0.5 if has_truth else None,
        names=tuple(f"graph-{number}" for number in range(len(counts))) if has_names else None,
        schema=Schema(
            "graph", ("a", "b", "c"), ("x0", "x1", "x2"), ("e0", "e1") if has_attr and not undirected else ()
        ),
        missing_degree=torch.randint(0, 4, (total,), generator=generator) if taken_out else None,
        n_id=torch.randint(0, 100, (total,), generator=generator) if taken_out else None,
    )


def assert_same(ours: GraphSet, theirs: GraphSet) -> None:
    """Every part of two sets is equal."""
    for name in (
        "x", "edge_index", "node_ptr", "edge_ptr", "edge_attr", "y", "targets", "node_mask", "missing_degree", "n_id"
    ):  # fmt: skip
        one, other = getattr(ours, name), getattr(theirs, name)
        assert (one is None) == (other is None), name
        if one is not None:
            assert one.dtype == other.dtype and torch.equal(one, other), name
    assert ours.names == theirs.names


def one_graph(
    edges: list[tuple[int, int]] | None = None, nodes: int = 3, y: object = None, attr: object = None
) -> GraphSet:
    """A single graph with one constant feature."""
    index = torch.tensor(edges or [], dtype=torch.int64).reshape(-1, 2).T
    return GraphSet(
        x=torch.ones(nodes, 1),
        edge_index=index,
        node_ptr=torch.tensor([0, nodes]),
        edge_ptr=torch.tensor([0, index.shape[1]]),
        edge_attr=None if attr is None else torch.tensor(attr),
        y=None if y is None else torch.tensor([y]),
    )
