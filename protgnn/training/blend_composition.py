"""Blending the composition into a model that has been trained (ours, not the paper's).

A GNN learns shapes and overfits, and parts cannot tell how much there is of anything; the composition
(``model/composition.py``), small trees over amounts such as logP or the number of rings, sees no shape and hardly
overfits. They err on different graphs, so their logits are averaged: ``(1 - s) model + s composition``, each at its own
temperature. What the composition adds is shown apart from the rows of prototypes, and sums stay exact. The share ``s``,
which may be zero, has the lowest loss on the validation graphs; in a ProtGNN+ it is zero where parts explain enough
(docs/decisions/0055, 0056).
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.io.seeding import seed_for
from protgnn.model.classifier import GraphClassifier
from protgnn.model.composition import Composition, amounts
from protgnn.training.calibration import fit_temperature
from protgnn.training.evaluate import predict_logits
from protgnn.training.fit_composition import fit_composition
from protgnn.training.mining import graph_weights
from protgnn.training.selection import Criterion, balanced_accuracy_of

SHARES = (0.0, 0.25, 0.5, 0.75)
ENOUGH = 0.95
"""The balanced accuracy on validation graphs with which parts explain alone."""


@torch.no_grad()
def blend_composition(
    model: GraphClassifier, train: Instances, valid: Instances, criterion: Criterion, seed: int
) -> float:
    """Give a trained model a composition where that helps, in place.

    Args:
        model: The model; its composition, if it has one, adds nothing so far.
        train: The training graphs, to fit it to.
        valid: The validation graphs, which say whether it helps.
        criterion: Weights of classes.
        seed: The run's seed.

    Returns:
        The share of the composition, 0 where it does not help.
    """
    composition = model.composition
    if composition is None:
        return 0.0
    assert isinstance(train, GraphSet) and isinstance(valid, GraphSet) and valid.y is not None
    fitted = _fitted(train, criterion, seed)
    if not fitted.is_fitted:  # no amount says anything of the classes
        return 0.0
    own, other = predict_logits(model, valid), fitted(valid.batch())
    if model.compares_evidence and balanced_accuracy_of(own, valid.y) >= ENOUGH:
        return 0.0
    own_at, other_at = fit_temperature(own, valid.y), fit_temperature(other, valid.y)
    losses = {
        share: _loss((1 - share) * own / own_at + share * other / other_at, valid.y, criterion) for share in SHARES
    }
    best = min(losses, key=lambda share: losses[share])
    if not best:
        return 0.0
    model.divide_logits(own_at / (1 - best))
    fitted.divide(other_at / best)
    composition.load_state_dict(fitted.state_dict())
    return best


def _fitted(train: GraphSet, criterion: Criterion, seed: int) -> Composition:
    """A composition that is fitted to the training graphs, with the frequencies of classes in its base."""
    assert train.y is not None
    composition = Composition(train.x.shape[1], train.schema.num_classes)
    weight, y, num_classes = graph_weights(train.y, criterion.class_weight), train.y.numpy(), len(composition.base)
    fitted = fit_composition(amounts(train.batch()).numpy(), y, weight, num_classes, seed_for(seed, "composition"))
    shares = np.bincount(y, weights=weight, minlength=num_classes) + 1.0
    prior = torch.from_numpy(np.log(shares / shares.sum())).float()
    composition.load_trees(fitted.trees._replace(base=fitted.trees.base + prior))
    return composition


def _loss(logits: Tensor, y: Tensor, criterion: Criterion) -> float:
    """Weighted cross-entropy at the temperature that suits the graphs best."""
    return float(criterion.loss(logits / fit_temperature(logits, y), y))
