"""Who hears whom: what is computed for many graphs at once is what each batch would compute for itself."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from protgnn.graphs.hearing import Hearing
from tests.graphs.random_graphs import graph_sets, law


@law
@given(graphs=graph_sets(taken_out=True))
def test_every_edge_and_every_node_is_one_entry_of_its_listener(graphs):
    batch = graphs.batch()
    hearing = Hearing.of(batch.edge_index, len(batch.x))
    wanted = [*batch.edge_index.t().tolist(), *([node, node] for node in range(len(batch.x)))]
    assert sorted(zip(hearing.source.tolist(), hearing.target.tolist(), strict=True)) == sorted(map(tuple, wanted))
    assert hearing.target.tolist() == sorted(hearing.target.tolist())
    assert torch.equal(torch.stack([hearing.source, hearing.target])[:, hearing.place], batch.edge_index)


@law
@given(graphs=graph_sets(taken_out=True))
def test_the_transpose_lists_the_entries_by_speaker(graphs):
    batch = graphs.batch()
    hearing = Hearing.of(batch.edge_index, len(batch.x))
    ptr, column, entry = hearing.transposed
    speaker = torch.arange(len(batch.x)).repeat_interleave(ptr.diff().long())
    assert torch.equal(hearing.source[entry], speaker)
    assert torch.equal(hearing.target[entry], column.long())
    assert sorted(entry.tolist()) == list(range(len(hearing.source)))


@law
@given(graphs=graph_sets(taken_out=True), cut=st.tuples(st.integers(0, 5), st.integers(0, 5)))
def test_a_part_is_what_the_batch_alone_would_compute(graphs, cut):
    start, stop = sorted(min(number, len(graphs)) for number in cut)
    batch = graphs.slice_batch(start, stop)
    alone = Hearing.of(batch.edge_index, len(batch.x), batch.outside)
    for name in ("source", "ptr", "place", "target"):
        assert torch.equal(getattr(batch.hearing, name), getattr(alone, name)), name
    for name in ("matrix", "transposed"):
        assert all(map(torch.equal, getattr(batch.hearing, name), getattr(alone, name))), name
    assert torch.equal(batch.hearing.gcn(torch.float64), alone.gcn(torch.float64))


@law
@given(graphs=graph_sets(taken_out=True))
def test_the_entries_of_a_graph_convolution_count_what_is_outside(graphs):
    batch = graphs.batch()
    outside = [0] * len(batch.x) if batch.outside is None else batch.outside.tolist()
    degree = [1 + more + int((batch.edge_index[1] == node).sum()) for node, more in enumerate(outside)]
    entries = zip(batch.hearing.source.tolist(), batch.hearing.target.tolist(), strict=True)
    wanted = [(degree[source] * degree[target]) ** -0.5 for source, target in entries]
    torch.testing.assert_close(batch.hearing.gcn(torch.float64), torch.tensor(wanted, dtype=torch.float64))
