"""To PyG and back nothing is lost, and what cannot be packed is refused by number."""

import pytest
import torch
from hypothesis import given
from torch_geometric.data import Data

from protgnn.data.graph_set import GraphSet
from protgnn.errors import DataError
from tests.data.random_graphs import assert_same, graph_sets, law

EDGES = torch.tensor([[0], [1]])


def good(**changes: object) -> Data:
    return Data(**{"x": torch.ones(2, 3), "edge_index": EDGES, "y": torch.tensor([0]), **changes})


@law
@given(graph_sets(taken_out=True))
def test_to_pyg_and_back_is_the_identity(graphs: GraphSet) -> None:
    assert_same(GraphSet.from_pyg(graphs.to_pyg(), graphs.schema), graphs)


def test_plain_numbers_and_vectors_are_taken_as_labels_and_attributes() -> None:
    packed = GraphSet.from_pyg([good(y=1, edge_attr=torch.tensor([5.0])), good(y=0, edge_attr=torch.tensor([6.0]))])
    assert packed.y.tolist() == [1, 0]
    assert packed.edge_attr.tolist() == [[5.0], [6.0]]


def test_one_graph_alone_is_packed_as_a_list_of_it() -> None:
    assert_same(GraphSet.from_pyg(good()), GraphSet.from_pyg([good()]))


def test_what_holds_no_graphs_is_refused() -> None:
    with pytest.raises(DataError, match=r"list of torch_geometric Data \(got int\)"):
        GraphSet.from_pyg(7)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (good(x=None), "Graph 1 has no node features"),
        (good(edge_index=None), "Graph 1 has no `edge_index`"),
        (good(edge_index=torch.zeros(1, 3, dtype=torch.int64)), "edge_index` of graph 1"),
        (good(x=torch.ones(2)), "`x` of graph 1"),
        (good(x=torch.ones(2, 4)), "Graph 1 has 4 columns"),
        (good(y=torch.tensor([[0, 1]])), "Graph 1 has 2 labels"),
        (good(y=None), "Graph 1 has no `y`"),
        (good(edge_attr=torch.ones(1, 2)), "Graph 0 has no `edge_attr`"),
        (good(node_mask=torch.ones(2)), "Graph 0 has no `node_mask`"),
        ("CCO", "Data at graph 1"),
    ],
)
def test_what_cannot_be_packed_is_refused_by_number(item: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        GraphSet.from_pyg([good(), item])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edge_attr": torch.ones(3, 2)}, "1 edges but 3 rows"),
        ({"targets": torch.tensor([0, 1, 1])}, "one or two `targets`"),
        ({"node_mask": torch.ones(3)}, "one value per node"),
    ],
)
def test_parts_that_do_not_fit_their_graph_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        GraphSet.from_pyg([good(**changes)])


def test_no_graphs_are_refused() -> None:
    with pytest.raises(DataError, match="at least one graph"):
        GraphSet.from_pyg([])
