"""Algorithm 1, told as stages.

*Learn*: every epoch minimises Eq. 3; after T_p epochs the prototypes are projected every τ epochs. Then the ending
that the paper leaves out and exact prototypes need. *Project*: the best state so far is restored and every prototype
becomes the embedding of a training subgraph. *Anchored*: all but the prototypes goes on learning, while each prototype
stays the embedding of its own subgraph under the changing encoder. *Refine*: the last layer alone, on similarities
that no longer move. Where prototypes lost little when they were projected, more learning only overfits, so both states,
the projected and the anchored, are refined, and the one that does better on the validation graphs is exported. On 13
splits within the training parts of MUTAG and BBBP the projected alone classified 86.1 % of unseen graphs right, the
anchored alone 84.9 %, and the better on validation 87.4 %. Where projecting broke the classifier, though, which the
training graphs tell, validation graphs that are few may not, and it is the anchored state that mends it. The plain
model only learns.

ProtGNN+ learns on whole graphs for the warm-up of T_w epochs. In its anchored stage steps are on evidence, and teach
the sampler too, Eq. 13 and 14. Steps on whole graphs may take turns with them, as in the paper, but they pull the
encoder another way: on inner splits of MUTAG (GCN, 15 edges) evidence in every second step, in three of four and in all
classified 85, 86 and 90 % of the held-out graphs right.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from protgnn.errors import ProtGNNError
from protgnn.graphs.growth import cut_parts
from protgnn.graphs.instances import Instances
from protgnn.graphs.packed import Batch
from protgnn.model.classifier import GraphClassifier
from protgnn.model.evidence import Exploration, imitation, nearest
from protgnn.model.objective import Costs, objective
from protgnn.model.prototypes import PrototypeHead, squared_distances
from protgnn.search.projection import project
from protgnn.training.anchors import anchors_of, random_graphs
from protgnn.training.average import WeightAverage
from protgnn.training.chance import generator_for, seed_for
from protgnn.training.evaluate import predict_logits, share_right, similarities
from protgnn.training.machine import accelerator_of
from protgnn.training.recipe import (
    Recipe,
    epochs_of_patience,
    graphs_per_step,
    learning_epochs,
    search_settings,
    total_epochs,
    window_of,
)
from protgnn.training.refine import idle_among, idle_prototypes, refine
from protgnn.training.state import TENSORBOARD, TrainingState, copy_of, optimizer_tensors, restore_optimizer

SAVE_SECONDS = 1.0
LOST_AT_MOST = 0.03
"""The share of the training graphs that projecting may turn from right to wrong, on balance. On 44 splits within the
training parts of MUTAG, with 15 validation graphs each, the choice by these alone classified 83.9 % of unseen graphs
right, the one that minds this 84.7 % (plain GNN: 84.3 %): of the five that were broken 87.4 instead of 80.5 %."""

OnEpoch = Callable[[TrainingState], None]


def fit(
    model: GraphClassifier,
    train: Instances,
    valid: Instances,
    recipe: Recipe,
    folder: Path | None = None,
    state: TrainingState | None = None,
    on_epoch: OnEpoch | None = None,
) -> TrainingState:
    """Train in place and leave the model as it is exported: best weights, exact prototypes.

    With a ``folder`` the state is kept there as training goes on; a ``state`` read from there continues it.
    """
    training = _Training(model, train, valid, recipe, folder, state or TrainingState(), on_epoch)
    with torch.random.fork_rng():
        training.learn()
        if isinstance(model.head, PrototypeHead):
            training.anchor()
            training.refine()
    model.cpu().eval()
    return training.state


class _Training:
    """The model and everything that changes with it from one epoch to the next."""

    def __init__(
        self,
        model: GraphClassifier,
        train: Instances,
        valid: Instances,
        recipe: Recipe,
        folder: Path | None,
        state: TrainingState,
        on_epoch: OnEpoch | None,
    ) -> None:
        self.model, self.recipe, self.folder, self.state, self.on_epoch = model, recipe, folder, state, on_epoch
        self.train, self.valid = train.bare(), valid
        self.learning = learning_epochs(recipe, len(train))
        self.fabric = _fabric(recipe, folder, state)
        self.costs = Costs(
            recipe.cluster,
            recipe.separation,
            recipe.diversity,
            recipe.diversity_threshold,
            recipe.separation_margin or None,
        )
        self.anchors: Batch | None = None
        if state.model:
            model.load_state_dict(state.model)
        elif isinstance(model.head, PrototypeHead) and recipe.prototypes_start == "graphs":
            self._place_prototypes(model.head)
        self.wrapped = self.fabric.setup_module(model)
        self.wrapped.mark_forward_method("embed")
        self.wrapped.mark_forward_method("embed_parts")
        self.average = WeightAverage(model, recipe.averaging) if recipe.averaging else None
        self.exported = model if self.average is None else self.average.model  # what is validated and kept
        if self.average is not None and state.average:
            self.exported.load_state_dict(state.average)
            self.average.steps = state.average_steps
        self.saved = time.monotonic()

    def learn(self) -> None:
        """The stage of the paper: Eq. 3, with a projection every τ epochs after T_p."""
        if self.state.stage != "learn":
            return
        self._epochs(self.learning)
        if not self.state.best:  # no epoch was asked for
            self._keep_if_best(*self._validate())
        self._restore_best()

    def anchor(self) -> None:
        """Project the best prototypes, then let all else learn while each stays on its subgraph."""
        state = self.state
        if state.stage == "learn":
            state.sources = self._project(self.recipe.candidates)
            state.begin("anchored")
            for model in {self.model, self.exported}:
                if model.parts is not None:
                    model.parts.begin()
        self.anchors = anchors_of(self.train, state.sources).batch().to(self.fabric.device)
        epochs = total_epochs(self.recipe) - self.learning
        if state.epoch == state.stage_start:
            self._onto(self.anchors)
            if not epochs:
                self._keep_if_best(*self._validate())
        self._epochs(epochs)

    def refine(self) -> None:
        """Train the last layer alone on the similarities of the exported prototypes; drop idle ones if asked to."""
        head, state = self.model.head, self.state
        assert isinstance(head, PrototypeHead) and self.anchors is not None and self.valid.y is not None
        self.model.cpu().eval()
        endings = [self._ending(state.best)]
        if self.model.sampler is None:
            self.model.load_state_dict(state.learned)
            learned = self._training_accuracy()
            projected = self._ending(state.learned)
            if learned - self._training_accuracy() <= LOST_AT_MOST:
                endings.append(projected)
        best = max(range(len(endings)), key=lambda number: endings[number][0])
        self.model.load_state_dict(endings[best][1])
        if best:
            state.best_epoch = state.learned_epoch
        if self.recipe.prune:
            if self.model.sampler is None:
                idle = idle_prototypes(head, similarities(self.model, self.valid), self.valid.y)
            else:  # the parts that are proposed for one prototype may be taken by another
                idle = idle_among(head, self._similar_with, self.valid.y)
            kept = [number for number in range(len(head.classes)) if number not in idle]
            head.keep(torch.tensor(kept))
            self.state.sources = [self.state.sources[number] for number in kept]

    def _ending(self, weights: dict[str, Tensor]) -> tuple[tuple[float, float], dict[str, Tensor]]:
        """Give the model these weights, exact prototypes and a refined last layer: its merit, and the weights then."""
        assert isinstance(self.model.head, PrototypeHead) and self.anchors is not None
        self.model.load_state_dict(weights)
        with torch.no_grad():  # another device may round otherwise than the CPU, where the model is used
            self.model.head.vectors.copy_(self.model.embed_parts(self.anchors.to("cpu")))
        merit = refine(self.model, self.train, self.valid, self.recipe)
        return merit, copy_of(self.model.state_dict())

    def _training_accuracy(self) -> float:
        assert self.train.y is not None
        return share_right(predict_logits(self.model, self.train), self.train.y)

    def _similar_with(self, kept: list[int]) -> Tensor:
        """The similarities ``[G, K']`` of the validation graphs if only some prototypes were kept."""
        trial = copy.deepcopy(self.model)
        assert isinstance(trial.head, PrototypeHead)
        trial.head.keep(torch.tensor(kept))
        return similarities(trial, self.valid)

    def _epochs(self, epochs: int) -> None:
        """Run the epochs that are left of a stage."""
        state, recipe = self.state, self.recipe
        fused = self.fabric.device.type in ("cpu", "cuda")
        groups = parameter_groups(self.model, recipe.sampler_lr)
        lr = recipe.evidence_lr if self._on_evidence else recipe.lr
        adam = torch.optim.Adam(groups, lr, weight_decay=recipe.weight_decay, fused=fused)
        optimizer = self.fabric.setup_optimizers(adam)
        if state.optimizer:
            restore_optimizer(optimizer, state.optimizer)
        patience, window = epochs_of_patience(recipe, len(self.train)), window_of(recipe, len(self.train), epochs)
        while not state.finished(epochs, patience):
            state.epoch += 1
            loss, accuracy = self._train_epoch(optimizer)
            if not math.isfinite(loss):
                raise ProtGNNError(
                    f"The loss of epoch {state.epoch} is not a number: try a smaller lr than {recipe.lr}, and features "
                    "that are no larger than some tens"
                )
            if self.anchors is not None:
                self._onto(self.anchors)
            elif self._projects_now():
                sources = self._project(recipe.candidates_on_the_way)
                self._onto(anchors_of(self.train, sources).batch().to(self.fabric.device))
            valid_loss, valid_accuracy = self._validate()
            if not math.isfinite(valid_loss):
                raise ProtGNNError(
                    f"The validation loss of epoch {state.epoch} is not a number: try lr below {recipe.lr}"
                )
            row = {"loss": loss, "accuracy": accuracy, "valid_loss": valid_loss, "valid_accuracy": valid_accuracy}
            self.fabric.log_dict(row, step=state.epoch)
            state.rows.append({"epoch": state.epoch, **row})
            if (lately := state.lately(window)) is not None:
                self._keep_if_best(*lately)
            if time.monotonic() - self.saved > SAVE_SECONDS or state.finished(epochs, patience):
                self._save(optimizer)
            if self.on_epoch is not None:
                self.on_epoch(state)

    def _train_epoch(self, optimizer: Any) -> tuple[float, float]:
        """One pass over the training graphs; mean loss and accuracy on the way."""
        self.wrapped.train()
        epoch = self.state.epoch
        torch.manual_seed(seed_for(self.recipe.seed, "dropout", epoch))
        order = torch.randperm(len(self.train), generator=generator_for(self.recipe.seed, "shuffle", epoch))
        total = correct = torch.zeros(())
        exploration = self._exploration()
        size, chance = graphs_per_step(self.recipe, len(order)), generator_for(self.recipe.seed, "neighbours", epoch)
        if self._on_evidence and self.train.num_targets:
            self._see_whole(order[:size])
        for step, batch in enumerate(self.train.shuffled(order, size, chance, self._steps_on_evidence)):
            batch = batch.to(self.fabric.device)
            optimizer.zero_grad(set_to_none=True)
            assert batch.y is not None
            if self._steps_on_evidence(step):
                loss, logits = self._evidence_loss(batch, batch.y, exploration)
            else:
                loss, logits = self._loss(batch, batch.y)
            self.fabric.backward(loss)
            optimizer.step()
            if self.average is not None:
                self.average.update()
            total = total + loss.detach().cpu() * batch.num_graphs
            correct = correct + logits.detach().argmax(1).eq(batch.y).sum().cpu()
        return float(total) / len(order), float(correct) / len(order)

    @torch.no_grad()
    def _see_whole(self, some: Tensor) -> None:
        """Let norms keep up with the network, of which steps on evidence see what is near a target."""
        chance = generator_for(self.recipe.seed, "whole", self.state.epoch)
        for batch in self.train.shuffled(some, len(some), chance, lambda step: False):
            self._embed(batch.to(self.fabric.device))

    def _loss(self, batch: Batch, y: Tensor) -> tuple[Tensor, Tensor]:
        """Eq. 3 (cross-entropy alone for the plain model) and the logits of a batch."""
        head = self.model.head
        if not isinstance(head, PrototypeHead):
            logits = head(self._embed(batch))
            return cross_entropy(logits, y), logits
        prototypes: Tensor = head.vectors
        if self.anchors is None:
            h = self._embed(batch)
        elif self._on_evidence:  # prototypes live in the world of parts, and move in the steps on evidence
            h, prototypes = self._embed(batch), head.vectors.detach()
        else:
            both = self._embed(batch.joined(self.anchors))
            h, prototypes = both[: batch.num_graphs], both[batch.num_graphs :]
        distance = squared_distances(h, prototypes)
        logits = head.logits(distance)
        return objective(logits, distance, prototypes, y, head.classes, self.costs), logits

    def _evidence_loss(self, batch: Batch, y: Tensor, exploration: Exploration | None) -> tuple[Tensor, Tensor]:
        """Eq. 3 on the evidence and Eq. 14 for the sampler that found it; and the logits."""
        model, head = self.model, self.model.head
        assert isinstance(head, PrototypeHead) and self.anchors is not None and model.sampler is not None
        model.train(not self.train.num_targets)  # norms keep up with whole graphs; what is near a target is none
        proposals = model.propose(batch, exploration)
        model.eval()
        offered = proposals.parts.batch.to(batch.x.device)
        with torch.no_grad():  # of all that is offered only what is taken is worth a gradient
            both = self._embed(offered.joined(self.anchors), parts=True)
            found = nearest(squared_distances(both[: offered.num_graphs], both[offered.num_graphs :]), proposals.parts)
        model.train()
        taken = cut_parts(batch, found.member(batch).t().cpu())
        both = self._embed(taken.batch.to(batch.x.device).joined(self.anchors), parts=True)
        h, prototypes = both[: taken.batch.num_graphs], both[taken.batch.num_graphs :]
        of_part = squared_distances(h, prototypes)[taken.part.to(h.device)]  # [B, K, K]: every prototype and its part
        distance = of_part.diagonal(dim1=1, dim2=2)
        logits = head.logits(distance)
        loss = objective(logits, distance, prototypes, y, head.classes, self.costs)
        recipe = self.recipe
        return loss + imitation(proposals, batch, found, recipe.evidence_budget, recipe.evidence_edges), logits

    @property
    def _on_evidence(self) -> bool:
        """Whether the model is a ProtGNN+ that has warmed up."""
        return self.anchors is not None and self.model.sampler is not None

    def _steps_on_evidence(self, step: int) -> bool:
        """Whether a step of this epoch is one on evidence: the recipe's share of them, evenly spread."""
        number, share = self.state.epoch + step, self.recipe.evidence_share
        return self._on_evidence and math.floor((number + 1) * share) > math.floor(number * share)

    def _exploration(self) -> Exploration | None:
        """The noise of this epoch's proposals. It does not fade: without it proposals grow alike, similarities fall,
        and on BBBP the loss rose again from the epoch in which the noise had gone."""
        if not self._on_evidence or not self.recipe.exploration:
            return None
        return Exploration(self.recipe.exploration, generator_for(self.recipe.seed, "exploration", self.state.epoch))

    def _embed(self, batch: Batch, parts: bool = False) -> Tensor:
        """Embeddings in the recipe's precision; heads and costs are computed in full precision."""
        with self.fabric.autocast():
            h: Tensor = self.wrapped.embed_parts(batch) if parts else self.wrapped.embed(batch)
        return h.float()

    def _projects_now(self) -> bool:
        epoch, recipe = self.state.epoch, self.recipe
        due = epoch > recipe.projection_start and epoch % recipe.projection_period == 0
        return due and isinstance(self.model.head, PrototypeHead)

    @torch.no_grad()
    def _project(self, candidates: int) -> list[dict[str, Any]]:
        """Find for every prototype the nearest subgraph of a training graph of its class."""
        head, recipe = self.exported.head, self.recipe
        assert isinstance(head, PrototypeHead)
        self.exported.eval()
        found = project(
            self.train,
            head.vectors.detach().cpu(),
            head.classes.cpu(),
            lambda batch: self.exported.embed(batch.to(self.fabric.device)).cpu(),
            search_settings(recipe),
            candidates=candidates or None,
        )
        return [asdict(source) for source in found.sources]

    @torch.no_grad()
    def _place_prototypes(self, head: PrototypeHead) -> None:
        """Before the first epoch: prototypes are the embeddings of random training graphs of their class."""
        self.model.eval()
        chosen = random_graphs(self.train, head.classes, generator_for(self.recipe.seed, "prototypes"))
        batches = self.train[chosen].batches(len(chosen))
        head.vectors.copy_(torch.cat([self.model.embed(batch) for batch in batches]))

    @torch.no_grad()
    def _onto(self, subgraphs: Batch) -> None:
        """Set every prototype to the embedding of its subgraph, for the exported and for the learning model."""
        for model in {self.model, self.exported}:
            assert isinstance(model.head, PrototypeHead)
            model.eval()
            model.head.vectors.copy_((model.embed if self.anchors is None else model.embed_parts)(subgraphs))

    def _restore_best(self) -> None:
        """Go back to the best state of the stage; the average begins again from it."""
        self.model.load_state_dict(self.state.best)
        if self.average is not None:
            self.average.restart()

    def _validate(self) -> tuple[float, float]:
        """Loss and accuracy on the validation graphs."""
        assert self.valid.y is not None
        logits = predict_logits(self.exported, self.valid, self.fabric.device, whole=self.anchors is None)
        return float(cross_entropy(logits, self.valid.y)), share_right(logits, self.valid.y)

    def _keep_if_best(self, loss: float, accuracy: float) -> None:
        state = self.state
        if state.improves(accuracy, loss):
            state.best_epoch, state.best_accuracy, state.best_loss = state.epoch, accuracy, loss
            state.best = copy_of(self.exported.state_dict())

    def _save(self, optimizer: Any) -> None:
        if self.folder is not None:
            self.state.model, self.state.optimizer = copy_of(self.model.state_dict()), optimizer_tensors(optimizer)
            if self.average is not None:
                self.state.average = copy_of(self.exported.state_dict())
                self.state.average_steps = self.average.steps
            self.state.save(self.folder)
            self.saved = time.monotonic()


def parameter_groups(model: GraphClassifier, sampler_lr: float) -> list[dict[str, Any]]:
    """All parameters for one optimiser; the sampler has a learning rate of its own."""
    own = [] if model.sampler is None else list(model.sampler.parameters())
    groups: list[dict[str, Any]] = [
        {"params": [value for name, value in model.named_parameters() if not name.startswith("sampler.")]}
    ]
    return [*groups, {"params": own, "lr": sampler_lr}] if own else groups


def _fabric(recipe: Recipe, folder: Path | None, state: TrainingState) -> Any:
    from lightning_fabric import Fabric
    from lightning_fabric.loggers.tensorboard import TensorBoardLogger

    loggers: list[Any] = []
    if folder is not None and find_spec("tensorboard") is not None:
        purge = state.epoch + 1 if state.epoch else None
        loggers.append(TensorBoardLogger(folder, name=TENSORBOARD, version="", purge_step=purge))
    return Fabric(accelerator=accelerator_of(recipe), devices=1, precision=recipe.precision, loggers=loggers)
