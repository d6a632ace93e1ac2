"""The prototype layer on a PyG encoder of your own, in a training loop of your own."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GIN, global_mean_pool

import protgnn
from protgnn.model.objective import Costs, objective
from protgnn.model.prototype_layer import PrototypeHead, similarity
from protgnn.search.projection import project

torch.manual_seed(0)
data = protgnn.load("solubility")
num_classes = data.graphs.schema.num_classes
classes = torch.arange(num_classes).repeat_interleave(3)  # three prototypes of each class
encoder = GIN(data.graphs.num_features, hidden_channels=64, num_layers=3, norm="batch_norm")
head = PrototypeHead(64, classes, num_classes)
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=0.003)
costs = Costs(margin=4.0)  # the weights of the paper, and a bound on the separation cost
loader = DataLoader(data.train.to_pyg(), batch_size=64, shuffle=True)


def embed(batch) -> Tensor:
    """One embedding per graph, ``[B, 64]``. PyG's batches and ours have the same fields."""
    return global_mean_pool(encoder(batch.x, batch.edge_index), batch.batch, batch.num_graphs)


def accuracy() -> float:
    encoder.eval()
    with torch.no_grad():
        return float((head(embed(data.test.batch())).argmax(1) == data.test.y).float().mean())


# 1. Minimise Eq. 3: cross-entropy plus cluster, separation and diversity costs.
for _ in range(25):
    encoder.train()
    for batch in loader:
        distance = head.distances(embed(batch))  # squared, [B, K]
        loss = objective(head.logits(distance), distance, head.vectors, batch.y, classes, costs)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"accuracy of free prototypes: {accuracy():.2f}")

# 2. Move each prototype onto the nearest connected part of a training graph of its class.
projection = project(data.train, head.vectors.detach(), classes, embed, candidates=2)
with torch.no_grad():
    head.vectors.copy_(projection.vectors)
print(f"accuracy of projected prototypes: {accuracy():.2f}")

# 3. Refit the last layer on the similarities, which no longer change.
with torch.no_grad():
    similar = similarity(head.distances(embed(data.train.batch())), head.epsilon)
last = torch.optim.Adam(head.last.parameters(), lr=0.05)
for _ in range(100):
    last.zero_grad()
    cross_entropy(head.last(similar), data.train.y).backward()
    last.step()
print(f"accuracy with the last layer refitted: {accuracy():.2f}")

source = projection.sources[0]
print(f"prototype 0: atoms {list(source.nodes)} of {data.train.names[source.graph]}")
