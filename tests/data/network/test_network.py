"""Networks come in from edge lists and PyG, repaired or refused, and are what went in."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

from protgnn.data.network.network import Network
from protgnn.data.schema import Schema
from protgnn.errors import DataError
from tests.data.network.random_networks import edge_pairs, networks
from tests.data.random_graphs import law


def network(edges: list[tuple[int, int]], nodes: int = 3, **more: object) -> tuple[Network, list[str]]:
    index = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).T
    return Network.from_edge_index(torch.ones(nodes, 1), index, **more)


@law
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20), st.booleans())
def test_edges_are_those_of_a_plain_set(edges, directed):
    made, notes = network(edges, 6, directed=directed)
    there = {edge for edge in edges if edge[0] != edge[1]}
    wanted = there if directed else there | {edge[::-1] for edge in there}
    assert edge_pairs(made) == sorted(wanted, key=lambda edge: edge[::-1])
    assert made.degree.tolist() == [sum(edge[1] == node for edge in wanted) for node in range(6)]
    assert any("self-loops" in note for note in notes) == any(edge[0] == edge[1] for edge in edges)
    assert any("listed twice" in note for note in notes) == (len(there) < sum(edge[0] != edge[1] for edge in edges))
    assert any("Mirrored" in note for note in notes) == (len(wanted) > len(there))


@law
@given(networks())
def test_a_network_comes_back_from_pyg(made):
    again, notes = Network.from_pyg(made.to_pyg(), directed=made.directed)
    assert notes == []
    for name in ("x", "ptr", "source", "edge_attr", "y", "motif"):
        one, other = getattr(made, name), getattr(again, name)
        assert (one is None) == (other is None) and (one is None or torch.equal(one, other)), name
    assert again.directed == made.directed and again.schema == made.schema


@law
@given(networks())
def test_edge_truth_is_within_one_motif(made):
    motif = made.motif.tolist()
    wanted = [motif[source] == motif[target] >= 0 for source, target in edge_pairs(made)]
    assert made.edge_truth.tolist() == wanted
    assert made.node_mask.tolist() == [number >= 0 for number in motif]


def test_the_whole_network_is_one_batch_for_any_targets():
    made, _ = network([(0, 1), (1, 2)], y=torch.tensor([0, 1, -1]))
    batch, other = made.whole(torch.tensor([2, 0])), made.whole(torch.tensor([[0, 2]]))
    assert batch.targets.tolist() == [[2], [0]] and batch.y.tolist() == [-1, 0] and batch.num_graphs == 2
    assert other.targets.tolist() == [[0, 2]] and other.y is None
    assert batch.adjacency is other.adjacency
    assert made.labelled.tolist() == [0, 1]
    assert made.name(2) == "node 2"


def test_edges_take_four_bytes_in_each_direction():
    made, _ = network([(0, 1)])
    assert made.source.dtype == torch.int32 and made.edge_index.dtype == torch.int64


def test_attributes_go_with_their_edges_in_both_directions():
    made, _ = network([(2, 0), (0, 1)], edge_attr=torch.tensor([5, 6]))
    assert dict(zip(edge_pairs(made), made.edge_attr.flatten().tolist(), strict=True)) == {
        (1, 0): 6.0, (2, 0): 5.0, (0, 1): 6.0, (0, 2): 5.0
    }  # fmt: skip


@pytest.mark.parametrize(
    ("edges", "more", "message"),
    [
        ([(0, 3)], {}, r"Edge 0 is \(0, 3\) but the nodes are 0 to 2"),
        ([(0, 1), (-1, 0)], {}, r"Edge 1 is \(-1, 0\)"),
        ([(0, 1), (0, 1)], {"edge_attr": torch.tensor([1, 2])}, r"\(0, 1\) is listed twice with different"),
        ([(0, 1), (1, 0)], {"edge_attr": torch.tensor([1, 2])}, "two directions different attributes"),
        ([(0, 1)], {"edge_attr": torch.tensor([float("nan")])}, r"edge \(0, 1\) has the attribute nan in column e0"),
        ([(0, 1)], {"edge_attr": torch.ones(2, 1)}, r"shape \[1, columns\]"),
        ([], {"y": torch.tensor([0, 1])}, r"one label per node, shape \[3\]"),
        ([], {"y": torch.tensor([0, 1, -2])}, "node 2 has the label -2"),
        ([], {"y": torch.tensor([0, 0.5, 1])}, "node 1 has the label 0.5"),
        ([], {"y": torch.tensor([0, float("nan"), 1])}, "node 1 has the label nan"),
        ([], {"y": torch.tensor([0, 1, 1000])}, "node 2 has the label 1000"),
        ([], {"y": torch.tensor([0, 1, 2]), "schema": Schema(class_names=("a", "b"))}, r"only 2 classes \(a, b\)"),
        ([], {"names": ["a"]}, "3 names"),
        ([], {"motif": torch.tensor([0])}, "number of a motif"),
        ([], {"schema": Schema(node_features=("a", "b"))}, "2 node features"),
    ],
)
def test_what_cannot_be_repaired_is_refused_by_name(edges, more, message):
    with pytest.raises(DataError, match=message):
        network(edges, **more)


def test_features_are_finite_and_edges_are_whole_numbers():
    edges = torch.zeros(2, 0, dtype=torch.int64)
    with pytest.raises(DataError, match=r"node 1 \(bob\) has the feature nan in column x0"):
        Network.from_edge_index(torch.tensor([[1.0], [float("nan")]]), edges, names=["ada", "bob"])
    with pytest.raises(DataError, match="at least one of each"):
        Network.from_edge_index(torch.ones(0, 1), edges)
    with pytest.raises(DataError, match="whole numbers"):
        Network.from_edge_index(torch.ones(2, 1), torch.tensor([[0.0], [1.0]]))
    with pytest.raises(DataError, match=r"shape \[2, edges\]"):
        Network.from_edge_index(torch.ones(2, 1), torch.tensor([[0, 1, 2]]))


def test_a_pyg_graph_without_its_parts_is_refused():
    with pytest.raises(DataError, match="no node features"):
        Network.from_pyg(Data(edge_index=torch.zeros(2, 0, dtype=torch.int64)))
    with pytest.raises(DataError, match="no `edge_index`"):
        Network.from_pyg(Data(x=torch.ones(2, 1)))
    with pytest.raises(DataError, match="got list"):
        Network.from_pyg([])
