"""Algorithm 1 of the paper, and the ending that exact prototypes need. Losses are in ``steps.py``.

=============  =====================================================================================  ==============
stage          what happens                                                                           from
=============  =====================================================================================  ==============
``learn``      Eq. 3 on whole graphs; after T_p epochs a projection every τ epochs                    the paper
``anchored``   ProtGNN+: Eq. 3 and 14 on evidence after the warm-up of T_w epochs;                    the paper
               the best prototypes are projected and stay the embeddings of their subgraphs           ours
``export``     prototypes are set to their subgraphs' embeddings, the last layer is refined on        ours
               similarities that no longer move, and the better ending is exported
=============  =====================================================================================  ==============
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from protgnn.data.batch import Batch
from protgnn.data.network.instances import Instances
from protgnn.errors import RunError
from protgnn.model.classifier import GraphClassifier, PlainGNN, ProtGNN, ProtGNNPlus
from protgnn.model.mined import ProtGNNMined
from protgnn.training.checkpoint import OnEpoch, TrainingState
from protgnn.training.device import join_ranks, without_compiled
from protgnn.training.ending import end_with
from protgnn.training.mined_algorithm import train_mined
from protgnn.training.prototype_subgraphs import cut_subgraphs, nearest_subgraphs, set_prototypes, start_on_graphs
from protgnn.training.prune import prune
from protgnn.training.recipe import Recipe, total_epochs
from protgnn.training.resolve import criterion_of, learning_epochs, resolve, settled
from protgnn.training.selection import SelectBy, choose_ending
from protgnn.training.session import Session
from protgnn.training.state_checks import check_rows, check_sources, check_tensors
from protgnn.training.steps import PlainLoss, PrototypeLoss, anchored_loss, train_epoch


def fit(
    model: GraphClassifier,
    train: Instances,
    valid: Instances,
    recipe: Recipe,
    folder: Path | None = None,
    state: TrainingState | None = None,
    on_epoch: OnEpoch | None = None,
) -> TrainingState:
    """Train a model in place; afterwards it has the exported weights and exact prototypes.

    Args:
        model: The model, built from the recipe.
        train: Labelled training instances.
        valid: Labelled validation instances.
        recipe: How to train; ``"auto"`` values are resolved first.
        folder: Where to store the state during training, if anywhere.
        state: A stored state to continue from.
        on_epoch: Called with the state after every epoch.

    Returns:
        The final state: the log, and where the prototypes come from.
    """
    recipe, state = resolve(recipe, train), state or TrainingState()
    if state.model:
        restore(model, train, state, criterion_of(recipe, train).select_by)
    elif isinstance(model, ProtGNN) and not isinstance(model, ProtGNNMined) and recipe.prototypes_start == "graphs":
        start_on_graphs(model, train, recipe)  # line 1; ours
    session: Session[Any] = Session(model, train, valid, recipe, folder, state, on_epoch, join_ranks(recipe))
    with torch.random.fork_rng():
        if isinstance(model, ProtGNNMined):
            train_mined(session)  # ours
        elif isinstance(model, ProtGNN):
            algorithm_1(session)
        else:
            learn_plain(session)
    without_compiled(model.cpu().eval())
    return state


def restore(model: GraphClassifier, train: Instances, state: TrainingState, select_by: SelectBy) -> None:
    """Load the weights of a stored state into a model.

    Raises:
        RunError: The state does not fit the model or the training graphs.
    """
    try:
        check_rows(state, select_by)
        check_sources(state, train, model)
        if state.sources:
            cut_subgraphs(train, state.sources)
        check_tensors(state, model)
    except (RunError, ValueError) as error:
        raise RunError(f"The stored state does not fit this training ({error}): start again with --overwrite") from None
    model.load_state_dict(state.model)


def learn_plain(session: Session[PlainGNN]) -> None:
    """The plain model: cross-entropy, and the best epoch is kept."""
    recipe, loss = session.recipe, PlainLoss(session)
    for _ in session.epochs(recipe.epochs, settled(recipe.window), loss.lr):
        session.end_epoch(*train_epoch(session, loss))
    session.restore_best()


def algorithm_1(session: Session[ProtGNN]) -> None:
    """Algorithm 1 for T epochs, T_w of them before evidence is learned in ProtGNN+, and its ending."""
    state, recipe = session.state, session.recipe
    if state.stage == "learn":
        learn(session)
        session.restore_best()
        state.sources = nearest_subgraphs(session, recipe.candidates)
        state.begin("anchored")
        for model in {session.model, session.exported}:
            model.begin_anchored_stage()
    subgraphs = cut_subgraphs(session.train, state.sources).batch().to(session.device)
    anchor(session, subgraphs)
    export(session, subgraphs)


def learn(session: Session[ProtGNN]) -> None:
    """Lines 2 to 6: Eq. 3, and a projection every τ epochs after T_p."""
    recipe, loss = session.recipe, PrototypeLoss(session)
    for t in session.epochs(learning_epochs(recipe, len(session.train)), settled(recipe.window), loss.lr):  # line 2
        found = train_epoch(session, loss)  # line 3
        if t > recipe.projection_start and t % recipe.projection_period == 0:  # line 4
            sources = nearest_subgraphs(session, recipe.candidates_on_the_way)  # line 5
            set_prototypes(session, cut_subgraphs(session.train, sources).batch().to(session.device))
        session.end_epoch(*found)


def anchor(session: Session[ProtGNN], subgraphs: Batch) -> None:
    """Lines 7 to 9 for ProtGNN+: Eq. 14, together with Eq. 3. Ours: each prototype stays on its subgraph, and ProtGNN
    has this stage too."""
    state, recipe, loss = session.state, session.recipe, anchored_loss(session, subgraphs)
    if state.epoch == state.stage_start:
        set_prototypes(session, subgraphs)
    most = total_epochs(recipe) - learning_epochs(recipe, len(session.train))
    for _ in session.epochs(most, settled(recipe.ending_window), loss.lr):
        found = train_epoch(session, loss)
        set_prototypes(session, subgraphs)
        session.end_epoch(*found)
    if not most:
        session.keep_if_best(session.validate())


def export(session: Session[ProtGNN], subgraphs: Batch) -> None:
    """Ours: exact prototypes and a refined last layer, from the anchored or from the projected state, whichever is
    better on the validation graphs (docs/decisions/0001); idle prototypes are dropped if asked to."""
    model, state, recipe = session.model.cpu().eval(), session.state, session.recipe
    data = subgraphs.to("cpu"), session.train, session.valid, recipe.refine_steps, session.criterion
    chosen = end_with(model, state.best, *data)
    if not isinstance(model, ProtGNNPlus):  # whose projected state has learned nothing on evidence
        projected = end_with(model, state.learned, *data)
        if choose_ending(chosen.quality, projected.quality, projected.lost) == "projected":
            chosen, state.best_epoch = projected, state.learned_epoch
    model.load_state_dict(chosen.weights)
    if recipe.prune:
        state.sources = prune(model, session.valid, state.sources, session.criterion)
