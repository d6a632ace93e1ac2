"""Retrain after edits: required prototypes are kept, forbidden parts are never chosen.

A ProtGNN+ with mined prototypes keeps its encoder, mines new prototypes beside the required ones among parts that are
not forbidden, and fits their weights. A ProtGNN, and a sampled ProtGNN+, keep all prototypes and repeat the anchored
stage: encoder and last layer are trained while each prototype stays the embedding of its part.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from protgnn.data.network.instances import Instances
from protgnn.data.parts import PartSet, part_set
from protgnn.data.units import members
from protgnn.editing.part_looks import LookKey, look_key, look_size, training_look
from protgnn.model.classifier import ProtGNN
from protgnn.model.mined import ProtGNNMined
from protgnn.training.add_composition import add_composition
from protgnn.training.algorithm import anchor
from protgnn.training.checkpoint import OnEpoch, TrainingState
from protgnn.training.edits import StoredSource
from protgnn.training.ending import end_with
from protgnn.training.mined_algorithm import (
    drop_idle,
    embed_prototypes,
    fit_head,
    mined_among,
    numbered,
    place_prototypes,
)
from protgnn.training.mining import mine
from protgnn.training.prototype_subgraphs import cut_subgraphs
from protgnn.training.recipe import Recipe
from protgnn.training.resolve import learning_epochs
from protgnn.training.session import Session


@dataclass(frozen=True, eq=False)
class Retrained:
    """The sources of the prototypes after training, the numbers of the required ones, and the log of the epochs."""

    sources: list[StoredSource]
    required: list[int]
    rows: list[dict[str, float]]


def retrain(
    model: ProtGNN,
    train: Instances,
    valid: Instances,
    recipe: Recipe,
    sources: list[StoredSource],
    required: list[int],
    forbidden: set[LookKey],
    on_epoch: OnEpoch | None = None,
) -> Retrained:
    """Train an edited model in place for at most ``recipe.anchored_epochs`` epochs.

    Args:
        model: The edited model, not calibrated.
        train: Its training set, as model input.
        valid: Its validation set.
        recipe: Its recipe.
        sources: Where its prototypes come from.
        required: The numbers of the prototypes to keep.
        forbidden: Looks that no prototype may have.
        on_epoch: Called after every epoch.
    """
    recipe = recipe.model_copy(update={"epochs": learning_epochs(recipe, len(train))})  # none of them is left to do
    if model.composition is not None:
        model.composition.reset()  # added again at the end, as in training
    session: Session[Any] = Session(model, train, valid, recipe, None, TrainingState(), on_epoch)
    with torch.random.fork_rng():
        if isinstance(model, ProtGNNMined):
            kept = [sources[number] for number in required]
            done = _mined_again(session, train, kept, forbidden)
        else:
            done = _anchored_again(session, sources, required)
        add_composition(model, train, valid, session.criterion, recipe.seed)
        return done


def _anchored_again(session: Session[ProtGNN], sources: list[StoredSource], required: list[int]) -> Retrained:
    """Repeat the anchored stage and its ending."""
    state, recipe = session.state, session.recipe
    state.sources = [source.model_dump() for source in sources]
    state.begin("anchored")
    subgraphs = cut_subgraphs(session.train, state.sources).batch()
    anchor(session, subgraphs.to(session.device))
    model = session.model.cpu().eval()
    ending = end_with(
        model, state.best, subgraphs, session.train, session.valid, recipe.refine_steps, session.criterion
    )
    model.load_state_dict(ending.weights)
    return Retrained(sources, required, state.rows)


def _mined_again(
    session: Session[ProtGNNMined], train: Instances, kept: list[StoredSource], forbidden: set[LookKey]
) -> Retrained:
    """Mine prototypes again; the ``kept`` ones come first."""
    model, state = session.model, session.state
    index = mined_among(session.train, session.recipe.seed)
    some = session.train[index]
    assert some.y is not None
    parts = model.candidates(some.ego_graphs().batch())
    allowed = without_looks(model, parts, some, forbidden)
    found = mine(model, allowed, some.y, session.recipe.mined_prototypes, session.criterion.class_weight)
    sources = [*kept, *_beside(train, kept, numbered(found.as_sources(), index), forbidden, session.recipe)]
    state.sources = [source.model_dump() for source in sources]
    place_prototypes(model, session.train, state.sources)
    fit_head(session, parts, some.y)
    embed_prototypes(model.cpu(), cut_subgraphs(session.train, state.sources).batch())
    left = drop_idle(model, session.train, state.sources, len(kept))
    return Retrained([StoredSource(**source) for source in left], list(range(len(kept))), state.rows)


def _beside(
    train: Instances,
    kept: list[StoredSource],
    mined: list[dict[str, Any]],
    forbidden: set[LookKey],
    recipe: Recipe,
) -> list[StoredSource]:
    """The mined sources that are neither forbidden nor equal to a kept one, up to the number per class."""
    taken = {(source.label, training_look(train, source.graph, source.nodes)) for source in kept}
    had = Counter(source.label for source in kept)
    chosen = []
    for source in mined:
        look, label = training_look(train, source["graph"], source["nodes"]), source["label"]
        if look in forbidden or (label, look) in taken or had[label] >= recipe.mined_prototypes:
            continue
        had[label] += 1
        chosen.append(StoredSource(**source))
    return chosen


def without_looks(model: ProtGNNMined, parts: PartSet, train: Instances, forbidden: set[LookKey]) -> PartSet:
    """The candidate parts without those that have a forbidden look. A graph without any other keeps its first part.

    Args:
        model: The model that mines.
        parts: The candidate parts of the training graphs.
        train: The training graphs.
        forbidden: The forbidden looks.
    """
    if not forbidden:
        return parts
    graphs, sizes = train.ego_graphs(), {look_size(look) for look in forbidden}
    banned = np.zeros(len(parts.first), bool)
    for different, row in enumerate(parts.first.tolist()):
        if int(parts.nodes[row]) in sizes:
            nodes = list(members(parts.masks[row]))
            banned[different] = look_key(graphs[int(parts.graph[row])], nodes) in forbidden
    kept: list[list[int]] = [[] for _ in range(parts.num_graphs)]
    for mask, graph, different in zip(parts.masks, parts.graph.tolist(), parts.distinct.tolist(), strict=True):
        if not banned[different]:
            kept[graph].append(mask)
    masks = [own or [parts.masks[int(parts.ptr[graph])]] for graph, own in enumerate(kept)]
    batch = graphs.batch()
    return part_set(batch, masks, model.rule.kinds(batch), model.layers)
