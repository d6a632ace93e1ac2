"""Theorem 1: when a prediction of ProtGNN is guaranteed to survive in ProtGNN+.

ProtGNN compares the embedding h of the whole graph with every prototype, ProtGNN+ the embedding h_j of the evidence
for prototype j. Write d = ‖h - p_j‖², d' = ‖h_j - p_j‖², t = ‖h - h_j‖ and s(d) = log((d + 1) / (d + ε)), which falls
as d grows. Fix a δ in (0, 1).

*A similarity that falls.* If t ≤ (√(1+δ) - 1) √d, then √d' ≤ √d + t ≤ √(1+δ) √d, so d' ≤ (1+δ) d, and

    s(d') ≥ s((1+δ) d) = log(((1+δ) d + 1) / ((1+δ) d + ε)) ≥ log((d + 1) / ((1+δ) (d + ε))) = s(d) - log(1+δ).

*A similarity that rises.* If t ≤ θ √d - √ε with θ = min(√(1+δ) - 1, 1 - 1/√(2-δ)), then d' ≤ (1+δ) d as before, so
(d' + 1) / (d + 1) ≤ 1+δ. Also √d' ≥ √d - t ≥ √d / √(2-δ) + √ε, so d' ≥ d / (2-δ) + ε ≥ (d + ε) / (2-δ), and
(d + ε) / (d' + ε) ≤ 2-δ. Together

    s(d') = s(d) + log((d' + 1) / (d + 1)) + log((d + ε) / (d' + ε)) ≤ s(d) + log((1+δ) (2-δ)).

This is where the paper's proof writes ≥ for the wrong classes and needs ≤.

*The margin.* For the predicted class y and any other class c let a_j = w_yj - w_cj, so that the margin of ProtGNN is
Σ a_j s(d_j). It can shrink by log(1+δ) for each unit of positive a_j and by log((1+δ)(2-δ)) for each unit of negative
a_j. If the first assumption holds for every j with a_j > 0, the second for every j with a_j < 0, for *every* c, and
each margin is larger than what it can shrink by, ProtGNN+ predicts y too.

With the weights of the paper (1 for the own class, 0 for others, m prototypes each) the shrinkage is at most
2 m log((1+δ)(2-δ)), the paper's bound. Its further assumption √d ≤ √(1-δ) is not needed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from protgnn.data.network.instances import Instances
from protgnn.errors import ProtGNNError
from protgnn.model.classifier import GraphClassifier, ProtGNNPlus
from protgnn.model.prototype_layer import similarity
from protgnn.training.evaluate import evaluation_batches

DELTAS = 199
"""Values of δ that are tried, evenly spread over (0, 1)."""

ROUNDING = 1e-5
"""A margin must exceed what it needs by more than the arithmetic may be off."""


@dataclass(frozen=True)
class Certificate:
    """What Theorem 1 says of one graph.

    ``holds``: its assumptions hold for some δ. ``delta`` is then the best one, ``margin`` the margin of ProtGNN to the
    class that comes nearest to overtaking, ``needs`` what that margin may shrink by, and ``certified`` whether it is
    larger. ``survived``: ProtGNN+ does predict the same class.
    """

    holds: bool
    delta: float | None
    margin: float
    needs: float | None
    certified: bool
    survived: bool


def certify(distance: Tensor, shift: Tensor, weight: Tensor, epsilon: float) -> list[tuple[float | None, float, float]]:
    """For every graph the best δ (none where the assumptions hold for none), the margin, and what it needs.

    ``distance [G, K]`` are ‖h - p_j‖², ``shift [G, K]`` are ‖h - h_j‖, ``weight [C, K]`` those of the last layer.
    """
    distance, shift, weight = distance.double(), shift.double(), weight.double()
    delta = torch.linspace(0, 1, DELTAS + 2, dtype=torch.float64)[1:-1]
    theta = torch.minimum((1 + delta).sqrt() - 1, 1 - (2 - delta).rsqrt())
    falls, rises = (1 + delta).log(), ((1 + delta) * (2 - delta)).log()
    root = distance.sqrt()
    may_fall = shift[..., None] <= ((1 + delta).sqrt() - 1) * root[..., None]  # [G, K, δ]
    may_rise = shift[..., None] <= theta * root[..., None] - epsilon**0.5
    similar = similarity(distance, epsilon)
    logits = similar @ weight.t()
    results: list[tuple[float | None, float, float]] = []
    for graph, best in enumerate(logits.argmax(1).tolist()):
        ahead = torch.cat([weight[best] - weight[:best], weight[best] - weight[best + 1 :]])  # [C - 1, K]
        margin = ahead @ similar[graph]
        fine = torch.where(ahead[..., None] > 0, may_fall[graph], may_rise[graph]) | (ahead[..., None] == 0)
        needs = ahead.clamp(min=0).sum(1, keepdim=True) * falls - ahead.clamp(max=0).sum(1, keepdim=True) * rises
        slack = (margin[:, None] - needs).masked_fill(~fine.all(1), -torch.inf).min(0).values  # [δ]
        if bool(slack.isinf().all()):
            results.append((None, float(margin.min()), float("nan")))
            continue
        chosen = int(slack.argmax())
        rival = int((margin - needs[:, chosen]).argmin())
        results.append((float(delta[chosen]), float(margin[rival]), float(needs[rival, chosen])))
    return results


@torch.no_grad()
def certificates(model: GraphClassifier, graphs: Instances) -> list[Certificate]:
    """A certificate for every graph, given a ProtGNN+, whose weights on whole graphs are the ProtGNN."""
    if not isinstance(model, ProtGNNPlus):
        raise ProtGNNError(
            "Theorem 1 compares ProtGNN with ProtGNN+ of the same weights: train with --plus and evidence=sampled"
        )
    head = model.eval().head
    found: list[Certificate] = []
    everything = torch.cat([model.embed(batch) for batch in evaluation_batches(model, graphs, whole=True)])
    for batch in evaluation_batches(model, graphs):
        evidence = model.evidence(batch)
        whole, parts = everything[len(found) :][: batch.num_graphs], model.embed_parts(evidence.candidates.batch)
        distance = head.distances(whole)
        shift = (whole[:, None] - parts[evidence.row]).norm(dim=-1)
        same = head.logits(distance).argmax(1) == head.logits(evidence.distance).argmax(1)
        rows = certify(distance, shift, head.last.weight, head.epsilon)
        for (delta, margin, needs), survived in zip(rows, same.tolist(), strict=True):
            certified = delta is not None and margin > needs + ROUNDING
            found.append(
                Certificate(delta is not None, delta, margin, None if delta is None else needs, certified, survived)
            )
    return found


def summarise(found: list[Certificate]) -> dict[str, Any]:
    """How many graphs meet the assumptions, are certified and survived, and the certificates themselves."""
    return {
        "n": len(found),
        "assumptions_hold": sum(one.holds for one in found),
        "certified": sum(one.certified for one in found),
        "survived": sum(one.survived for one in found),
        "certified_and_flipped": sum(one.certified and not one.survived for one in found),
        "graphs": [asdict(one) for one in found],
    }
