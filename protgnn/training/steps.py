"""The losses of a step, and an epoch of steps.

======================  ==========================================================================================
``PlainLoss``           cross-entropy of the plain model
``PrototypeLoss``       Eq. 3 on whole graphs; prototypes are free parameters
``AnchoredLoss``        Eq. 3 on whole graphs; prototypes are the embeddings of their subgraphs (ours)
``EvidenceLoss``        Eq. 3 on evidence and Eq. 14 for the sampler that found it (ProtGNN+)
======================  ==========================================================================================
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import torch
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.data.grow import cut_parts
from protgnn.io.seeding import generator_for, seed_for
from protgnn.model.classifier import PlainGNN, ProtGNN, ProtGNNPlus
from protgnn.model.evidence import Exploration, imitation, nearest
from protgnn.model.objective import Costs, objective
from protgnn.model.prototype_layer import squared_distances
from protgnn.training.recipe import Recipe
from protgnn.training.resolve import settled
from protgnn.training.session import Session, check_finite


class StepLoss(Protocol):
    """The loss of a training stage."""

    @property
    def lr(self) -> float:
        """Adam's learning rate in this stage."""

    def begin_epoch(self, first: Tensor) -> None:
        """Prepare an epoch whose first step has the training graphs ``first``."""

    def on_evidence(self, step: int) -> bool:
        """Whether a step of this epoch compares evidence, so that each instance must be a graph of its own."""

    def __call__(self, step: int, batch: Batch, y: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of a batch with classes ``[B]``, and its logits ``[B, C]``."""


def train_epoch(session: Session[Any], loss: StepLoss) -> tuple[float, float]:
    """Train for one epoch on this rank's share of every batch. Return the mean training loss and accuracy."""
    recipe, epoch, train, ranks = session.recipe, session.state.epoch, session.train, session.ranks
    session.wrapped.train()
    torch.manual_seed(seed_for(recipe.seed, ranks.stream("dropout"), epoch))
    order = torch.randperm(len(train), generator=generator_for(recipe.seed, "shuffle", epoch))
    size, rng = settled(recipe.batch_size), generator_for(recipe.seed, ranks.stream("neighbours"), epoch)
    loss.begin_epoch(order[:size])
    total = correct = torch.zeros(())
    share = ranks.share(order, size)
    for step, batch in enumerate(train.shuffled(share.order, share.size, rng, loss.on_evidence)):
        batch = batch.to(session.device)
        assert batch.y is not None
        session.optimizer.zero_grad(set_to_none=True)
        value, logits = loss(step, batch, batch.y)
        session.step(value, share.weight[step])
        if share.weight[step]:
            total = total + value.detach().cpu() * batch.num_graphs
            correct = correct + logits.detach().argmax(1).eq(batch.y).sum().cpu()
    session.synchronise()
    total, correct = ranks.sum(torch.stack([total, correct]))
    mean = float(total) / len(order)
    advice = f"a smaller lr than {recipe.lr}, and features that are no larger than some tens"
    check_finite(mean, f"The loss of epoch {epoch}", advice)
    return mean, float(correct) / len(order)


def costs_of(recipe: Recipe) -> Costs:
    """The weights of Eq. 3 and the bounds of its costs."""
    return Costs(
        recipe.cluster,
        recipe.separation,
        recipe.diversity,
        recipe.diversity_threshold,
        recipe.separation_margin or None,
    )


class WholeGraphLoss:
    """Base class of the losses that see whole graphs only."""

    def __init__(self, session: Session[Any]) -> None:
        self.lr: float = session.recipe.lr

    def begin_epoch(self, first: Tensor) -> None:
        """Nothing to get ready."""

    def on_evidence(self, step: int) -> bool:
        return False


class PlainLoss(WholeGraphLoss):
    """Cross-entropy of the plain model."""

    def __init__(self, session: Session[PlainGNN]) -> None:
        super().__init__(session)
        self.session = session

    def __call__(self, step: int, batch: Batch, y: Tensor) -> tuple[Tensor, Tensor]:
        logits: Tensor = self.session.model.head(self.session.embed(batch))
        return self.session.criterion.loss(logits, y), logits


class PrototypeLoss(WholeGraphLoss):
    """Eq. 3 on whole graphs."""

    def __init__(self, session: Session[ProtGNN]) -> None:
        super().__init__(session)
        self.session, self.costs = session, costs_of(session.recipe)

    def __call__(self, step: int, batch: Batch, y: Tensor) -> tuple[Tensor, Tensor]:
        return self.eq_3(self.session.embed(batch), self.session.model.head.vectors, y)

    def eq_3(self, h: Tensor, prototypes: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Eq. 3 and the logits for embeddings ``[B, H]`` and prototypes ``[K, H]``."""
        head = self.session.model.head
        distance = squared_distances(h, prototypes)
        logits = head.logits(distance)
        weight = self.session.criterion.class_weight
        return objective(logits, distance, prototypes, y, head.classes, self.costs, weight), logits


class AnchoredLoss(PrototypeLoss):
    """Eq. 3 on whole graphs, where prototypes are the embeddings of their ``subgraphs`` in the same pass."""

    def __init__(self, session: Session[ProtGNN], subgraphs: Batch) -> None:
        super().__init__(session)
        self.subgraphs = subgraphs

    def __call__(self, step: int, batch: Batch, y: Tensor) -> tuple[Tensor, Tensor]:
        both = self.session.embed(batch.joined(self.subgraphs))
        return self.eq_3(both[: batch.num_graphs], both[batch.num_graphs :], y)


class EvidenceLoss:
    """Eq. 3 and 14 on evidence, in the recipe's share of the steps; the others are Eq. 3 on whole graphs.

    Alternate steps are the paper's; evidence in every step is ours: docs/decisions/0002.
    """

    def __init__(self, session: Session[ProtGNNPlus], subgraphs: Batch) -> None:
        self.session, self.subgraphs, self.costs = session, subgraphs, costs_of(session.recipe)
        self.lr: float = session.recipe.evidence_lr
        self.whole_graphs = PrototypeLoss(session)  # type: ignore[arg-type]
        self.exploration: Exploration | None = None

    def begin_epoch(self, first: Tensor) -> None:
        """Seed this epoch's noise, which does not fade (docs/decisions/0007), and update norms on a whole network."""
        recipe, epoch = self.session.recipe, self.session.state.epoch
        if recipe.exploration:
            concern = self.session.ranks.stream("exploration")
            self.exploration = Exploration(recipe.exploration, generator_for(recipe.seed, concern, epoch))
        if self.session.train.num_targets:  # steps on evidence see only the surroundings of a target
            rng = generator_for(recipe.seed, "whole", epoch)
            with torch.no_grad():
                for batch in self.session.train.shuffled(first, len(first), rng, lambda step: False):
                    self.session.embed(batch.to(self.session.device))

    def on_evidence(self, step: int) -> bool:
        return in_share(self.session.state.epoch + step, self.session.recipe.evidence_share)

    def __call__(self, step: int, batch: Batch, y: Tensor) -> tuple[Tensor, Tensor]:
        return self._of_evidence(batch, y) if self.on_evidence(step) else self._of_whole_graphs(batch, y)

    def _of_whole_graphs(self, batch: Batch, y: Tensor) -> tuple[Tensor, Tensor]:
        """Eq. 3 with fixed prototypes: they move only in the steps on evidence."""
        return self.whole_graphs.eq_3(self.session.embed(batch), self.session.model.head.vectors.detach(), y)

    def _of_evidence(self, batch: Batch, y: Tensor) -> tuple[Tensor, Tensor]:
        session, model, recipe = self.session, self.session.model, self.session.recipe
        # The running statistics of whole graphs keep up; the surroundings of a target are no whole graph.
        model.train(not session.train.num_targets)
        proposals = model.propose(batch, self.exploration)
        model.eval()
        proposed = proposals.candidates.batch.to(batch.x.device)
        with torch.no_grad():  # only the nearest candidates, found here, get a gradient below
            h, prototypes = self._embed_with_prototypes(proposed)
            found = nearest(squared_distances(h, prototypes), proposals.candidates)
        model.train()
        taken = cut_parts(batch, found.member(batch).t().cpu())
        h, prototypes = self._embed_with_prototypes(taken.batch.to(batch.x.device))
        of_candidate = squared_distances(h, prototypes)[taken.row.to(h.device)]  # [B, K, K]
        distance = of_candidate.diagonal(dim1=1, dim2=2)  # candidate k is the evidence for prototype k
        logits = model.head.logits(distance)
        weight = session.criterion.class_weight
        loss = objective(logits, distance, prototypes, y, model.head.classes, self.costs, weight)
        return loss + imitation(proposals, batch, found, recipe.evidence_budget, recipe.evidence_edges), logits

    def _embed_with_prototypes(self, candidates: Batch) -> tuple[Tensor, Tensor]:
        """Embeddings ``[P, H]`` of candidates and ``[K, H]`` of the prototypes' subgraphs, in one pass."""
        both = self.session.embed(candidates.joined(self.subgraphs), parts=True)
        return both[: candidates.num_graphs], both[candidates.num_graphs :]


def in_share(number: int, share: float) -> bool:
    """Whether step ``number`` belongs to an evenly spaced ``share`` of all steps."""
    return math.floor((number + 1) * share) > math.floor(number * share)


def anchored_loss(session: Session[Any], subgraphs: Batch) -> StepLoss:
    """The loss of the anchored stage: on evidence in ProtGNN+."""
    kind = EvidenceLoss if isinstance(session.model, ProtGNNPlus) else AnchoredLoss
    return kind(session, subgraphs)
