"""GSAT (Miao et al. 2022) and GMT (Chen et al. 2024), written from their papers: GNNs that explain by edge attention.

An *extractor* gives every edge the probability to be kept, from the embeddings of its two ends in the whole graph; the
same encoder then classifies the graph with its edges so weighed. The cost of information, the divergence of these
probabilities from a prior r that falls during training, pushes all edges to r that the label does not need.

==========  ==========================================================================================================
``gsat``    the classifier sees one draw of the relaxed (concrete) distribution, and outside of training the
            probabilities as weights
``gmt``     GMT-sam, Eq. 12: the mean over several discrete draws, with straight-through gradients
==========  ==========================================================================================================

Edges are scored by their probability. After GMT-sam has learned its extractor, the paper learns another classifier for
the frozen extractor. That changes no score of an edge and is left out; the class is what the mean over draws says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor, nn
from torch_geometric.nn import InstanceNorm

from benchmarks.league.scoring import Explained, from_edges
from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet
from protgnn.model.batch_norm_stats import SubgraphBatchNormStats
from protgnn.model.encoders import Encoder, EncoderName
from protgnn.model.message_passing import SoftMask
from protgnn.model.readout import readout

AttentionMethod = Literal["gsat", "gmt"]


@dataclass(frozen=True)
class AttentionSettings:
    """What the papers set for BA-2Motifs with GIN; ``layers`` is 2 for graphs and 3 for nodes, which see no further.

    ``information`` weighs the divergence from the prior, which starts at ``first_prior`` and falls by ``prior_step``
    every ``prior_epochs`` epochs down to ``last_prior``. ``draws`` are those of GMT in a training step.
    """

    hidden: int = 64
    layers: int = 2
    dropout: float = 0.3
    extractor_dropout: float = 0.5
    epochs: int = 100
    batch_size: int = 128
    lr: float = 1e-3
    information: float = 1.0
    first_prior: float = 0.9
    last_prior: float = 0.5
    prior_step: float = 0.1
    prior_epochs: int = 10
    draws: int = 1

    def prior(self, epoch: int) -> float:
        """r in an epoch."""
        return max(self.first_prior - self.prior_step * (epoch // self.prior_epochs), self.last_prior)


def settings_of(method: AttentionMethod, nodes: bool = False) -> AttentionSettings:
    """The settings of a method; ``nodes`` where single nodes are classified."""
    layers = 3 if nodes else 2
    return (
        AttentionSettings(layers=layers)
        if method == "gsat"
        else AttentionSettings(layers=layers, draws=10, information=0.1)
    )


class Extractor(nn.Module):
    """The logit of every edge ``[E]`` from the embeddings ``[N, H]`` of its ends, normalised within its graph."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.source, self.target = nn.Linear(width, 2 * width), nn.Linear(width, 2 * width, bias=False)
        self.hidden, self.last = nn.Linear(2 * width, width), nn.Linear(width, 1)
        self.norms = nn.ModuleList([InstanceNorm(2 * width), InstanceNorm(width)])
        self.dropout = nn.Dropout(dropout)

    def forward(self, z: Tensor, batch: Batch) -> Tensor:
        source, target = batch.edge_index
        owner = batch.batch[source]
        first = self.source(z)[source] + self.target(z)[target]  # a linear layer on both ends, computed per node
        hidden = self.hidden(self.dropout(torch.relu(self.norms[0](first, owner, batch.num_graphs))))
        hidden = self.dropout(torch.relu(self.norms[1](hidden, owner, batch.num_graphs)))
        result: Tensor = self.last(hidden).squeeze(1)
        return result


class StochasticAttention(nn.Module):
    """The encoder, which extractor and classifier share, the extractor, and a linear head on the sum over nodes.

    Graphs with weighed edges have batch-norm statistics of their own; with one set for both, accuracy falls to chance.
    """

    def __init__(self, encoder: Encoder, classes: int, method: AttentionMethod, settings: AttentionSettings) -> None:
        super().__init__()
        self.encoder, self.method, self.settings = encoder, method, settings
        self.extractor = Extractor(encoder.width_out, settings.extractor_dropout)
        self.head = nn.Linear(encoder.width_out, classes)
        self.weighed = SubgraphBatchNormStats(encoder)

    def attention(self, batch: Batch) -> Tensor:
        """The logit of each edge's probability, ``[E]``; the mean of both directions."""
        logit: Tensor = self.extractor(self.encoder(batch), batch)
        return (logit + logit[batch.reverse]) / 2

    def classify(self, batch: Batch, weight: Tensor) -> Tensor:
        """Logits ``[B, C]`` of the graphs with edges weighed by ``[E]``."""
        with self.weighed.in_use():
            z = self.encoder(batch, SoftMask(edge=weight))
        result: Tensor = self.head(readout("sum" if batch.targets is None else "target", z, batch))
        return result

    def draw(self, logit: Tensor, batch: Batch) -> Tensor:
        """Weights of edges ``[E]`` drawn from the relaxed distribution, the same for both directions; of GMT 0 or 1
        with the gradient of the relaxed."""
        uniform = torch.rand_like(logit).clamp(1e-6, 1 - 1e-6)
        uniform = torch.where(batch.edge_index[0] < batch.edge_index[1], uniform, uniform[batch.reverse])
        soft = (logit + uniform.log() - (1 - uniform).log()).sigmoid()
        return soft if self.method == "gsat" else (soft > 0.5).float() - soft.detach() + soft

    def forward(self, batch: Batch) -> Tensor:
        """Log-probabilities ``[B, C]``: of the weighed graph (GSAT), or of the mean over draws (GMT)."""
        logit = self.attention(batch)
        if self.method == "gsat":
            return self.classify(batch, logit.sigmoid()).log_softmax(1)
        return self.mean_over_draws(logit, batch)

    def mean_over_draws(self, logit: Tensor, batch: Batch) -> Tensor:
        """Log-probabilities ``[B, C]`` of the mean output over draws, Eq. 12 of GMT.

        Outputs are logits, of which every draw gets the same share of the gradient. A mean of probabilities teaches by
        the draws that are right already and leaves those alone that have lost the motif.
        """
        said = [self.classify(batch, self.draw(logit, batch)) for _ in range(self.settings.draws)]
        return torch.stack(said).mean(0).log_softmax(1)

    def loss(self, batch: Batch, prior: float) -> Tensor:
        """Cross-entropy of drawn graphs, and the divergence of the edges' probabilities from the prior."""
        logit = self.attention(batch)
        keep = logit.sigmoid().clamp(1e-6, 1 - 1e-6)
        r = torch.tensor(prior)
        information = keep * (keep / r).log() + (1 - keep) * ((1 - keep) / (1 - r)).log()
        assert batch.y is not None
        wrong = nn.functional.nll_loss(self.mean_over_draws(logit, batch), batch.y)
        return wrong + self.settings.information * information.mean()

    @torch.no_grad()
    def scores(self, batch: Batch) -> Explained:
        """The probability of each edge."""
        return from_edges(self.attention(batch).sigmoid(), batch)


def train_attention(
    method: AttentionMethod,
    encoder: EncoderName,
    train: GraphSet,
    valid: GraphSet,
    seed: int,
    settings: AttentionSettings | None = None,
) -> StochasticAttention:
    """Train with Adam. As in the papers, the state is the one of the best validation accuracy after the prior has come
    to rest; of equals the last one."""
    settings = settings or settings_of(method, train.targets is not None)
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    gnn = Encoder(
        encoder, train.num_features, settings.hidden, settings.layers, "batch", settings.dropout,
        edge_features=train.num_edge_features,
    )  # fmt: skip
    model = StochasticAttention(gnn, train.schema.num_classes, method, settings)
    optimiser = torch.optim.Adam(model.parameters(), lr=settings.lr)
    best, kept = -1.0, {name: value.clone() for name, value in model.state_dict().items()}
    for epoch in range(settings.epochs):
        model.train()
        for batch in train.shuffled(torch.randperm(len(train), generator=generator), settings.batch_size):
            optimiser.zero_grad()
            model.loss(batch, settings.prior(epoch)).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        if settings.prior(epoch) <= settings.last_prior:
            accuracy = accuracy_of(model, valid)
            if accuracy >= best:
                best, kept = accuracy, {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(kept)
    return model.eval()


@torch.no_grad()
def attention_logits(model: StochasticAttention, graphs: GraphSet) -> Tensor:
    """Log-probabilities ``[G, C]``, with the same draws each time."""
    model.eval()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return torch.cat([model(batch) for batch in _batches(graphs)])


def accuracy_of(model: StochasticAttention, graphs: GraphSet) -> float:
    """Accuracy on labelled graphs."""
    assert graphs.y is not None
    return float((attention_logits(model, graphs).argmax(1) == graphs.y).float().mean())


def _batches(graphs: GraphSet) -> Iterator[Batch]:
    return (replace(batch) for batch in graphs.batches(256))
