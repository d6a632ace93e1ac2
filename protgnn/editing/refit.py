"""Refit the last layer and the temperature after an edit, as at the end of training, on cached similarities."""

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

BESIDE_COMPOSITION = 0.9
"""Mined weights of less than this share of what they are alone were reduced when a composition was added."""


class KeptSimilarities:
    """Similarities of some graphs to changing prototypes; everything that does not depend on prototypes is cached.

    For a ProtGNN the embeddings of whole graphs are cached, for a mined ProtGNN+ the candidate parts and their
    embeddings. In a sampled ProtGNN+ candidates depend on the prototypes, so nothing is cached.
    """

    def __init__(self, graphs: Instances) -> None:
        self.graphs = graphs
        self._h: Tensor | None = None
        self._parts: PartSet | None = None

    def forget(self) -> None:
        """Empty the cache, as the encoder has changed."""
        self._h = self._parts = None

    @torch.no_grad()
    def of(self, model: ProtGNN) -> Tensor:
        """The similarities or, for mined prototypes, their values, ``[G, K]``."""
        if isinstance(model, ProtGNNMined):
            return self.mined(model).value
        if isinstance(model, ProtGNNPlus):
            return similarities(model, self.graphs)
        if self._h is None:
            self._h = embeddings(model, self.graphs)
        return model.head.similarity(model.head.distances(self._h))

    @torch.no_grad()
    def added(self, model: ProtGNN) -> Tensor | float:
        """The logits that the composition of the graphs adds, ``[G, C]``; 0 for a model without one."""
        return 0.0 if model.composition is None else model.added(self.graphs.ego_graphs().batch())

    @torch.no_grad()
    def outcome(self, model: ProtGNN) -> Outcome:
        """Logits and similarities of the graphs."""
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

        Where a composition was added (``training/add_composition.py``), weights were reduced first. Refitted beside the
        composition they would grow back, and the edit would undo that.
        """
        head, y = model.head, self.graphs.y
        if not isinstance(model, ProtGNNMined) or model.composition is None or not len(head.classes):
            return 1.0
        assert y is not None
        values, own = self.of(model).detach(), head.last.weight.detach().gather(0, head.classes[None]).squeeze(0)
        base = model.head.base.detach()
        alone, _ = fit_weights(values, y, head.classes, own, base, HEAD_STEPS, criterion.class_weight)
        share = float(own @ alone / (alone @ alone).clamp(min=1e-12))
        return share if 0 < share < BESIDE_COMPOSITION else 1.0


@torch.no_grad()
def replace_prototypes(model: ProtGNN, train: Instances, sources: list[StoredSource], weight: Tensor) -> None:
    """Replace the prototypes of a model by the embeddings of these parts, and its last layer by ``weight [C, K]``."""
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
    """Restore prototypes, weights and temperature of a snapshot in a model whose temperature is ``temperature``."""
    model.divide_logits((snapshot.temperature or 1.0) / temperature)  # of the composition, which is not in a snapshot
    replace_prototypes(model, train, snapshot.sources, torch.tensor(snapshot.weight))
    if isinstance(model, ProtGNNMined):
        model.head.base.copy_(torch.tensor(snapshot.base))


def first_weights(
    weight: Tensor, before: list[int], after: list[int], came_from: list[int | None], mined: bool
) -> Tensor:
    """The initial last layer ``[C, K']`` after an edit, from the one before, ``[C, K]``.

    Prototypes keep their weights, and a replacement inherits those of its predecessor. In a ProtGNN an added prototype
    starts with the mean weight of its class, and the weights of each class are rescaled to keep their sum.

    Args:
        weight: The last layer before the edit.
        before: The classes of the prototypes before, ``[K]``.
        after: The classes of the prototypes after, ``[K']``.
        came_from: The old prototype whose weights each new one inherits, if any.
        mined: Whether prototypes are mined: these have a weight for their own class only, which is fitted anyway.
    """
    started = torch.zeros(len(weight), len(after))
    for number, (label, old) in enumerate(zip(after, came_from, strict=True)):
        if old is not None:
            started[:, number] = weight[:, old]
        elif mined:
            started[label, number] = FIRST_WEIGHT
        else:
            own = [number for number, one in enumerate(before) if one == label]
            started[label, number] = weight[label, own].mean() if own else 1.0
    if mined:
        return started
    for label in set(after):
        had = [number for number, one in enumerate(before) if one == label]
        has = [number for number, one in enumerate(after) if one == label]
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
    """Refit the last layer in place, starting from its present weights.

    A ProtGNN takes a few gradient steps and keeps the weights of the best one on the validation graphs
    (docs/decisions/0006). Mined prototypes get the weights of a logistic regression, and beside a composition the share
    of them that they had before. If no prototype is new and the present weights are better on the validation graphs,
    these stay.

    Args:
        model: The model with its new prototypes.
        train: The training graphs.
        valid: The validation graphs.
        steps: Gradient steps for a ProtGNN.
        criterion: The loss, and the quality to select by.
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
    """Decide for each new mined prototype whether to count all its places: if that gives a higher training ROC AUC."""
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
    """Fit the temperature on the validation graphs, divide the logits by it in place, and return it."""
    y = valid.graphs.y
    assert y is not None
    temperature = fit_temperature(valid.outcome(model).logits, y)
    model.divide_logits(temperature)
    return temperature
