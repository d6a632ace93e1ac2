"""From a recipe and the shape of the data to a model with its initial weights."""

from __future__ import annotations

import copy
from typing import TypeVar

import torch
from torch import Tensor, nn

from protgnn.data.schema import Schema
from protgnn.errors import ProtGNNError
from protgnn.featurizers.batch_units import BatchUnits
from protgnn.featurizers.part_rule import PartRule
from protgnn.io.seeding import seed_for
from protgnn.model.classifier import GraphClassifier, PlainGNN, ProtGNN, ProtGNNPlus
from protgnn.model.composition import Composition
from protgnn.model.encoders import Encoder
from protgnn.model.mined import MinedHead, ProtGNNMined
from protgnn.model.prototype_layer import PrototypeHead
from protgnn.model.pyg_encoder import PyGEncoder, pyg_encoder
from protgnn.model.readout import Pooling, readout_width
from protgnn.model.sampler import Sampler
from protgnn.training.recipe import Recipe, evidence_options, is_mined

Model = TypeVar("Model", bound=GraphClassifier)


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
        made_of = Composition(len(schema.node_features), schema.num_classes) if recipe.composition else None
        if recipe.head == "plain":
            plain = _reading(PlainGNN(encoder, recipe.readout, nn.Linear(width, schema.num_classes)), schema)
            plain.composition = made_of
            return plain
        if classes is None:
            classes = torch.arange(schema.num_classes).repeat_interleave(recipe.prototypes)
        if is_mined(recipe):
            whole = _encoder(recipe, schema, module)
            guide = _reading(PlainGNN(whole, recipe.readout, nn.Linear(width, schema.num_classes)), schema)
            mined = MinedHead(width, classes, schema.num_classes)
            rule = PartRule.of(schema)
            budget, layers = recipe.evidence_edges, recipe.layers
            both = ProtGNNMined(encoder, recipe.readout, mined, guide, rule, budget, layers, made_of)
            return _reading(both, schema)
        head = PrototypeHead(width, classes, schema.num_classes, recipe.epsilon)
        if not recipe.plus:
            whole_graphs = _reading(ProtGNN(encoder, recipe.readout, head), schema)
            whole_graphs.composition = made_of
            return whole_graphs
        sampler = Sampler(encoder.width_out, prototype_width=width)
        units = BatchUnits.of(schema) if recipe.whole_parts else None
        return _reading(ProtGNNPlus(encoder, recipe.readout, head, sampler, evidence_options(recipe), units), schema)


def _reading(model: Model, schema: Schema) -> Model:
    """The model with what its readout needs to know of the data."""
    if model.readout == "full":
        model.pooling = Pooling(model.encoder.width_out, len(schema.node_features))
    return model


def _encoder(recipe: Recipe, schema: Schema, module: nn.Module | None) -> Encoder | PyGEncoder:
    width, edges = len(schema.node_features), len(schema.edge_features) if recipe.edge_features else 0
    if recipe.encoder == "custom":
        if module is None:
            raise ProtGNNError(
                "This model has an encoder of your own: give the module, as in from_run(path, encoder=…)"
            )
        return PyGEncoder(copy.deepcopy(module), edge_features=edges)
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
