"""Training a ProtGNN+ with mined prototypes: ours, where Algorithm 1 projects learned vectors.

The guide, a plain GNN, learns on whole graphs for the warm-up of T_w epochs. Its encoder then embeds parts, prototypes
are mined among them, and weights and bases are fitted, which is a convex problem. The encoder does not learn on parts
(docs/decisions/0056).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.data.network.instances import Instances
from protgnn.data.parts import PartSet
from protgnn.io.seeding import generator_for
from protgnn.model.mined import ProtGNNMined
from protgnn.training.evaluate import similarities
from protgnn.training.fit_weights import fit_weights
from protgnn.training.mining import mine
from protgnn.training.prototype_subgraphs import cut_subgraphs
from protgnn.training.resolve import learning_epochs, settled
from protgnn.training.session import Session
from protgnn.training.steps import WholeGraphLoss, train_epoch

SETTLING, SETTLED_AT_ONCE = 30, 500
FIRST_WEIGHT, HEAD_STEPS = 0.1, 300
"""Where the weights of new prototypes begin, and the steps of L-BFGS that they get."""
MOST_MINED = 4000
"""Training graphs that prototypes are mined among, and their weights fitted to, at most: all their parts are in memory
at once."""
IDLE = 0.05
"""A prototype that never adds so much to the logit of its class is idle."""


def train_mined(session: Session[ProtGNNMined]) -> None:
    """All that is left to do."""
    learn_guide(session)
    model, state = session.model, session.state
    index = mined_among(session.train, session.recipe.seed)
    some = session.train[index]
    assert some.y is not None
    parts = model.candidates(some.ego_graphs().batch())
    settle_norms(session, parts)
    most, class_weight = session.recipe.mined_prototypes, session.criterion.class_weight
    state.sources = numbered(mine(model, parts, some.y, most, class_weight).as_sources(), index)
    place_prototypes(model, session.train, state.sources)
    fit_head(session, parts, some.y)
    # On the CPU, where the model is used: another device may round otherwise.
    embed_prototypes(model.cpu(), cut_subgraphs(session.train, state.sources).batch())


def mined_among(train: Instances, seed: int) -> Tensor:
    """The numbers of the training graphs that prototypes are mined among, ascending: all, or of many a random part."""
    order = torch.randperm(len(train), generator=generator_for(seed, "mined among"))
    return order[:MOST_MINED].sort().values


def numbered(sources: list[dict[str, Any]], index: Tensor) -> list[dict[str, Any]]:
    """Sources in some of the training graphs, which are numbered by ``index [S]``, as sources in all of them."""
    return [{**source, "graph": int(index[source["graph"]])} for source in sources]


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
    model.eval()  # the guide is as it was chosen, and so are the parts that it points at


@torch.no_grad()
def drop_idle(
    model: ProtGNNMined, train: Instances, sources: list[dict[str, Any]], kept: int = 0
) -> list[dict[str, Any]]:
    """Drop prototypes, but for the first ``kept``, that add less than ``IDLE`` to the logit of their class in every
    training graph; the sources of the others."""
    head, value = model.head, similarities(model, train)
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


@torch.no_grad()
def fit_head(session: Session[ProtGNNMined], parts: PartSet, y: Tensor) -> None:
    """Weights and bases for prototypes that were just placed, given the parts of graphs of the classes ``y [G]``."""
    model = session.model
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
    model.set_looks(subgraphs)
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


@torch.no_grad()
def embed_prototypes(model: ProtGNNMined, subgraphs: Batch) -> None:
    """Let every prototype be the embedding of its part under the encoder as it is."""
    model.head.vectors.copy_(model.eval().embed_parts(subgraphs))
    model.head.constrain()  # an average of constrained weights may be off by a little
