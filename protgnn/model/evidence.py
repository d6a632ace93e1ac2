"""Evidence: the subgraph of a graph that a prototype is compared with. Candidates are proposed; the nearest is taken.

The sampler scores every edge for every prototype, and for each prototype a connected subgraph is grown from its scores:
a candidate. All candidates of a graph are encoded, and every prototype takes the nearest one, whichever prototype it
was proposed for. A picture of the evidence therefore shows exactly what was compared: a subgraph, cut out and encoded
alone.

Candidates must differ. An untrained sampler would propose the same subgraph for all prototypes, and a subgraph that is
never proposed is never learned. Each candidate therefore has a *viewpoint*, a fixed random direction in the space of
node embeddings; how far an edge lies in that direction counts as much as one unit of the sampler's logit. Further
candidates have a viewpoint only. Viewpoints do not depend on the order of the nodes. Candidates are as large as the
budget allows. Viewpoints and candidate size are ours, not the paper's: docs/decisions/0003.

The sampler learns Eq. 13, ``max sim(p_k, f(G_s)) - λ_b R_b``, by imitation: candidates are drawn with the noise of the
concrete relaxation, and the edges of the candidate nearest to a prototype become likelier for it, the others less
likely. The paper's gradient through a relaxed mask did not find similar subgraphs: docs/decisions/0004.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from protgnn.data.batch import Batch
from protgnn.data.grow import CandidateSubgraphs, cut_parts, grow
from protgnn.data.units import Units
from protgnn.model.sampler import Sampler, logistic_noise

DECIMALS = 3
"""Edge scores are rounded before they are compared, so that equivalent edges tie in whatever batch they are encoded."""


@dataclass(frozen=True)
class EvidenceOptions:
    """The budget B of edges of a candidate, and the number of candidates per graph from viewpoints alone."""

    max_edges: int = 10
    extra_candidates: int = 10


@dataclass(frozen=True)
class Exploration:
    """Noise on the edge scores, so that training also proposes candidates that the sampler does not prefer yet."""

    scale: float
    generator: torch.Generator


@dataclass(frozen=True, eq=False)
class Evidence:
    """The nearest candidate for each graph and prototype.

    Attributes:
        candidates: All candidates of the batch.
        candidate: The number of the nearest candidate of graph b to prototype k, ``[B, K]``.
        distance: Its squared distance, ``[B, K]``.
    """

    candidates: CandidateSubgraphs
    candidate: Tensor
    distance: Tensor

    @property
    def row(self) -> Tensor:
        """The graph of ``candidates.batch`` that each prototype is compared with, ``[B, K]``."""
        return self.candidates.row.to(self.candidate.device).gather(1, self.candidate)

    def member(self, batch: Batch) -> Tensor:
        """Whether a node is in the evidence for a prototype, bool ``[N, K]``."""
        return self.candidates.member.t().to(self.candidate.device).gather(1, self.candidate[batch.batch])


@dataclass(frozen=True, eq=False)
class Proposals:
    """The candidates, and the sampler's logits that they were grown from.

    Attributes:
        once: The U undirected edges, each as the number of one of its two directed edges, ``[U]``.
        logit: The sampler's logit of each undirected edge for each prototype, ``[U, K]``.
        candidates: One for each prototype, then those from viewpoints alone.
    """

    once: Tensor
    logit: Tensor
    candidates: CandidateSubgraphs


def propose(
    sampler: Sampler,
    z: Tensor,
    batch: Batch,
    prototypes: Tensor,
    options: EvidenceOptions,
    exploration: Exploration | None = None,
    units: Sequence[Units] | None = None,
) -> Proposals:
    """Propose candidates of every graph: a connected subgraph for each prototype, and those from viewpoints alone.

    Args:
        sampler: Scores edges for prototypes.
        z: Node embeddings, ``[N, H]``.
        batch: The graphs.
        prototypes: ``[K, H]``.
        options: The budget of edges, and the number of further candidates.
        exploration: Noise on the scores, in training.
        units: The units of each graph; with them no candidate cuts a unit.
    """
    once = _once(batch)
    ends = batch.edge_index[:, once]
    logit = sampler(z, ends, prototypes)
    offered = len(prototypes) + options.extra_candidates
    score = from_viewpoints(z, ends, batch.batch[ends[0]], batch.num_graphs, offered)
    score[:, : len(prototypes)] += logit.detach()
    score = score.t().round(decimals=DECIMALS) + 0.0  # there is a -0.0, which would be less than 0.0
    if exploration is not None:
        score = score + logistic_noise(score, exploration.generator) * exploration.scale
    alone = score.new_zeros(offered, len(z))
    if bool((batch.edge_counts == 0).any()):
        every = torch.arange(len(z), device=z.device).expand(2, -1)
        alone[: len(prototypes)] = sampler(z, every, prototypes).detach().t()
    both = score.new_full((len(score), batch.edge_index.shape[1]), -torch.inf)
    both[:, once] = both[:, batch.reverse[once]] = score
    return Proposals(once, logit, cut_parts(batch, grow(batch, both, alone, options.max_edges, units)))


def from_viewpoints(z: Tensor, ends: Tensor, graph: Tensor, graphs: int, candidates: int) -> Tensor:
    """How far each edge lies in the direction of each viewpoint, ``[U, candidates]``, standardised within each graph.

    Args:
        z: Node embeddings, ``[N, H]``.
        ends: The two nodes of each undirected edge, ``[2, U]``.
        graph: The graph of each edge, ``[U]``.
        graphs: The number of graphs.
        candidates: The number of viewpoints.
    """
    direction = _viewpoints(candidates, z.shape[1]).to(z)
    node = z @ direction.t()
    height = node[ends[0]] + node[ends[1]]
    edges = torch.bincount(graph, minlength=graphs).clamp(min=1).to(z.dtype)[:, None]
    zeros = z.new_zeros(graphs, candidates)
    height = height - (zeros.index_add(0, graph, height) / edges)[graph]
    spread = (zeros.index_add(0, graph, height.square()) / edges).sqrt()[graph]
    standard: Tensor = height / (spread + 1e-3)
    return standard


@cache
def _viewpoints(candidates: int, width: int) -> Tensor:
    directions = torch.randn(candidates, width, generator=torch.Generator().manual_seed(0))
    return nn.functional.normalize(directions)


def nearest(distance: Tensor, candidates: CandidateSubgraphs) -> Evidence:
    """Let every prototype take the nearest candidate, given the distances ``[P, K]`` of all candidates."""
    of_graph = distance[candidates.row.to(distance.device)]  # [B, candidates, K]
    # Isomorphic candidates differ by rounding errors, which depend on the batch: take the first.
    candidate = (of_graph.detach() + 1e-3).log().round(decimals=4).argmin(1)
    return Evidence(candidates, candidate, of_graph.gather(1, candidate[:, None]).squeeze(1))


def imitation(proposals: Proposals, batch: Batch, evidence: Evidence, budget: float, max_edges: int) -> Tensor:
    """Eq. 13 and 14 by imitation: cross-entropy of ``e_ij`` to the nearest candidates, plus ``λ_b ReLU(Σ e_ij - B)``.

    Edges inside and outside of the evidence have equal weight in total, so an untrained sampler has a logit near 0.
    """
    logit, ends = proposals.logit, batch.edge_index[:, proposals.once]
    if not len(logit):
        return logit.new_zeros(())
    member = evidence.member(batch)
    inside = (member[ends[0]] & member[ends[1]]).to(logit.dtype)
    share = inside.mean().clamp(0.01, 0.99)
    weight = torch.where(inside > 0, 0.5 / share, 0.5 / (1 - share))
    zeros = logit.new_zeros(batch.num_graphs, logit.shape[1])
    size = zeros.index_add(0, batch.batch[ends[0]], logit.sigmoid())
    return binary_cross_entropy_with_logits(logit, inside, weight) + budget * torch.relu(size - max_edges).mean()


def _once(batch: Batch) -> Tensor:
    """One of the two directions of each edge, ``[U]``."""
    source, target = batch.edge_index
    once: Tensor = (source < target).nonzero().squeeze(1)
    return once
