"""From a recipe and the shape of the data to a model with its initial weights."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from protgnn.errors import ProtGNNError
from protgnn.graphs.schema import Schema
from protgnn.model.classifier import GraphClassifier
from protgnn.model.encoders import Encoder
from protgnn.model.foreign import ForeignEncoder, pyg_encoder
from protgnn.model.prototypes import PrototypeHead
from protgnn.model.readout import readout_width
from protgnn.model.sampler import Sampler
from protgnn.training.chance import seed_for
from protgnn.training.recipe import Recipe, part_sizes


def build(
    recipe: Recipe, schema: Schema, module: nn.Module | None = None, classes: Tensor | None = None
) -> GraphClassifier:
    """The model of a recipe for data of that schema.

    ``module`` is the encoder where the recipe says custom; ``classes [K]`` are the classes of the prototypes where
    pruning has left other than the recipe's number.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_for(recipe.seed, "weights"))
        encoder = _encoder(recipe, schema, module)
        width = readout_width(recipe.readout, encoder.width_out)
        head = _head(recipe, schema, width, classes)
        sampler = Sampler(encoder.width_out, prototype_width=width) if recipe.plus else None
        return GraphClassifier(encoder, recipe.readout, head, sampler, part_sizes(recipe))


def _head(recipe: Recipe, schema: Schema, width: int, classes: Tensor | None) -> nn.Linear | PrototypeHead:
    if recipe.head == "plain":
        return nn.Linear(width, schema.num_classes)
    if classes is None:
        classes = torch.arange(schema.num_classes).repeat_interleave(recipe.prototypes)
    return PrototypeHead(width, classes, schema.num_classes, recipe.epsilon)


def _encoder(recipe: Recipe, schema: Schema, module: nn.Module | None) -> Encoder | ForeignEncoder:
    width, edges = len(schema.node_features), len(schema.edge_features) if recipe.edge_features else 0
    if recipe.encoder == "custom":
        if module is None:
            raise ProtGNNError(
                "This model has an encoder of your own: give the module, as in from_run(path, encoder=…)"
            )
        return ForeignEncoder(copy.deepcopy(module), edge_features=edges)
    if recipe.encoder.startswith("pyg:"):
        try:
            name = recipe.encoder.removeprefix("pyg:")
            return pyg_encoder(name, width, recipe.hidden, recipe.layers, recipe.norm, recipe.dropout, edges)
        except (ValueError, TypeError) as error:
            raise ProtGNNError(f"Encoder {recipe.encoder}: {error}") from None
    return Encoder(
        recipe.encoder,  # type: ignore[arg-type]
        width,
        recipe.hidden,
        recipe.layers,
        recipe.norm,
        recipe.dropout,
        recipe.heads,
        edges,
    )
