"""GCN, GIN and GAT encoders: node features and edges → node embeddings ``[N, H]``.

Edge attributes, where used, enter linearly: they are summed over a node's present edges with the same weights as
the messages, so nothing of size E x H is built for them.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from protgnn.data.batch import Batch
from protgnn.model.message_passing import Propagation, SoftMask
from protgnn.model.norms import NormName, make_norm

EncoderName = Literal["gcn", "gin", "gat"]


class GCNLayer(nn.Module):
    """Graph convolution (Kipf & Welling 2017), Eq. 1 of the paper: ``Ã X W``."""

    def __init__(self, width_in: int, width_out: int, edge_features: int = 0) -> None:
        super().__init__()
        self.linear = nn.Linear(width_in, width_out)
        self.edge = nn.Linear(edge_features, width_out, bias=False) if edge_features else None

    def forward(self, x: Tensor, around: Propagation) -> Tensor:
        weight = around.gcn_weight
        out: Tensor = self.linear(around.sum(x, weight))
        return out if self.edge is None else out + self.edge(around.edge_sum(weight))


class GINLayer(nn.Module):
    """Graph isomorphism layer (Xu et al. 2019): ``MLP(x_i + Σ_j x_j)``."""

    def __init__(self, width_in: int, width_out: int, norm: NormName, edge_features: int = 0) -> None:
        super().__init__()
        self.first = nn.Linear(width_in, width_out)
        self.norm = make_norm(norm, width_out)
        self.second = nn.Linear(width_out, width_out)
        self.edge = nn.Linear(edge_features, width_in, bias=False) if edge_features else None

    def forward(self, x: Tensor, around: Propagation) -> Tensor:
        gathered = around.sum(x, around.present)
        if self.edge is not None:
            gathered = gathered + self.edge(around.edge_sum(around.present))
        hidden = torch.relu(self.norm(self.first(gathered), around.node_present))
        out: Tensor = self.second(hidden)
        return out


class GATLayer(nn.Module):
    """Graph attention (Veličković et al. 2018), several heads side by side."""

    def __init__(self, width_in: int, width_out: int, heads: int, edge_features: int = 0) -> None:
        super().__init__()
        if width_out % heads:
            raise ValueError(f"Expected a hidden width that {heads} heads divide (got {width_out})")
        self.heads = heads
        self.linear = nn.Linear(width_in, width_out, bias=False)
        self.attend = nn.Parameter(torch.empty(2, heads, width_out // heads))
        self.bias = nn.Parameter(torch.zeros(width_out))
        self.edge_logit = nn.Linear(edge_features, heads, bias=False) if edge_features else None
        self.edge = nn.Linear(edge_features, width_out, bias=False) if edge_features else None
        nn.init.xavier_uniform_(self.attend)

    def forward(self, x: Tensor, around: Propagation) -> Tensor:
        hidden = self.linear(x).unflatten(1, (self.heads, self.attend.shape[2]))
        sending, receiving = (hidden * self.attend[:, None]).sum(-1)  # [N, A] each
        logit = sending[around.source] + receiving[around.target]
        if self.edge_logit is not None:
            logit = logit.index_add(0, around.place, self.edge_logit(around.edge_attr).to(logit.dtype))
        share = around.softmax(nn.functional.leaky_relu(logit, 0.2))
        heads = [around.sum(hidden[:, head], share[:, head]) for head in range(self.heads)]
        out = torch.cat(heads, dim=1) + self.bias
        return out if self.edge is None else out + self.edge(around.edge_sum(around.present))


class Encoder(nn.Module):
    """``layers`` message-passing layers with norm, ReLU and dropout between them."""

    def __init__(
        self,
        name: EncoderName,
        width_in: int,
        hidden: int = 128,
        layers: int = 3,
        norm: NormName = "batch",
        dropout: float = 0.0,
        heads: int = 4,
        edge_features: int = 0,
    ) -> None:
        super().__init__()
        self.width_out, self.edge_features = hidden, edge_features
        self.convs, self.norms = nn.ModuleList(), nn.ModuleList()
        for number in range(layers):
            self.convs.append(_layer(name, hidden if number else width_in, hidden, norm, heads, edge_features))
            self.norms.append(make_norm(norm, hidden))
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: Batch, presence: SoftMask | None = None) -> Tensor:
        around = Propagation(batch, presence)
        x = batch.x
        for number, (conv, norm) in enumerate(zip(self.convs, self.norms, strict=True)):
            if number:
                x = self.dropout(torch.relu(x))
            x = norm(conv(x, around), around.node_present)
        return x


def _layer(name: str, width_in: int, width_out: int, norm: NormName, heads: int, edge_features: int) -> nn.Module:
    if name == "gcn":
        return GCNLayer(width_in, width_out, edge_features)
    if name == "gin":
        return GINLayer(width_in, width_out, norm, edge_features)
    if name == "gat":
        return GATLayer(width_in, width_out, heads, edge_features)
    raise ValueError(f"Expected an encoder of gcn, gin, gat (got {name!r})")
