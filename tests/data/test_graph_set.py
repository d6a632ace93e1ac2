"""Batches and selections of packed graphs are those of PyG."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch as PyGBatch

from protgnn.data.graph_set import GraphSet
from tests.data.random_graphs import assert_same, graph_sets, law, one_graph


def assert_is_pyg_batch(graphs: GraphSet, numbers: list[int], batch) -> None:
    items = graphs.to_pyg()
    theirs = PyGBatch.from_data_list([items[number] for number in numbers])
    assert torch.equal(batch.x, theirs.x)
    assert torch.equal(batch.edge_index, theirs.edge_index)
    assert torch.equal(batch.batch, theirs.batch)
    assert batch.num_graphs == theirs.num_graphs
    assert torch.equal(batch.node_counts, theirs.ptr.diff())
    if graphs.edge_attr is not None:
        assert torch.equal(batch.edge_attr, theirs.edge_attr)
    if graphs.y is not None:
        assert torch.equal(batch.y, theirs.y)
    if graphs.targets is not None:
        assert torch.equal(batch.targets, theirs.targets + theirs.ptr[:-1, None])
    if graphs.missing_degree is not None:
        assert torch.equal(batch.missing_degree, theirs.missing_degree)


@law
@given(graph_sets(taken_out=True), st.data())
def test_a_batch_of_any_index_list_is_the_batch_of_pyg(graphs: GraphSet, data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1, max_size=8))
    assert_is_pyg_batch(graphs, numbers, graphs.batch(torch.tensor(numbers)))


@law
@given(graph_sets(taken_out=True), st.integers(1, 4))
def test_batches_in_order_are_the_batches_of_pyg(graphs: GraphSet, size: int) -> None:
    for start, batch in zip(range(0, len(graphs), size), graphs.batches(size), strict=True):
        assert_is_pyg_batch(graphs, list(range(len(graphs)))[start : start + size], batch)


@law
@given(graph_sets(taken_out=True))
def test_negative_graph_numbers_count_from_the_end(graphs: GraphSet) -> None:
    from_end = torch.arange(-len(graphs), 0)
    assert_is_pyg_batch(graphs, list(range(len(graphs))), graphs.batch(from_end))
    assert_same(graphs[-1], graphs[len(graphs) - 1])


@law
@given(graph_sets(taken_out=True), st.data())
def test_selecting_then_batching_equals_batching_the_selection(graphs: GraphSet, data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1, max_size=8))
    one, other = graphs[numbers].batch(), graphs.batch(torch.tensor(numbers))
    assert torch.equal(one.x, other.x) and torch.equal(one.edge_index, other.edge_index)


@law
@given(graph_sets(taken_out=True))
def test_the_parts_put_together_again_are_the_whole(graphs: GraphSet) -> None:
    assert_same(GraphSet.concatenate([graphs[:1], graphs[1:]]), graphs)
    assert_same(GraphSet.concatenate(list(graphs)), graphs)


@law
@given(graph_sets(taken_out=True))
def test_every_way_to_ask_for_graphs_gives_the_same(graphs: GraphSet) -> None:
    last = len(graphs) - 1
    mask = torch.zeros(len(graphs), dtype=torch.bool)
    mask[last] = True
    for index in (last, [last], np.array([last]), np.int64(last), torch.tensor([last]), mask, slice(last, None)):
        assert_same(graphs[index], graphs[last])
    assert_same(graphs[::-1], graphs[list(range(last, -1, -1))])


@law
@given(graph_sets(taken_out=True))
def test_nothing_is_outside_of_a_graph_that_stands_alone(graphs: GraphSet) -> None:
    alone = replace(graphs, missing_degree=None)
    outside = torch.zeros(len(graphs.x), dtype=torch.int64) if graphs.missing_degree is None else graphs.missing_degree
    wanted = torch.cat([torch.zeros_like(outside), outside])
    for joined in (alone.batch().joined(graphs.batch()), GraphSet.concatenate([alone, graphs])):
        assert (
            joined.missing_degree is None
            if graphs.missing_degree is None
            else torch.equal(joined.missing_degree, wanted)
        )


def test_no_graphs_can_be_asked_for() -> None:
    assert len(one_graph()[[]]) == 0


@pytest.mark.parametrize("index", [1, -2, [0, 5], [True, False], [0.5]])
def test_graph_numbers_that_do_not_exist_are_refused(index: object) -> None:
    with pytest.raises(IndexError, match="Expected"):
        one_graph()[index]


def test_sets_of_different_schema_do_not_go_together() -> None:
    named = one_graph().__class__.from_pyg(one_graph().to_pyg())
    other = named.__class__(**{**vars(named), "schema": named.schema.__class__(class_names=("a",))})
    with pytest.raises(ValueError, match="one schema"):
        GraphSet.concatenate([named, other])
