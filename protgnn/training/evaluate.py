"""Run a model over graphs: logits, similarities, and how faithful its explanations are to its computation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.data.parts import PartSet
from protgnn.data.subgraph import cut
from protgnn.errors import ProtGNNError
from protgnn.model.classifier import GraphClassifier, ProtGNN, ProtGNNPlus
from protgnn.model.evidence import Evidence
from protgnn.model.mined import ProtGNNMined

EVALUATION_BATCH = 512
EVALUATION_PARTS = 8192
EVALUATION_NODES = 65_536
UNFAMILIAR_SHARE = 0.01
LARGEST_LOGIT = 1e30
"""Above this, sums and losses overflow."""

VISIBLE = 0.005
"""What is less than this is 0.00 in print, and no reason: a graph with such a similarity resembles nothing."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outputs of a model for G graphs, computed in one pass.

    Attributes:
        logits: ``[G, C]``.
        similar: The similarities to the prototypes, ``[G, K]``; ``None`` for a plain model.
        evidence: How faithful the evidence is, if that was checked.
        base: The share of the logits that no prototype contributes, ``[G, C]``, if the model has one.
    """

    logits: Tensor
    similar: Tensor | None = None
    evidence: dict[str, float] = field(default_factory=dict)
    base: Tensor | None = None


def graphs_at_once(model: GraphClassifier, graphs: Instances) -> int:
    """The number of graphs per batch: fewer if they are large, or if many subgraphs of each are encoded."""
    most = min(EVALUATION_BATCH, max(EVALUATION_PARTS // model.subgraphs_per_graph, 1))
    if isinstance(graphs, GraphSet) and len(graphs):
        most = min(most, max(EVALUATION_NODES // int(graphs.node_counts.max()), 1))
    return most


def evaluation_batches(model: GraphClassifier, graphs: Instances, whole: bool = False) -> Iterator[Batch]:
    """Batches for evaluation; if the model compares evidence, every instance is a graph of its own."""
    return graphs.batches(graphs_at_once(model, graphs), ego=model.compares_evidence and not whole)


@torch.no_grad()
def predict_logits(
    model: GraphClassifier, graphs: Instances, device: torch.device | str = "cpu", whole: bool = False
) -> Tensor:
    """Logits ``[G, C]`` in evaluation mode, on the CPU; ``whole`` compares whole graphs even in ProtGNN+."""
    training = model.training
    model.eval()
    try:
        parts = [model(batch.to(device), whole).cpu() for batch in evaluation_batches(model, graphs, whole)]
    finally:
        model.train(training)
    return torch.cat(parts)


def check_outputs(logits: Tensor, first: int = 0) -> None:
    """Refuse logits ``[B, C]`` that are no numbers; the graphs are numbered from ``first``.

    Raises:
        ProtGNNError: A logit is NaN, infinite or larger than ``LARGEST_LOGIT``.
    """
    odd = (~(logits.abs() <= LARGEST_LOGIT)).any(1).nonzero().squeeze(1)
    if len(odd):
        raise ProtGNNError(
            f"The model gives NaN or infinity for number {first + int(odd[0])}: its features, or the weights of the "
            "model, are too large: check the features, or train again"
        )


@torch.no_grad()
def embeddings(model: GraphClassifier, graphs: Instances) -> Tensor:
    """The embedding of every whole graph in evaluation mode, ``[G, H]``."""
    model.eval()
    return torch.cat([model.embed(batch) for batch in evaluation_batches(model, graphs, whole=True)])


@torch.no_grad()
def similarities(model: ProtGNN, graphs: Instances) -> Tensor:
    """Similarity of every graph to every prototype in evaluation mode, ``[G, K]``."""
    model.eval()
    return torch.cat([model.similarities(batch) for batch in evaluation_batches(model, graphs)])


@torch.no_grad()
def assess(model: GraphClassifier, graphs: Instances, check_evidence: bool = False) -> Outcome:
    """Run a model over graphs once. ``check_evidence`` takes longer: all evidence is cut out and encoded again."""
    found = _assess(model, graphs, check_evidence)
    check_outputs(found.logits)
    return found


def _assess(model: GraphClassifier, graphs: Instances, check_evidence: bool) -> Outcome:
    if not isinstance(model, ProtGNN):
        return Outcome(predict_logits(model, graphs))
    if check_evidence and isinstance(model, ProtGNNPlus):
        return _assess_evidence(model, graphs)
    similar = similarities(model, graphs)
    figures = mined_faithfulness(model, graphs) if check_evidence and isinstance(model, ProtGNNMined) else {}
    base = torch.cat([model.base(batch) for batch in evaluation_batches(model, graphs)])
    return Outcome(model.head.logits_of(similar) + base, similar, figures, base)


@torch.no_grad()
def _assess_evidence(model: ProtGNNPlus, graphs: Instances) -> Outcome:
    """The outcome of a ProtGNN+, and how faithful its evidence is.

    ``evidence_error``: largest difference between a similarity that was used and that of the evidence cut out of its
    graph and encoded without the rest of it. ``evidence_size``: mean number of edges. ``agreement``: share of the
    graphs for which ProtGNN, the same weights on whole graphs, predicts the same class.
    """
    model.eval()
    similar, errors, sizes = [], [], []
    at_once = graphs_at_once(model, graphs)
    for start in range(0, len(graphs), at_once):
        some = graphs[start : start + at_once].ego_graphs()
        batch = some.batch()
        evidence = model.evidence(batch)
        similar.append(model.head.similarity(evidence.distance))
        error, size = _alone(model, some, batch, evidence)
        errors.append(error)
        sizes.append(size)
    used = torch.cat(similar)
    logits = model.head.logits_of(used)
    agree = logits.argmax(1) == predict_logits(model, graphs, whole=True).argmax(1)
    figures = {
        "evidence_error": max(errors),
        "evidence_size": float(torch.cat(sizes).mean()),
        "agreement": float(agree.float().mean()),
    }
    return Outcome(logits, used, figures)


@torch.no_grad()
def mined_faithfulness(model: ProtGNNMined, graphs: Instances) -> dict[str, float]:
    """What mined evidence promises: ``evidence_error`` and ``evidence_size`` as for sampled evidence (of every best
    place, cut out, labelled and encoded alone), ``agreement`` with the guide, the plain GNN of the warm-up, and
    ``without_evidence``: the share of the graphs whose predicted class is ahead of the next one without any part."""
    model.eval()
    error, sizes, without = 0.0, [], []
    at_once = graphs_at_once(model, graphs)
    for start in range(0, len(graphs), at_once):
        some = graphs[start : start + at_once].ego_graphs()
        batch = some.batch()
        found = model.evidence(batch)
        without.append(_ahead_without_parts(model, found.value, model.base(batch)))
        used = found.similar.gather(0, found.places.best)
        sizes.append(torch.from_numpy(found.parts.edges[found.places.best.numpy()]).float().reshape(-1))
        pieces = sorted({(graph, row) for graph, rows in enumerate(found.places.best.tolist()) for row in rows})
        alone = model.similarities_of_parts(_cut_out(some, found.parts, pieces))
        of_piece = {piece: number for number, piece in enumerate(pieces)}
        index = [[of_piece[graph, row] for row in rows] for graph, rows in enumerate(found.places.best.tolist())]
        error = max(error, float((alone.gather(0, torch.tensor(index)) - used).abs().max()))
    guide = torch.cat([model(batch, whole=True) for batch in evaluation_batches(model, graphs, whole=True)]).argmax(1)
    agree = guide == predict_logits(model, graphs).argmax(1)
    figures = {"evidence_error": error, "evidence_size": float(torch.cat(sizes).mean())}
    return {
        **figures,
        "agreement": float(agree.float().mean()),
        "without_evidence": float(torch.cat(without).float().mean()),
    }


def _ahead_without_parts(model: ProtGNNMined, value: Tensor, base: Tensor) -> Tensor:
    """Whether the predicted class is ahead of the runner-up without what parts add to its lead, ``[B]``, given the
    values ``[B, K]`` and the base ``[B, C]``."""
    weight = model.head.last.weight
    first, second = (model.head.logits_of(value) + base).topk(2, dim=1).indices.t()
    gain = value * (weight[first] - weight[second])
    lead = base.gather(1, first[:, None]) - base.gather(1, second[:, None])
    return lead.squeeze(1) + gain.clamp(max=0).sum(1) > 0


def _cut_out(graphs: GraphSet, parts: PartSet, pieces: list[tuple[int, int]]) -> GraphSet:
    """Cut parts out of their graphs; ``pieces`` are pairs of a graph and a row of ``parts``."""
    inside = [
        torch.tensor([bool(parts.masks[row] >> node & 1) for node in range(int(graphs.node_counts[graph]))])
        for graph, row in pieces
    ]
    return cut(graphs, torch.tensor([graph for graph, _ in pieces]), torch.cat(inside))


def _alone(model: ProtGNNPlus, graphs: GraphSet, batch: Batch, evidence: Evidence) -> tuple[float, Tensor]:
    """The evidence of a batch cut out and encoded by itself: the largest error in a similarity, and the edge counts."""
    used, error, sizes = model.head.similarity(evidence.distance), 0.0, []
    for prototype, inside in enumerate(evidence.member(batch).t()):
        alone = cut(graphs, torch.arange(len(graphs)), inside)
        sizes.append(alone.edge_counts / 2)
        h = model.embed_parts(alone.batch())
        expected = model.head.similarity((h - model.head.vectors[prototype]).square().sum(1))
        error = max(error, float((expected - used[:, prototype]).abs().max()))
    return error, torch.cat(sizes)


def familiarity(similar: Tensor) -> float | None:
    """The similarity to the nearest prototype that all but one in a hundred validation graphs reach, ``[G, K] → []``.

    A graph below it is unlike anything the model was trained on, whatever class it is given. Nothing where ordinary
    graphs resemble no prototype, as many do of mined ones: similarities then do not tell what is strange.
    """
    reached = float(similar.max(1).values.quantile(UNFAMILIAR_SHARE))
    return reached if reached >= VISIBLE else None


@torch.no_grad()
def faithfulness(model: ProtGNN, outcome: Outcome, subgraphs: GraphSet) -> dict[str, float]:
    """How faithful the explanations of a model are.

    ``prototype_error``: largest difference between a prototype and its subgraph encoded alone. ``sum_error``:
    largest difference between summed contributions and logits. ``median_similarity``: of the graphs to the nearest
    prototype of the class they are predicted to be, among those whose class has prototypes; 0 where none has. ProtGNN+
    has three more, see :func:`assess`.
    """
    assert outcome.similar is not None
    head, similar, logits = model.eval().head, outcome.similar, outcome.logits
    alone = torch.cat([model.embed_parts(subgraphs[number].batch()) for number in range(len(subgraphs))])
    summed = torch.stack([(similar * weight).sum(1) for weight in head.last.weight], 1)  # contributions, [G, C]
    if outcome.base is not None:
        summed = summed + outcome.base
    other = head.classes[None] != logits.argmax(1)[:, None]
    nearest = similar.masked_fill(other, -torch.inf).max(1).values[~other.all(1)]
    return {
        "prototype_error": float((alone - head.vectors).abs().max()),
        "sum_error": float((summed - logits).abs().max()),
        "median_similarity": float(nearest.median()) if len(nearest) else 0.0,
        **outcome.evidence,
    }
