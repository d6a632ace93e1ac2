"""Cutting many subgraphs in one call equals cutting them one by one with PyG."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.utils import subgraph

from protgnn.data.graph_set import GraphSet
from protgnn.data.subgraph import cut
from tests.data.random_graphs import graph_sets, law, one_graph


@law
@given(graph_sets(taken_out=True), st.data())
def test_a_cut_is_the_induced_subgraph_of_pyg(graphs: GraphSet, data: st.DataObject) -> None:
    graphs = GraphSet(**{**vars(graphs), "targets": None})
    numbers = data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1, max_size=6))
    items = graphs.to_pyg()
    masks = [
        torch.tensor(data.draw(st.lists(st.booleans(), min_size=items[n].num_nodes, max_size=items[n].num_nodes)))
        for n in numbers
    ]
    found = cut(graphs, torch.tensor(numbers), torch.cat(masks))
    assert len(found) == len(numbers)
    for place, (number, mask) in enumerate(zip(numbers, masks, strict=True)):
        item = items[number]
        edges, attr = subgraph(mask, item.edge_index, item.edge_attr, relabel_nodes=True, num_nodes=item.num_nodes)
        assert torch.equal(found[place].x, item.x[mask])
        assert torch.equal(found[place].edge_index, edges)
        if attr is not None:
            assert torch.equal(found[place].edge_attr, attr)
        if graphs.node_mask is not None:
            assert torch.equal(found[place].node_mask, item.node_mask[mask])
        if graphs.n_id is not None:
            assert torch.equal(found[place].n_id, item.n_id[mask])
    assert found.missing_degree is None


@law
@given(graph_sets(taken_out=True), st.data())
def test_an_edge_mask_removes_edges_and_keeps_nodes(graphs: GraphSet, data: st.DataObject) -> None:
    size = graphs.edge_index.shape[1]
    mask = torch.tensor(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=torch.bool)
    everything = torch.ones(len(graphs.x), dtype=torch.bool)
    found = cut(graphs, torch.arange(len(graphs)), everything, mask)
    assert torch.equal(found.x, graphs.x)
    assert torch.equal(found.edge_index, graphs.edge_index[:, mask])


def test_targets_are_renumbered() -> None:
    graphs = GraphSet(**{**vars(one_graph([(0, 1), (1, 2)])), "targets": torch.tensor([[2]])})
    found = cut(graphs, torch.tensor([0]), torch.tensor([False, True, True]))
    assert found.targets.tolist() == [[1]]
    assert found.edge_index.tolist() == [[0], [1]]
    with pytest.raises(ValueError, match="target node"):
        cut(graphs, torch.tensor([0]), torch.tensor([True, True, False]))


def test_masks_of_the_wrong_length_are_refused() -> None:
    with pytest.raises(ValueError, match="3 nodes"):
        cut(one_graph(), torch.tensor([0]), torch.tensor([True]))
    with pytest.raises(ValueError, match="0 edges"):
        cut(one_graph(), torch.tensor([0]), torch.ones(3, dtype=torch.bool), torch.tensor([True]))
