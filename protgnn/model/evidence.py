"""Evidence: the subgraph of a graph that a prototype is compared with, chosen by proposing and comparing.

The sampler scores every edge for every prototype, and a connected subgraph is grown from the scores for each: the
candidates. All candidates of a graph are encoded, and every prototype takes the one that is nearest to it. What is
shown is therefore what was compared, cut out and alone.

Candidates must differ: where the sampler has no opinion, all prototypes would be offered the same subgraph, and one
that is never offered is never learned. Each candidate therefore looks at the graph from a viewpoint of its own, a fixed
random direction of the node embeddings, which counts as much as one unit of the sampler's logit; and some candidates
are made from a viewpoint alone. Viewpoints know nothing of the order of the nodes. Candidates are as large as the
budget allows. Both are ours, not the paper's: docs/decisions/0003.

The sampler learns Eq. 13, ``max sim(p_k, f(G_s)) - λ_b R_b``, by imitation: candidates are drawn with the noise of the
concrete relaxation, and the edges of the candidate that turned out nearest to a prototype become likelier for it, the
others less likely. The paper's gradient through a relaxed mask did not find similar subgraphs: docs/decisions/0004.
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
"""Edge scores are compared after rounding: edges that look the same tie, whatever batch they were encoded in."""


@dataclass(frozen=True)
class EvidenceOptions:
    """How many edges a candidate has at most (B), and how many candidates of a graph are offered beside the
    sampler's, from viewpoints alone."""

    max_edges: int = 10
    extra_candidates: int = 10


@dataclass(frozen=True)
class Exploration:
    """Noise on the scores: how candidates differ from what the sampler has learned so far."""

    scale: float
    generator: torch.Generator


@dataclass(frozen=True, eq=False)
class Evidence:
    """The candidates for a batch, and for graph b and prototype k the number ``candidate [B, K]`` of the nearest one
    and its squared distance ``distance [B, K]``."""

    parts: CandidateSubgraphs
    candidate: Tensor
    distance: Tensor

    @property
    def part(self) -> Tensor:
        """The row of ``parts.batch`` that each prototype is compared with, ``[B, K]``."""
        return self.parts.part.to(self.candidate.device).gather(1, self.candidate)

    def member(self, batch: Batch) -> Tensor:
        """Whether a node is in the evidence for a prototype, bool ``[N, K]``."""
        return self.parts.member.t().to(self.candidate.device).gather(1, self.candidate[batch.batch])


@dataclass(frozen=True, eq=False)
class Proposals:
    """What the sampler offers: its ``logit [U, K]`` of the edges ``once [U]``, each listed in one direction, and the
    candidates ``parts`` grown from that."""

    once: Tensor
    logit: Tensor
    parts: CandidateSubgraphs


def propose(
    sampler: Sampler,
    z: Tensor,
    batch: Batch,
    prototypes: Tensor,
    options: EvidenceOptions,
    exploration: Exploration | None = None,
    units: Sequence[Units] | None = None,
) -> Proposals:
    """A connected subgraph of every graph for each of the prototypes ``[K, H]``, given node embeddings ``[N, H]``; with
    the ``units`` of the graphs it cuts none."""
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
    """How far every edge lies in the direction of every viewpoint, ``[U, K]``, standardised within each graph."""
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


def nearest(distance: Tensor, parts: CandidateSubgraphs) -> Evidence:
    """Let every prototype take the nearest candidate, given distances ``[P, K]`` of all to all prototypes."""
    of_graph = distance[parts.part.to(distance.device)]  # [B, candidates, K]
    # Candidates that look the same are equally near but for rounding, which depends on the batch: take the first.
    candidate = (of_graph.detach() + 1e-3).log().round(decimals=4).argmin(1)
    return Evidence(parts, candidate, of_graph.gather(1, candidate[:, None]).squeeze(1))


def imitation(proposals: Proposals, batch: Batch, evidence: Evidence, budget: float, max_edges: int) -> Tensor:
    """Eq. 13 and 14 by imitation: cross-entropy of ``e_ij`` to the nearest candidates, plus ``λ_b ReLU(Σ e_ij - B)``.

    The edges inside count as much as those outside, so that a sampler that knows nothing says 0.
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
    """The edges in one of their two directions, ``[U]``."""
    source, target = batch.edge_index
    once: Tensor = (source < target).nonzero().squeeze(1)
    return once
