"""Classify nodes of a network that is a PyG ``Data`` object."""

import torch
from torch_geometric.data import Data

import protgnn

torch.manual_seed(0)
y = torch.arange(300) % 2
edge_index = torch.randint(0, 300, (2, 4000))
edge_index = edge_index[:, (y[edge_index[0]] == y[edge_index[1]]) | (torch.rand(4000) < 0.1)]
order = torch.randperm(300)
data = Data(x=torch.randn(300, 8) + y[:, None], edge_index=edge_index, y=y)

network, notes = protgnn.Network.from_pyg(data)  # notes say what was repaired
print("\n".join(notes))
train = protgnn.NetworkInstances.of_nodes(network, order[:200])
test = protgnn.NetworkInstances.of_nodes(network, order[200:])
model = protgnn.ProtGNNClassifier(encoder="gcn", settings={"epochs": 10, "anchored_epochs": 0}).fit(train)
print(f"accuracy on {len(test)} test nodes: {model.score(test):.2f}")
print(model.explain(test[0]))
