"""Does every prototype do its work? Figures of prototypes on held-out graphs.

==========================  =====================================================================================
``prototype_auc``           how well its values rank the graphs of its class above the others (ROC AUC): the lowest
``prototype_auc_mean``      the mean over prototypes
``weak_prototypes``         how many are below 0.60
``idle``                    how many never add ``IDLE`` to the logit of their class
``overlapping``             pairs of one class that are cut from overlapping parts of one training graph
==========================  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from sklearn.metrics import roc_auc_score

from protgnn.explain.explanation import Reasoning
from protgnn.training.mined_algorithm import IDLE
from protgnn.training.prototype_cards import PrototypeCard, Prototypes

WEAK = 0.60


def prototype_figures(reasonings: Sequence[Reasoning], prototypes: Prototypes) -> dict[str, float]:
    """The figures of labelled, explained graphs."""
    cards = prototypes.cards
    figures: dict[str, float] = {"overlapping": overlapping(cards)}
    if not reasonings:
        return figures
    values = np.array([[row.similarity for row in why.rows] for why in reasonings])
    added = np.array([[row.contribution(row.label) for row in why.rows] for why in reasonings])
    figures["idle"] = int((added.max(0) < IDLE).sum())
    truth = np.array([-1 if why.truth is None else why.truth for why in reasonings])
    aucs = [
        float(roc_auc_score(truth == card.label, values[:, number]))
        for number, card in enumerate(cards)
        if 0 < int((truth == card.label).sum()) < len(truth)
    ]
    if aucs:
        figures |= {
            "prototype_auc": min(aucs),
            "prototype_auc_mean": sum(aucs) / len(aucs),
            "weak_prototypes": sum(value < WEAK for value in aucs),
        }
    return figures


def overlapping(cards: Sequence[PrototypeCard]) -> int:
    """Pairs of prototypes of one class that share a node of one training graph."""
    return sum(
        one.label == other.label and one.graph == other.graph and not set(one.nodes).isdisjoint(other.nodes)
        for one, other in combinations(cards, 2)
    )
