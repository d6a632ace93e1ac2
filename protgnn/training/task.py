"""From what gets a label to what a recipe leaves open for it: readout, reach and batch size."""

from __future__ import annotations

from typing import Any

from torch import nn

from protgnn.errors import DataError, ProtGNNError
from protgnn.graphs.instances import Instances, NetworkInstances, Reach
from protgnn.graphs.schema import Schema
from protgnn.model.readout import READOUTS, targets_read
from protgnn.training.recipe import Recipe

FEW_EDGES = 100_000
"""Directed edges up to which a step runs over a whole network; that takes about as long as a large sample."""

FANOUT = 5
NODES_PER_STEP = 64
"""Nodes or pairs per step where each brings its own sample of a network."""


def recipe_for(recipe: Recipe, instances: Instances, encoder: nn.Module | None = None) -> Recipe:
    """The recipe with a readout for the targets that instances have and, for those of a network, how they are taken
    out of it, so that a trained model does not depend on the size of the network it is used on. An encoder of the
    user's may know how many layers it has."""
    changes: dict[str, Any] = {}
    layers = getattr(encoder, "num_layers", None)
    if isinstance(layers, int):
        changes["layers"] = layers
    fitting = READOUTS[instances.num_targets]
    if recipe.readout not in fitting:
        if not instances.num_targets or recipe.readout not in READOUTS[0]:
            raise ProtGNNError(
                f"readout={recipe.readout} is not for instances with {instances.num_targets} target nodes: "
                f"use {' or '.join(fitting)}"
            )
        changes["readout"] = fitting[0]
    if isinstance(instances, NetworkInstances):
        changes.update(_for_network(recipe, instances))
    return recipe.model_copy(update=changes) if changes else recipe


def seen_by(recipe: Recipe, instances: Instances) -> Instances:
    """Instances as a model of that recipe sees them: graphs as they are, nodes of a network as far as it hears."""
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
    own = recipe.encoder in ("gcn", "gin", "gat")
    # A foreign encoder does not know what a rim hears elsewhere; one hop more, and what it knows wrongly stays there.
    hops = recipe.layers if own else recipe.layers + 1
    return Reach(hops, recipe.fanout or None, recipe.instance_nodes, recipe.seed)


def noun(recipe: Recipe, schema: Schema) -> str:
    """What a model of that recipe classifies, in a word: a molecule, a node, a pair."""
    return {1: "node", 2: "pair"}.get(targets_read(recipe.readout), schema.kind)


def _for_network(recipe: Recipe, instances: NetworkInstances) -> dict[str, Any]:
    network = instances.network
    if recipe.plus and network.directed:
        raise ProtGNNError("ProtGNN+ is for networks without direction: use plus=False, or read it undirected")
    fanout = recipe.fanout
    if fanout == -1:
        fanout = 0 if network.num_edges <= FEW_EDGES else FANOUT
    size = NODES_PER_STEP if fanout else max(len(instances) // 10, 16)
    return {"fanout": fanout, "batch_size": recipe.batch_size or size}
