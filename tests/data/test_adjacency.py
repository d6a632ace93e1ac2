"""Adjacency in compressed rows: what is computed for many graphs at once is what each batch computes for itself."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from protgnn.data.adjacency import CSRAdjacency
from tests.data.random_graphs import graph_sets, law


@law
@given(graphs=graph_sets(taken_out=True))
def test_every_edge_and_every_node_is_one_entry_of_its_target(graphs):
    batch = graphs.batch()
    adjacency = CSRAdjacency.from_edge_index(batch.edge_index, len(batch.x))
    wanted = [*batch.edge_index.t().tolist(), *([node, node] for node in range(len(batch.x)))]
    assert sorted(zip(adjacency.col.tolist(), adjacency.row.tolist(), strict=True)) == sorted(map(tuple, wanted))
    assert adjacency.row.tolist() == sorted(adjacency.row.tolist())
    assert torch.equal(torch.stack([adjacency.col, adjacency.row])[:, adjacency.entry_of_edge], batch.edge_index)


@law
@given(graphs=graph_sets(taken_out=True))
def test_the_transpose_lists_the_entries_by_speaker(graphs):
    batch = graphs.batch()
    adjacency = CSRAdjacency.from_edge_index(batch.edge_index, len(batch.x))
    ptr, column, entry = adjacency.csc
    speaker = torch.arange(len(batch.x)).repeat_interleave(ptr.diff().long())
    assert torch.equal(adjacency.col[entry], speaker)
    assert torch.equal(adjacency.row[entry], column.long())
    assert sorted(entry.tolist()) == list(range(len(adjacency.col)))


@law
@given(graphs=graph_sets(taken_out=True), cut=st.tuples(st.integers(0, 5), st.integers(0, 5)))
def test_a_part_is_what_the_batch_alone_would_compute(graphs, cut):
    start, stop = sorted(min(number, len(graphs)) for number in cut)
    batch = graphs.slice_batch(start, stop)
    alone = CSRAdjacency.from_edge_index(batch.edge_index, len(batch.x), batch.missing_degree)
    for name in ("col", "rowptr", "entry_of_edge", "row"):
        assert torch.equal(getattr(batch.adjacency, name), getattr(alone, name)), name
    for name in ("csr", "csc"):
        assert all(map(torch.equal, getattr(batch.adjacency, name), getattr(alone, name))), name
    assert torch.equal(batch.adjacency.gcn_norm(torch.float64), alone.gcn_norm(torch.float64))


@law
@given(graphs=graph_sets(taken_out=True))
def test_the_entries_of_a_graph_convolution_count_what_is_outside(graphs):
    batch = graphs.batch()
    outside = [0] * len(batch.x) if batch.missing_degree is None else batch.missing_degree.tolist()
    degree = [1 + more + int((batch.edge_index[1] == node).sum()) for node, more in enumerate(outside)]
    entries = zip(batch.adjacency.col.tolist(), batch.adjacency.row.tolist(), strict=True)
    wanted = [(degree[source] * degree[target]) ** -0.5 for source, target in entries]
    torch.testing.assert_close(batch.adjacency.gcn_norm(torch.float64), torch.tensor(wanted, dtype=torch.float64))
