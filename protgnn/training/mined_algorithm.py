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
from protgnn.data.parts import PartSet
from protgnn.io.seeding import generator_for, seed_for
from protgnn.model.composition import amounts
from protgnn.model.mined import ALIKE, ProtGNNMined
from protgnn.model.places import find_places
from protgnn.training.ema import WeightAverage
from protgnn.training.fit_composition import fit_composition
from protgnn.training.mining import L2, CandidatePool, candidate_pool, fit_weights, graph_weights, mine, select
from protgnn.training.mining_shortlist import telling_looks
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
ENOUGH, FOLDS = 0.95, 4
"""Where parts alone classify so many training graphs correctly that were left out, they explain alone."""
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
    graphs = session.train.ego_graphs().batch()
    parts = model.candidates(graphs)
    if state.stage == "learn":
        settle_norms(session, parts)
    offset = learn_composition(session, graphs, parts)
    for name in ROUNDS:
        if state.stage in ("learn", *ROUNDS[: ROUNDS.index(name)]):
            begin_round(session, parts, name, offset)
        if state.stage == name:
            learn_on_parts(session, parts, offset)
            session.restore_best()
    drop_idle(session, parts)
    # On the CPU, where the model is used: another device may round otherwise.
    _embed_prototypes(model.cpu(), cut_subgraphs(session.train, state.sources).batch())


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
def learn_composition(session: Session[ProtGNNMined], graphs: Batch, parts: PartSet) -> Tensor:
    """Fit the composition, and take it if parts alone do not do (``ENOUGH``) and if with it the loss on graphs left out
    is lower by more than a standard error.

    It is fitted to the data alone, so training that is resumed finds the same.

    Returns:
        What it adds to training graphs as if they were new, ``[G, C]``, for prototypes to mend.
    """
    model, y, state = session.model, session.train.y, session.state
    assert y is not None
    none = torch.zeros(len(y), len(model.head.base))
    if model.composition is None or (state.stage != "learn" and not bool(model.composition.steps.any())):
        return none
    weight = graph_weights(y, session.criterion.class_weight)
    seed = seed_for(session.recipe.seed, "composition")
    amount = amounts(graphs.to("cpu")).numpy()
    fitted = fit_composition(amount, telling_looks(parts, y.numpy()), y.numpy(), weight, none.shape[1], seed)
    offset = torch.from_numpy(fitted.held_out).float()
    if state.stage == "learn":
        pool = candidate_pool(model, parts, y.numpy())
        (right, alone), (_, helped) = (_left_out(session, pool, given) for given in (none, offset))
        gain = alone - helped
        if right >= ENOUGH or float(gain.mean()) <= float(gain.std()) / len(gain) ** 0.5:
            return none
    for one in {model, session.exported}:
        assert one.composition is not None
        one.composition.thresholds.copy_(torch.from_numpy(fitted.thresholds))
        one.composition.steps.copy_(torch.from_numpy(fitted.steps))
    return offset


def _left_out(session: Session[ProtGNNMined], pool: CandidatePool, offset: Tensor) -> tuple[float, Tensor]:
    """How prototypes do on training graphs that they were not chosen by: accuracy, and losses ``[G]``."""
    y, weight_of, (graphs, num_classes) = session.train.y, session.criterion.class_weight, offset.shape
    assert y is not None
    generator = generator_for(session.recipe.seed, "composition folds")
    fold = torch.randperm(graphs, generator=generator) % FOLDS
    logits, values = torch.zeros_like(offset), torch.from_numpy(pool.values).float()
    for number in range(FOLDS):
        kept, left = fold != number, fold == number
        some, most = pool.of_graphs(kept.numpy()), session.recipe.mined_prototypes
        chosen = select(some, y[kept].numpy(), num_classes, most, weight_of, offset[kept])
        columns, classes = [column for column, _ in chosen], torch.tensor([label for _, label in chosen])
        start = torch.full((len(chosen),), 0.1), torch.zeros(num_classes)
        weight, base = fit_weights(
            values[kept][:, columns], y[kept], classes, *start, class_weight=weight_of, offset=offset[kept]
        )
        own = torch.nn.functional.one_hot(classes, num_classes).float()
        logits[left] = (values[left][:, columns] * weight) @ own + base + offset[left]
    losses = torch.nn.functional.cross_entropy(logits, y, reduction="none")
    losses = losses * torch.from_numpy(graph_weights(y, weight_of)).to(losses)
    return float(logits.argmax(1).eq(y).float().mean()), losses


@torch.no_grad()
def drop_idle(session: Session[ProtGNNMined], parts: PartSet) -> None:
    """Drop prototypes that add less than ``IDLE`` to the logit of their class in every training graph."""
    model, head, state = session.model.eval(), session.model.head, session.state
    found = model.compare(parts, model.embed_all(parts.graphs).cpu(), model.unlike(parts))
    weight = head.last.weight.cpu().gather(0, head.classes.cpu()[None]).squeeze(0)
    kept = ((found.value * weight).amax(0) >= IDLE).nonzero().squeeze(1)
    if not 0 < len(kept) < len(weight):
        return
    base, columns = head.base.clone(), head.last.weight[:, kept.to(head.base.device)].clone()
    state.sources = [state.sources[number] for number in kept.tolist()]
    place_prototypes(model, session.train, state.sources)
    head.last.weight.copy_(columns)
    head.base.copy_(base)


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


def begin_round(session: Session[ProtGNNMined], parts: PartSet, name: str, offset: Tensor) -> None:
    """Mine prototypes and give them weights; the average begins anew, as there are others to average."""
    model, state, y = session.model, session.state, session.train.y
    assert y is not None
    settle_norms(session, parts)
    weight_of = session.criterion.class_weight
    mined = mine(model, parts, y, session.recipe.mined_prototypes, weight_of, offset)
    sources = mined.as_sources()
    place_prototypes(model, session.train, sources)
    with torch.no_grad():
        found = model.compare(parts, model.embed_all(parts.graphs).cpu(), model.unlike(parts))
    weight, base = torch.full((len(mined.rows),), 0.1), torch.zeros(len(model.head.base))
    weight, base = fit_weights(found.value, y, mined.classes, weight, base, 300, weight_of, offset)
    with torch.no_grad():
        model.head.last.weight.copy_(model.head.own_class_weights(weight.to(model.head.base.device)))
        model.head.base.copy_(base)
    if session.average is not None:
        session.average = WeightAverage(model, session.recipe.averaging)
        session.exported = session.average.model
    state.sources = sources
    state.begin(name)
    session.keep_if_best(session.validate())  # learning on may only overfit


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


def learn_on_parts(session: Session[ProtGNNMined], parts: PartSet, offset: Tensor) -> None:
    """The epochs of a round that are left."""
    near, subgraphs = nearest_looks(session.model, parts), cut_subgraphs(session.train, session.state.sources).batch()
    subgraphs = subgraphs.to(session.device)
    epochs = mined_epochs(session.recipe, len(session.train))
    for _ in session.epochs(epochs, settled(session.recipe.ending_window), session.recipe.evidence_lr):
        found = _epoch(session, parts, near, subgraphs, offset)
        for model in {session.model, session.exported}:
            _embed_prototypes(model, subgraphs)
        session.end_epoch(*found)
    if not epochs:
        session.keep_if_best(session.validate())


@torch.no_grad()
def _embed_prototypes(model: ProtGNNMined, subgraphs: Batch) -> None:
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


def _epoch(
    session: Session[ProtGNNMined], parts: PartSet, near: list[Tensor], subgraphs: Batch, offset: Tensor
) -> tuple[float, float]:
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
        logits = head.logits_of(places.values(similar, head.counts.cpu()).to(h.device))
        logits = logits + head.base + offset[chosen].to(h.device)
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
