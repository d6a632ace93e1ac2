"""What a model compared with its prototypes in a batch: values, and the nodes behind them."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.model.classifier import ProtGNN, ProtGNNPlus
from protgnn.model.composition import amounts
from protgnn.model.mined import ProtGNNMined

Pair = tuple[int, int]
"""A graph of the batch and a prototype."""


@dataclass(frozen=True, eq=False)
class AmountsAdded:
    """The amounts ``[Q]`` of one graph, and what the composition adds for each to every class, ``[Q, C]``."""

    amount: Tensor
    added: Tensor


@dataclass(frozen=True, eq=False)
class Comparison:
    """The values ``[B, K]`` that enter the logits and what is added to them, ``base [B, C]``; the nodes of the
    evidence of each pair (none where whole graphs are compared); of mined prototypes all places where they are found,
    the evidence first; what the composition adds; whether the model has a base at all, or only zeros in its place;
    and of mined prototypes how much each looks like its evidence, ``resemblance [B, K]``."""

    value: Tensor
    base: Tensor
    evidence: dict[Pair, tuple[int, ...]] = field(default_factory=dict)
    places: dict[Pair, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    made_of: list[AmountsAdded] | None = None
    has_base: bool = False
    resemblance: Tensor | None = None


@torch.no_grad()
def compare(model: ProtGNN, batch: Batch, reasons: bool = True) -> Comparison:
    """Compare the graphs of a batch with the prototypes, as the model does to classify them; without ``reasons``, what
    the composition adds for each amount is left out."""
    made_of = _made_of(model, batch) if reasons else None
    if isinstance(model, ProtGNNMined):
        mined = model.evidence(batch)
        places = {pair: tuple(nodes) for pair, nodes in mined.nodes().items()}
        best = {pair: nodes[0] for pair, nodes in places.items()}
        base = model.base(batch).cpu()
        return Comparison(mined.value, base, best, places, made_of, has_base=True, resemblance=mined.resemblance)
    if isinstance(model, ProtGNNPlus):
        sampled = model.evidence(batch)
        similar = model.head.similarity(sampled.distance)
        return Comparison(similar, model.base(batch), _nodes(sampled.member(batch), batch))
    has_base = model.composition is not None and model.composition.is_fitted
    return Comparison(model.similarities(batch), model.base(batch), made_of=made_of, has_base=has_base)


def _made_of(model: ProtGNN, batch: Batch) -> list[AmountsAdded] | None:
    if model.composition is None or not model.composition.is_fitted:
        return None
    pairs = zip(amounts(batch).cpu(), model.composition.each(batch).cpu(), strict=True)
    return [AmountsAdded(amount, added) for amount, added in pairs]


@torch.no_grad()
def compared_embeddings(model: ProtGNN, batch: Batch) -> Tensor:
    """What was compared, ``[B, H]``: the graph, or the evidence that is most like a prototype."""
    if isinstance(model, ProtGNNMined):
        mined = model.evidence(batch)
        best = mined.places.best
        nearest = best.gather(1, mined.similar.gather(0, best).argmax(1, keepdim=True)).squeeze(1)
        return model.embed_all(mined.parts.graphs)[torch.from_numpy(mined.parts.distinct)[nearest]]
    if isinstance(model, ProtGNNPlus):
        sampled = model.evidence(batch)
        nearest = sampled.row.gather(1, sampled.distance.argmin(1, keepdim=True)).squeeze(1)
        return model.embed_parts(sampled.candidates.batch)[nearest]
    return model.embed(batch)


def _nodes(member: Tensor, batch: Batch) -> dict[Pair, tuple[int, ...]]:
    """The nodes of the evidence for each graph and prototype, from ``member [N, K]``."""
    starts = batch.node_counts.cumsum(0) - batch.node_counts
    nodes: dict[Pair, list[int]] = {}
    place, prototype = member.nonzero().t()
    graph = batch.batch[place]
    local = place - starts[graph]
    for number, column, node in zip(graph.tolist(), prototype.tolist(), local.tolist(), strict=True):
        nodes.setdefault((number, column), []).append(node)
    return {pair: tuple(found) for pair, found in nodes.items()}
