"""From data to what a recipe leaves open for it: everything that is ``"auto"`` is settled here, once."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import nn

from protgnn.data.network.instances import Instances, NetworkInstances, Reach
from protgnn.data.schema import Schema
from protgnn.data.wl_hashes import row_hashes
from protgnn.datasets.policy import default_encoder
from protgnn.errors import DataError, ProtGNNError
from protgnn.model.readout import READOUTS, targets_read
from protgnn.training.class_weight import class_weights
from protgnn.training.recipe import Auto, Recipe, largest_prototype, total_epochs
from protgnn.training.selection import Criterion, SelectBy, stage_window

FEW_EDGES = 100_000
"""Directed edges up to which a step runs over a whole network; that takes about as long as a large sample."""

FANOUT = 5

NODES_PER_STEP = 64
"""Nodes or pairs per step where each brings its own sample of a network."""

FEW_KINDS = 32
"""Kinds of nodes, and of edges, of which parts that look the same can recur."""

OWN_ENCODERS = ("gcn", "gin", "gat")


def resolve(recipe: Recipe, train: Instances, encoder: nn.Module | None = None) -> Recipe:
    """The recipe with nothing left to be chosen by the data, given the training instances.

    A trained model therefore does not depend on the size of what it is used on, and a run says what it was trained
    with. Where to compute may stay auto: that is up to the machine. How the parts are drawn is settled before there are
    any, in ``protgnn.datasets``. Resolving twice changes nothing.

    Args:
        recipe: as the user gave it.
        train: what to learn from.
        encoder: a module of the user's, which may know how many layers it has.

    Raises:
        ProtGNNError: the readout is not for these instances, or ProtGNN+ is asked for on a directed network.
    """
    recipe = recipe.model_copy(update={"evidence": _evidence(recipe, train)})
    recipe = recipe.model_copy(update={"composition": _composition(recipe, train)})
    changes: dict[str, Any] = {"readout": _readout(recipe, train), "search_max_nodes": largest_prototype(recipe)}
    layers = getattr(encoder, "num_layers", None)
    if isinstance(layers, int):
        changes["layers"] = layers
    criterion_of(recipe, train)  # refuses weights of classes that are not there
    encoder_for_task = default_encoder(train.num_targets)
    if encoder_for_task is not None and "encoder" not in recipe.model_fields_set:
        changes["encoder"] = encoder_for_task
    changes |= {"select_by": _select_by(recipe), **_sampling(recipe, train)}
    sized = recipe.model_copy(update=changes)
    graphs = len(train)
    patience = epochs_of_patience(sized, graphs)
    learning = learning_epochs(sized, graphs)
    ending = total_epochs(sized) - learning
    windows = {
        "window": window_of(sized, graphs, learning) if recipe.window == "auto" else recipe.window,
        "ending_window": window_of(sized, graphs, ending) if recipe.window == "auto" else recipe.window,
    }
    if recipe.ending_window != "auto":
        windows["ending_window"] = recipe.ending_window
    return sized.model_copy(update={"warm_up": warm_up_of(sized, graphs), "patience": patience, **windows})


def settled(value: int | Auto) -> int:
    """The number of a knob that is settled by now."""
    if value == "auto":
        raise ValueError("Expected a settled recipe (got one with auto in it): resolve it first")
    return value


def criterion_of(recipe: Recipe, train: Instances) -> Criterion:
    """What a recipe minimises and selects by, given the training instances, whose classes may have weights.

    Raises:
        ProtGNNError: A weight is for a class that is not there.
    """
    assert train.y is not None
    return Criterion(_select_by(recipe), class_weights(recipe.class_weight, train.y, train.schema.class_names))


def _select_by(recipe: Recipe) -> SelectBy:
    """Weights are for data in which accuracy says little."""
    if recipe.select_by != "auto":
        return recipe.select_by
    return "accuracy" if recipe.class_weight == "none" else "balanced_accuracy"


def graphs_per_step(recipe: Recipe, graphs: int) -> int:
    """The batch size of a recipe for so many training graphs: small sets want more steps per epoch."""
    return min(max(graphs // 10, 16), 64) if recipe.batch_size == "auto" else recipe.batch_size


def steps_per_epoch(recipe: Recipe, graphs: int) -> int:
    """Steps that one pass over so many training graphs takes."""
    return -(-graphs // graphs_per_step(recipe, graphs))


def warm_up_of(recipe: Recipe, graphs: int) -> int:
    """The epochs T_w of a recipe for so many training graphs."""
    if recipe.warm_up != "auto":
        return recipe.warm_up
    return min(100, -(-1000 // steps_per_epoch(recipe, graphs)))


def learning_epochs(recipe: Recipe, graphs: int) -> int:
    """Epochs on whole graphs, at most: all of T, or T_w where the rest is for evidence."""
    return min(warm_up_of(recipe, graphs), recipe.epochs) if recipe.plus else recipe.epochs


def epochs_of_patience(recipe: Recipe, graphs: int) -> int:
    """The epochs to wait for a better one with so many training graphs: few graphs make few steps per epoch."""
    if recipe.patience != "auto":
        return recipe.patience
    return max(30, -(-1000 // steps_per_epoch(recipe, graphs)))


def window_of(recipe: Recipe, graphs: int, epochs: int) -> int:
    """The epochs to average over in a stage of at most so many, with so many training graphs: few graphs make few steps
    per epoch, and leave few to validate on."""
    patience = epochs_of_patience(recipe, graphs)
    if recipe.window != "auto":
        return stage_window(recipe.window, epochs, patience)
    # at most half of them, or there would be nothing to choose from
    return stage_window(min(-(-200 // steps_per_epoch(recipe, graphs)), epochs // 2), epochs, patience)


def as_model_input(recipe: Recipe, instances: Instances) -> Instances:
    """Instances as a model of that recipe sees them: graphs as they are, nodes of a network with what is in reach."""
    wanted = targets_read(recipe.readout)
    if instances.num_targets != wanted:
        raise DataError(
            f"The model was trained on instances with {wanted} target nodes, and these have {instances.num_targets}: "
            "give it data made in the same way as its training data"
        )
    if not isinstance(instances, NetworkInstances):
        return instances
    return instances.reaching(reach_of(recipe))


def reach_of(recipe: Recipe) -> Reach:
    """How much of a network a model of that recipe sees around a node."""
    # An encoder of PyG's or the user's does not know the degrees that nodes on the rim have outside: one hop more, and
    # what it gets wrong stays there.
    hops = recipe.layers if recipe.encoder in OWN_ENCODERS else recipe.layers + 1
    fanout = None if recipe.fanout in ("auto", 0) else settled(recipe.fanout)
    return Reach(hops, fanout, recipe.instance_nodes, recipe.seed)


def noun(recipe: Recipe, schema: Schema) -> str:
    """What a model of that recipe classifies, in a word: a molecule, a node, a pair."""
    return {1: "node", 2: "pair"}.get(targets_read(recipe.readout), schema.kind)


def _composition(recipe: Recipe, train: Instances) -> bool:
    """Whether the make-up of a graph may count: the columns of words mean nothing to a reader, what is around a node of
    a network is no whole, and a sampler's evidence is all that the paper's ProtGNN+ has."""
    graphs = not train.num_targets and train.schema.kind != "sentence"
    return recipe.composition and graphs and (not recipe.plus or recipe.evidence == "mined")


def _evidence(recipe: Recipe, train: Instances) -> str:
    """What kind of evidence: auto is mined for graphs and for nodes of a network of few kinds; sampled for links, for
    nodes of many kinds, of which no part recurs, and for sentences, whose words mean alike without looking alike."""
    if recipe.evidence != "auto":
        return recipe.evidence
    if train.schema.kind == "sentence" or train.num_targets > 1:
        return "sampled"
    return "mined" if not train.num_targets or _has_few_kinds(train) else "sampled"


def _has_few_kinds(train: Instances) -> bool:
    """Whether the nodes of a network, and its edges, are of few kinds, so that parts can look the same."""
    whole = train.network if isinstance(train, NetworkInstances) else train.ego_graphs()
    seen = whole.x[:, train.schema.seen_in_parts].numpy()
    edges = None if whole.edge_attr is None else whole.edge_attr.numpy()
    return all(len(np.unique(row_hashes(table))) <= FEW_KINDS for table in (seen, edges) if table is not None)


def _readout(recipe: Recipe, instances: Instances) -> str:
    """The recipe's readout, or where it is one of graphs and the instances have targets one of theirs."""
    fitting = READOUTS[instances.num_targets]
    if recipe.readout in fitting:
        return recipe.readout
    if not instances.num_targets or recipe.readout not in READOUTS[0]:
        raise ProtGNNError(
            f"readout={recipe.readout} is not for instances with {instances.num_targets} target nodes: "
            f"use {' or '.join(fitting)}"
        )
    return fitting[0]


def _sampling(recipe: Recipe, train: Instances) -> dict[str, int]:
    """How many neighbours are sampled and how many instances are in a step."""
    if not isinstance(train, NetworkInstances):
        return {
            "fanout": 0 if recipe.fanout == "auto" else recipe.fanout,
            "batch_size": graphs_per_step(recipe, len(train)),
        }
    if recipe.plus and recipe.evidence == "mined" and train.num_targets > 1:
        raise ProtGNNError("evidence=mined is for graphs and nodes: links have evidence=sampled")
    if recipe.plus and train.network.directed:
        raise ProtGNNError("ProtGNN+ is for networks without direction: use plus=False, or read it undirected")
    few = train.network.num_edges <= FEW_EDGES
    fanout = (0 if few else FANOUT) if recipe.fanout == "auto" else recipe.fanout
    size = NODES_PER_STEP if fanout else max(len(train) // 10, 16)
    return {"fanout": fanout, "batch_size": size if recipe.batch_size == "auto" else recipe.batch_size}
