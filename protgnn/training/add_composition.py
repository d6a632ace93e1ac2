"""Adding the composition to a model that has been trained (ours, not the paper's).

A GNN learns shapes and overfits, and parts cannot tell how much there is of anything; the composition
(``model/composition.py``), small trees over amounts such as logP or the number of rings, sees no shape and hardly
overfits. They err on different graphs. What the composition adds is shown apart from the rows of prototypes, and sums
stay exact.

===================  ==============================================================================================
ProtGNN+             Where parts do not explain enough, their logits are halved, since they were chosen and weighted on
                     the same graphs and are too sure of these, and trees are boosted on top: amounts tell what parts
                     leave open (docs/decisions/0060, 0062)
plain GNN, ProtGNN   The logits are averaged: ``(1 - s) model + s composition``, each at its own temperature. The
                     share ``s``, which may be zero, has the lowest loss on the validation graphs (docs/decisions/0055,
                     0056). They fit the training graphs so well that nothing would be left to boost.
===================  ==============================================================================================
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.io.seeding import seed_for
from protgnn.model.classifier import GraphClassifier
from protgnn.model.composition import Composition, Trees, amounts
from protgnn.training.calibration import fit_temperature
from protgnn.training.evaluate import predict_logits
from protgnn.training.fit_composition import fit_composition
from protgnn.training.fit_weights import graph_weights
from protgnn.training.selection import Criterion, balanced_accuracy_of

SHARES = (0.0, 0.25, 0.5, 0.75)
ENOUGH = 0.95
"""The balanced accuracy, on the training graphs and on the validation graphs, with which parts explain alone: a few
validation graphs may all be predicted rightly by luck."""

PART_SHARE = 0.5
"""What the logits of parts are multiplied by before trees are boosted on top of them."""


@torch.no_grad()
def add_composition(
    model: GraphClassifier, train: Instances, valid: Instances, criterion: Criterion, seed: int
) -> None:
    """Give a trained model a composition where that helps, in place.

    Args:
        model: The model; its composition, if it has one, adds nothing so far.
        train: The training graphs, to fit it to.
        valid: The validation graphs, which say whether it helps.
        criterion: Weights of classes.
        seed: The run's seed.
    """
    if model.composition is None:
        return
    assert isinstance(train, GraphSet) and isinstance(valid, GraphSet) and valid.y is not None
    if not model.compares_evidence:
        blend(model, train, valid, criterion, seed)
    elif min(_balanced_accuracy(model, train), _balanced_accuracy(model, valid)) < ENOUGH:
        model.divide_logits(1 / PART_SHARE)
        model.composition.load_trees(_trees(train, criterion, seed, predict_logits(model, train)))


def blend(model: GraphClassifier, train: GraphSet, valid: GraphSet, criterion: Criterion, seed: int) -> float:
    """Let the logits be the weighted mean of the model's and a composition's; the share of the composition, which is
    zero where no amount says anything of the classes."""
    assert model.composition is not None and valid.y is not None
    fitted = _fitted(train, criterion, seed)
    own, other = predict_logits(model, valid), fitted(valid.batch())
    own_at, other_at = fit_temperature(own, valid.y), fit_temperature(other, valid.y)
    losses = {
        share: _loss((1 - share) * own / own_at + share * other / other_at, valid.y, criterion)
        for share in (SHARES if fitted.is_fitted else SHARES[:1])
    }
    best = min(losses, key=lambda share: losses[share])
    if best:
        model.divide_logits(own_at / (1 - best))
        fitted.divide(other_at / best)
        model.composition.load_state_dict(fitted.state_dict())
    return best


def _balanced_accuracy(model: GraphClassifier, graphs: GraphSet) -> float:
    assert graphs.y is not None
    return balanced_accuracy_of(predict_logits(model, graphs), graphs.y)


def _trees(train: GraphSet, criterion: Criterion, seed: int, offset: Tensor | None = None) -> Trees:
    """Trees that are fitted to the training graphs, on top of logits ``[G, C]`` or of the frequencies of classes."""
    assert train.y is not None
    weight, y, num_classes = graph_weights(train.y, criterion.class_weight), train.y.numpy(), train.schema.num_classes
    given = None if offset is None else offset.double().numpy()
    amount = amounts(train.batch()).numpy()
    return fit_composition(amount, y, weight, num_classes, seed_for(seed, "composition"), given).trees


def _fitted(train: GraphSet, criterion: Criterion, seed: int) -> Composition:
    """A composition that is fitted to the training graphs, with the frequencies of classes in its base."""
    assert train.y is not None
    composition = Composition(train.x.shape[1], train.schema.num_classes)
    trees, weight = _trees(train, criterion, seed), graph_weights(train.y, criterion.class_weight)
    shares = np.bincount(train.y.numpy(), weights=weight, minlength=len(composition.base)) + 1.0
    prior = torch.from_numpy(np.log(shares / shares.sum())).float()
    composition.load_trees(trees._replace(base=trees.base + prior))
    return composition


def _loss(logits: Tensor, y: Tensor, criterion: Criterion) -> float:
    """Weighted cross-entropy at the temperature that suits the graphs best."""
    return float(criterion.loss(logits / fit_temperature(logits, y), y))
