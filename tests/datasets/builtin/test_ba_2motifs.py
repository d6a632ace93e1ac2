"""BA-2Motifs as in the literature, the same for the same seed, and no trace in the caller's generators."""

import networkx
import numpy as np
import torch
from torch_geometric.utils import to_networkx

from protgnn.datasets.builtin.ba_2motifs import ba_2motifs
from tests.data.random_graphs import assert_same


def test_the_figures_are_those_of_the_literature() -> None:
    graphs = ba_2motifs()
    assert len(graphs) == 1000 and graphs.y.bincount().tolist() == [500, 500]
    assert set(graphs.node_counts.tolist()) == {25}
    assert graphs.edge_counts.double().mean() == 51
    assert graphs.x.shape == (25_000, 10) and set(graphs.x.unique().tolist()) == {torch.tensor(0.1).item()}
    assert graphs.node_mask.reshape(1000, 25).sum(1).tolist() == [5] * 1000


def test_graphs_are_connected_and_the_true_nodes_are_the_motif() -> None:
    cycle = networkx.cycle_graph(5)
    house = networkx.house_graph()
    graphs = ba_2motifs(20, seed=3)
    for item in graphs.to_pyg():
        graph = to_networkx(item, to_undirected=True)
        assert networkx.is_connected(graph)
        motif = graph.subgraph(item.node_mask.nonzero().flatten().tolist())
        wanted = cycle if graphs.schema.class_names[int(item.y)] == "cycle" else house
        assert networkx.is_isomorphic(motif, wanted)


def test_the_seed_decides_and_global_generators_stay_as_they_were() -> None:
    torch.manual_seed(11)
    np.random.seed(11)
    before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()
    first = ba_2motifs(10, seed=5)
    assert torch.equal(torch.get_rng_state(), before)
    assert np.array_equal(np.random.get_state()[1], numpy_before)
    torch.manual_seed(99)
    assert_same(ba_2motifs(10, seed=5), first)
    assert not torch.equal(ba_2motifs(10, seed=6).edge_index, first.edge_index)
