"""Training a ProtGNN+ with mined prototypes: ours, where Algorithm 1 projects learned vectors.

=============  ==============================================================================================
stage          what happens
=============  ==============================================================================================
``learn``      the guide, a plain GNN, learns on whole graphs for the warm-up of T_w epochs
``mined-1``    prototypes are mined with its encoder; encoder, weights and bases learn on evidence
``mined-2``    they are mined again with the encoder that has learned on parts, and it learns on
=============  ==============================================================================================

In every stage a prototype is the embedding of its part under the encoder as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.data.network.instances import Instances
from protgnn.data.parts import PartSet
from protgnn.io.seeding import generator_for, seed_for
from protgnn.model.mined import ALIKE, ProtGNNMined
from protgnn.model.places import find_places
from protgnn.training.ema import WeightAverage
from protgnn.training.mining import L2, fit_weights, mine
from protgnn.training.prototype_subgraphs import cut_subgraphs
from protgnn.training.recipe import Recipe
from protgnn.training.resolve import learning_epochs, settled, steps_per_epoch
from protgnn.training.session import Session, check_finite
from protgnn.training.steps import WholeGraphLoss, train_epoch

ROUNDS = ("mined-1", "mined-2")
STEPS_PER_ROUND = 500
NEAREST = 3
"""Parts of a graph that look most like each prototype; they are what a step encodes."""
SETTLING, SETTLED_AT_ONCE = 30, 500
FIRST_WEIGHT, HEAD_STEPS = 0.1, 300
"""Where the weights of new prototypes begin, and the steps of L-BFGS that they get."""
IDLE = 0.05
"""A prototype that never adds so much to the logit of its class is idle."""


def mined_epochs(recipe: Recipe, graphs: int) -> int:
    """Epochs of a round on evidence with so many training graphs."""
    return min(recipe.anchored_epochs, -(-STEPS_PER_ROUND // steps_per_epoch(recipe, graphs)))


def train_mined(session: Session[ProtGNNMined]) -> None:
    """All stages that are left."""
    state, model = session.state, session.model
    if state.stage == "learn":
        learn_guide(session)
    parts = model.candidates(session.train.ego_graphs().batch())
    for name in ROUNDS:
        if state.stage in ("learn", *ROUNDS[: ROUNDS.index(name)]):
            begin_round(session, parts, name)
        if state.stage == name:
            learn_on_parts(session, parts)
            session.restore_best()
    # On the CPU, where the model is used: another device may round otherwise.
    embed_prototypes(model.cpu(), cut_subgraphs(session.train, state.sources).batch())


def learn_guide(session: Session[ProtGNNMined]) -> None:
    """The warm-up; then the encoder of parts begins where the guide's ended."""
    recipe, loss = session.recipe, GuideLoss(session)
    for _ in session.epochs(learning_epochs(recipe, len(session.train)), settled(recipe.window), loss.lr):
        session.end_epoch(*train_epoch(session, loss))
    session.restore_best()
    model = session.model
    model.encoder.load_state_dict(model.guide.encoder.state_dict())
    if model.pooling is not None and model.guide.pooling is not None:
        model.pooling.load_state_dict(model.guide.pooling.state_dict())
    model.begin_anchored_stage()


@torch.no_grad()
def drop_idle(
    model: ProtGNNMined, train: Instances, sources: list[dict[str, Any]], kept: int = 0
) -> list[dict[str, Any]]:
    """Drop prototypes, but for the first ``kept``, that add less than ``IDLE`` to the logit of their class in every
    training graph; the sources of the others."""
    head, parts = model.eval().head, model.candidates(train.ego_graphs().batch())
    value = model.compare(parts, model.embed_all(parts.graphs).cpu(), model.unlike(parts)).value
    works = (value * head.last.weight.gather(0, head.classes[None]).squeeze(0)).amax(0) >= IDLE
    works[:kept] = True
    if bool(works.all()) or not bool(works.any()):
        return sources
    base, weight = head.base.clone(), head.last.weight[:, works].clone()
    left = [source for source, works_too in zip(sources, works.tolist(), strict=True) if works_too]
    place_prototypes(model, train, left)
    head.last.weight.copy_(weight)
    head.base.copy_(base)
    return left


class GuideLoss(WholeGraphLoss):
    """Cross-entropy of the guide on whole graphs."""

    def __init__(self, session: Session[ProtGNNMined]) -> None:
        super().__init__(session)
        self.session = session

    def __call__(self, step: int, batch: Batch, y: Tensor) -> tuple[Tensor, Tensor]:
        """The loss and the logits of a step."""
        with self.session.fabric.autocast():
            logits: Tensor = self.session.model.guide(batch)
        return self.session.criterion.loss(logits.float(), y), logits


def begin_round(session: Session[ProtGNNMined], parts: PartSet, name: str) -> None:
    """Mine prototypes and give them weights; the average begins anew, as there are others to average."""
    model, state, y = session.model, session.state, session.train.y
    assert y is not None
    settle_norms(session, parts)
    sources = mine(model, parts, y, session.recipe.mined_prototypes, session.criterion.class_weight).as_sources()
    place_prototypes(model, session.train, sources)
    fit_head(session, parts)
    if session.average is not None:
        session.average = WeightAverage(model, session.recipe.averaging)
        session.exported = session.average.model
    state.sources = sources
    state.begin(name)
    session.keep_if_best(session.validate())  # learning on may only overfit


@torch.no_grad()
def fit_head(session: Session[ProtGNNMined], parts: PartSet) -> None:
    """First weights and bases for prototypes that were just placed."""
    model, y = session.model, session.train.y
    assert y is not None
    head = model.head
    values = model.compare(parts, model.embed_all(parts.graphs).cpu(), model.unlike(parts)).value
    start = torch.full((values.shape[1],), FIRST_WEIGHT), torch.zeros(len(head.base))
    weight, base = fit_weights(values, y, head.classes.cpu(), *start, HEAD_STEPS, session.criterion.class_weight)
    head.last.weight.copy_(head.own_class_weights(weight.to(head.base.device)))
    head.base.copy_(base)


def place_prototypes(model: ProtGNNMined, train: Any, sources: list[dict[str, Any]]) -> None:
    """Give a model the prototypes of these sources; their weights are to be set."""
    subgraphs = cut_subgraphs(train, sources)
    classes = torch.tensor([source["label"] for source in sources])
    counts = torch.tensor([source["counts"] for source in sources])
    model.head.replace(classes, counts, [])
    model.know(subgraphs)
    with torch.no_grad():
        model.head.vectors.copy_(model.eval().embed_parts(subgraphs.batch().to(model.head.base.device)))


@torch.no_grad()
def settle_norms(session: Session[ProtGNNMined], parts: PartSet) -> None:
    """Let the norms' statistics of parts come to rest."""
    model, generator = session.model, generator_for(session.recipe.seed, "settling", session.state.epoch)
    model.train()
    for _ in range(SETTLING):
        some = torch.randperm(len(parts.graphs), generator=generator)[:SETTLED_AT_ONCE]
        model.embed_parts(parts.graphs.batch(some).to(session.device))
    model.eval()


def learn_on_parts(session: Session[ProtGNNMined], parts: PartSet) -> None:
    """The epochs of a round that are left."""
    near, subgraphs = nearest_looks(session.model, parts), cut_subgraphs(session.train, session.state.sources).batch()
    subgraphs = subgraphs.to(session.device)
    epochs = mined_epochs(session.recipe, len(session.train))
    for _ in session.epochs(epochs, settled(session.recipe.ending_window), session.recipe.evidence_lr):
        found = _epoch(session, parts, near, subgraphs)
        for model in {session.model, session.exported}:
            embed_prototypes(model, subgraphs)
        session.end_epoch(*found)
    if not epochs:
        session.keep_if_best(session.validate())


@torch.no_grad()
def embed_prototypes(model: ProtGNNMined, subgraphs: Batch) -> None:
    """Let every prototype be the embedding of its part under the encoder as it is."""
    model.head.vectors.copy_(model.eval().embed_parts(subgraphs))
    model.head.constrain()  # an average of constrained weights may be off by a little


def nearest_looks(model: ProtGNNMined, parts: PartSet) -> list[Tensor]:
    """Of every graph the rows of the parts that look most like any prototype."""
    unlike = model.unlike(parts)
    found = []
    for graph in range(parts.num_graphs):
        start, stop = int(parts.ptr[graph]), int(parts.ptr[graph + 1])
        rows = torch.arange(start, stop)
        own = unlike[torch.from_numpy(parts.distinct[start:stop])]
        if stop - start > NEAREST:
            close = (own < 2 * ALIKE).any(1).nonzero().squeeze(1)
            rows = torch.cat([own.topk(NEAREST, dim=0, largest=False).indices.reshape(-1), close])
            rows = torch.unique(rows) + start
        found.append(rows)
    return found


def _epoch(session: Session[ProtGNNMined], parts: PartSet, near: list[Tensor], subgraphs: Batch) -> tuple[float, float]:
    """One pass over the training graphs on evidence; mean loss and accuracy on the way."""
    model, head, recipe, epoch = session.model, session.model.head, session.recipe, session.state.epoch
    assert session.train.y is not None
    session.wrapped.train()
    torch.manual_seed(seed_for(recipe.seed, "dropout", epoch))
    order = torch.randperm(len(near), generator=generator_for(recipe.seed, "shuffle", epoch))
    unlike, distinct = model.unlike(parts), torch.from_numpy(parts.distinct)
    total = correct = 0.0
    size = settled(recipe.batch_size)
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        rows = torch.cat([near[number] for number in chosen.tolist()])
        some = _taken(parts, rows, [len(near[number]) for number in chosen.tolist()])
        needed, place = torch.unique(distinct[rows], return_inverse=True)
        both = session.embed(parts.graphs.batch(needed).to(session.device).joined(subgraphs), parts=True)
        h, prototypes = both[: len(needed)], both[len(needed) :]
        distance = head.part_distances(h, prototypes, unlike[needed].to(h.device))
        similar = head.similarity(distance)[place].cpu()
        places = find_places(similar, (unlike <= ALIKE)[distinct[rows]], some)
        logits = head.logits_of(places.values(similar, head.counts.cpu()).to(h.device)) + head.base
        y = session.train.y[chosen].to(h.device)
        session.optimizer.zero_grad(set_to_none=True)
        loss = session.criterion.loss(logits, y) + L2 * head.last.weight.square().sum()
        session.step(loss)
        head.constrain()
        total += float(loss.detach()) * len(chosen)
        correct += float(logits.detach().argmax(1).eq(y).sum())
    mean = total / len(order)
    check_finite(mean, f"The loss of epoch {epoch}", f"a smaller evidence_lr than {recipe.evidence_lr}")
    return mean, correct / len(order)


def _taken(parts: PartSet, rows: Tensor, lengths: list[int]) -> PartSet:
    """Some rows of the parts, those of one graph after those of another."""
    index = rows.numpy()
    graph = np.repeat(np.arange(len(lengths)), lengths)
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    masks = [parts.masks[row] for row in index.tolist()]
    return PartSet(
        masks,
        graph,
        ptr,
        parts.nodes[index],
        parts.edges[index],
        parts.distinct[index],
        parts.first,
        parts.graphs,
        parts.looks,
        parts.look_key,
    )
