"""Generated graphs whose label is a motif, so that the true nodes are known."""

from __future__ import annotations

import networkx
import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.datasets import ExplainerDataset
from torch_geometric.datasets.graph_generator import GraphGenerator
from torch_geometric.datasets.motif_generator import CycleMotif, HouseMotif, MotifGenerator
from torch_geometric.utils import from_networkx

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.data.validate import check

_BASE_NODES, _FEATURES, _VALUE = 20, 10, 0.1  # as published by Luo et al. 2020


class _BarabasiAlbertTree(GraphGenerator):  # type: ignore[misc]  # PyG's base class is untyped
    """NetworkX's Barabási–Albert graph, as in the published data. PyG's ``BAGraph`` draws a new node among its own
    neighbours, loses the self-loop and so leaves most graphs in pieces."""

    def __init__(self, num_nodes: int, seed: int) -> None:
        super().__init__()
        self.num_nodes = num_nodes
        self.random = np.random.RandomState(seed)

    def __call__(self) -> Data:
        return from_networkx(networkx.barabasi_albert_graph(self.num_nodes, 1, seed=self.random))


def ba_2motifs(num_graphs: int = 1000, seed: int = 0) -> GraphSet:
    """BA-2Motifs: a tree of 20 nodes with a five-node cycle (first half) or house attached; constant features."""
    half = num_graphs // 2
    base = _BarabasiAlbertTree(_BASE_NODES, seed)
    motifs: list[tuple[MotifGenerator, int]] = [(CycleMotif(5), half), (HouseMotif(), num_graphs - half)]
    items: list[Data] = []
    with torch.random.fork_rng(devices=[]):  # ExplainerDataset draws from the caller's global generator
        torch.manual_seed(seed)
        for label, (motif, count) in enumerate(motifs):
            for explained in ExplainerDataset(base, motif, num_motifs=1, num_graphs=count):
                truth = explained.node_mask.bool()
                x = torch.full((len(truth), _FEATURES), _VALUE)
                item = Data(x=x, edge_index=explained.edge_index, y=torch.tensor([label]), node_mask=truth)
                items.append(item)
    graphs = GraphSet.from_pyg(items, Schema(class_names=("cycle", "house")))
    return check(graphs, training=False)[0]
