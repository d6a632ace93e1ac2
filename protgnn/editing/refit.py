"""The last layer after an edit: refitted on similarities that are kept, as at the end of training."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from protgnn.data.network.instances import Instances
from protgnn.data.parts import PartSet
from protgnn.model.classifier import ProtGNN, ProtGNNPlus
from protgnn.model.mined import MinedEvidence, ProtGNNMined
from protgnn.training.calibration import fit_temperature
from protgnn.training.edits import Snapshot, StoredSource
from protgnn.training.evaluate import Outcome, embeddings, similarities
from protgnn.training.fit_weights import fit_weights
from protgnn.training.last_layer import refine
from protgnn.training.mined_algorithm import FIRST_WEIGHT, HEAD_STEPS, place_prototypes
from protgnn.training.prototype_subgraphs import cut_subgraphs
from protgnn.training.selection import Criterion, roc_auc_of

BLENDED = 0.9
"""Mined weights of less than this share of what they are alone were averaged with a composition."""


class KeptSimilarities:
    """The similarities of some graphs to any prototypes, with what does not depend on these computed once.

    A ProtGNN keeps the embeddings of whole graphs, a mined ProtGNN+ the candidate parts and their embeddings. In a
    sampled ProtGNN+ other prototypes find other evidence, and nothing can be kept.
    """

    def __init__(self, graphs: Instances) -> None:
        self.graphs = graphs
        self._h: Tensor | None = None
        self._parts: PartSet | None = None

    def forget(self) -> None:
        """Compute everything anew: the encoder has changed."""
        self._h = self._parts = None

    @torch.no_grad()
    def of(self, model: ProtGNN) -> Tensor:
        """The similarities, or what mined prototypes make of them, ``[G, K]``."""
        if isinstance(model, ProtGNNMined):
            return self.mined(model).value
        if isinstance(model, ProtGNNPlus):
            return similarities(model, self.graphs)
        if self._h is None:
            self._h = embeddings(model, self.graphs)
        return model.head.similarity(model.head.distances(self._h))

    @torch.no_grad()
    def added(self, model: ProtGNN) -> Tensor | float:
        """What the composition of the graphs adds to their logits, ``[G, C]``; zero without one."""
        return 0.0 if model.composition is None else model.added(self.graphs.ego_graphs().batch())

    @torch.no_grad()
    def outcome(self, model: ProtGNN) -> Outcome:
        """What the model makes of the graphs."""
        similar = self.of(model)
        logits = model.head.logits_of(similar)
        base = torch.zeros_like(logits) + self.added(model)
        if isinstance(model, ProtGNNMined):
            base = base + model.head.base
        return Outcome(logits + base, similar, base=base)

    @torch.no_grad()
    def mined(self, model: ProtGNNMined) -> MinedEvidence:
        """The evidence of mined prototypes."""
        model.eval()
        if self._parts is None or self._h is None:
            self._parts = model.candidates(self.graphs.ego_graphs().batch())
            self._h = model.embed_all(self._parts.graphs).cpu()
        return model.compare(self._parts, self._h, model.unlike(self._parts))

    def share_of_parts(self, model: ProtGNN, criterion: Criterion) -> float:
        """What share of the weights that mined prototypes would have alone a model gives them; 1 if all of them.

        Where the logits were averaged with those of a composition (``training/add_composition.py``), weights are
        smaller. Refitted beside the composition they would grow back, and the edit would undo the averaging.
        """
        head, y = model.head, self.graphs.y
        if not isinstance(model, ProtGNNMined) or model.composition is None or not len(head.classes):
            return 1.0
        assert y is not None
        values, own = self.of(model).detach(), head.last.weight.detach().gather(0, head.classes[None]).squeeze(0)
        base = model.head.base.detach()
        alone, _ = fit_weights(values, y, head.classes, own, base, HEAD_STEPS, criterion.class_weight)
        share = float(own @ alone / (alone @ alone).clamp(min=1e-12))
        return share if 0 < share < BLENDED else 1.0


@torch.no_grad()
def place(model: ProtGNN, train: Instances, sources: list[StoredSource], weight: Tensor) -> None:
    """Give a model the prototypes of these sources, each the embedding of its part, and weights ``[C, K]``."""
    model.eval()
    if isinstance(model, ProtGNNMined):
        place_prototypes(model, train, [source.model_dump() for source in sources])
    else:
        head = model.head
        subgraphs = cut_subgraphs(train, [source.model_dump() for source in sources])
        head.classes = torch.tensor([source.label for source in sources])
        head.vectors = nn.Parameter(model.embed_parts(subgraphs.batch()).clone())
        head.last = nn.Linear(len(sources), len(weight), bias=False)
    model.head.last.weight.copy_(weight)


@torch.no_grad()
def restore(model: ProtGNN, train: Instances, snapshot: Snapshot, temperature: float) -> None:
    """Go back to prototypes, weights and temperature of before, from a model that has another ``temperature``."""
    model.divide_logits((snapshot.temperature or 1.0) / temperature)  # of the composition, which is not in a snapshot
    place(model, train, snapshot.sources, torch.tensor(snapshot.weight))
    if isinstance(model, ProtGNNMined):
        model.head.base.copy_(torch.tensor(snapshot.base))


def first_weights(
    weight: Tensor, before: list[int], after: list[int], came_from: list[int | None], mined: bool
) -> Tensor:
    """The last layer ``[C, K']`` to begin with, from that of before ``[C, K]``.

    Prototypes keep their weights, and one that replaces another takes over its. In a ProtGNN one that is added begins
    with the mean of its class, and what the prototypes of a class add to it together stays the same: the others take
    over what is removed.

    Args:
        weight: The last layer before.
        before: The classes of the prototypes before, ``[K]``.
        after: Those of the prototypes after, ``[K']``.
        came_from: For each of them the prototype whose weights it takes over.
        mined: Whether weights are for the own class alone and found from any start.
    """
    started = torch.zeros(len(weight), len(after))
    for number, (label, old) in enumerate(zip(after, came_from, strict=True)):
        if old is not None:
            started[:, number] = weight[:, old]
        elif mined:
            started[label, number] = FIRST_WEIGHT
        else:
            own = [place for place, one in enumerate(before) if one == label]
            started[label, number] = weight[label, own].mean() if own else 1.0
    if mined:
        return started
    for label in set(after):
        had = [place for place, one in enumerate(before) if one == label]
        has = [place for place, one in enumerate(after) if one == label]
        total, now = float(weight[label, had].sum()), float(started[label, has].sum())
        if total > 0 and now > 0:
            started[label, has] *= total / now
    return started


def refit(
    model: ProtGNN,
    train: KeptSimilarities,
    valid: KeptSimilarities,
    steps: int,
    criterion: Criterion,
    grew: bool,
    share: float = 1.0,
) -> None:
    """Refit the last layer in place, from where it is.

    A ProtGNN takes a few steps, of which the best on the validation graphs counts (docs/decisions/0006). Mined
    prototypes get the weights of a logistic model, or where none is new keep theirs if these are better on the
    validation graphs. Where they were averaged with a composition they are fitted alone, and have their share again.

    Args:
        model: The model, its prototypes placed.
        train: The training graphs.
        valid: The validation graphs.
        steps: Steps for a ProtGNN.
        criterion: What is minimised, and what is better.
        grew: Whether there are new prototypes.
        share: The :meth:`KeptSimilarities.share_of_parts` of the model before the edit.
    """
    y, valid_y, head = train.graphs.y, valid.graphs.y, model.head
    assert y is not None and valid_y is not None
    similar = train.of(model).detach()
    weight = head.last.weight.detach().clone()
    if not isinstance(model, ProtGNNMined):
        both = train.added(model), valid.added(model)
        found = refine(weight, similar, y, valid.of(model).detach(), valid_y, steps, criterion, both).weight
        with torch.no_grad():
            head.last.weight.copy_(found)
        return
    mined, own = model.head, weight.gather(0, head.classes[None]).squeeze(0)
    start = mined.base.detach().clone()
    kept = criterion.quality(valid.outcome(model).logits, valid_y)
    given = None if share < 1 else torch.zeros(len(y), len(weight)) + train.added(model)
    fitted, base = fit_weights(similar, y, head.classes, own, start, HEAD_STEPS, criterion.class_weight, given)
    with torch.no_grad():
        head.last.weight.copy_(mined.own_class_weights(share * fitted))
        mined.base.copy_(share * base)
        if not grew and kept >= criterion.quality(valid.outcome(model).logits, valid_y):
            head.last.weight.copy_(weight)
            mined.base.copy_(start)


@torch.no_grad()
def choose_counting(model: ProtGNNMined, train: KeptSimilarities, new: list[int]) -> list[bool]:
    """Whether each new mined prototype should count all places: if so it ranks its class better in training graphs."""
    y, found = train.graphs.y, train.mined(model)
    assert y is not None
    every = torch.ones(len(model.head.classes), dtype=torch.bool)
    single, total = (found.places.values(found.similar, counts) for counts in (~every, every))
    chosen = []
    for number in new:
        own = (y == model.head.classes[number]).long()
        auc = [_auc(value[:, number], own) for value in (single, total)]
        chosen.append(auc[1] > auc[0])
    return chosen


def _auc(value: Tensor, own: Tensor) -> float:
    """ROC AUC of values ``[G]`` for membership ``[G]``, 0 or 1."""
    return roc_auc_of(torch.stack([-value, value], 1), own) or 0.0


@torch.no_grad()
def recalibrate(model: ProtGNN, valid: KeptSimilarities) -> float:
    """Fit the temperature on validation graphs and divide the logits by it, in place; the temperature."""
    y = valid.graphs.y
    assert y is not None
    temperature = fit_temperature(valid.outcome(model).logits, y)
    model.divide_logits(temperature)
    return temperature
