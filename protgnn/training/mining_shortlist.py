"""Which parts are worth a closer look: those that recur and that tell something the others do not.

Mining compares every candidate with every part of every training graph, so candidates must be few. They are found by
how often parts occur, without any encoder: the parts whose occurrences agree best with the classes, then, in a few
rounds of boosting, those that agree best with what the best so far leave wrong. Without these rounds the list of a
label such as *amide* has only amides in different surroundings, and no lactam.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from protgnn.data.parts import PartSet

LEAST_SUPPORT, FEWEST = 0.004, 3
"""Share of the training graphs that must have a candidate, and at least so many of them."""

FIRST, FURTHER, ROUNDS = 25, 4, 12
"""Candidates of each class that are taken at first and in every further round."""

MOST_COUNTED = 8
"""How often a part is counted in one graph at most."""

SIZE_COST = 0.05
"""Standard errors that each node of a candidate must earn."""


def shortlist(parts: PartSet, y: np.ndarray) -> np.ndarray:
    """Different parts worth a closer look for graphs of the classes ``y [G]``, ascending.

    By how they look and by all that the encoder sees; by whether they are there and by how often. Of each look the most
    usual part stands for it.
    """
    by_look, look = _looks(parts)
    full = _occurrences(parts, parts.distinct, len(parts.look_key))
    usual = np.zeros(by_look.shape[1], np.int64)
    order = np.argsort(np.asarray((full > 0).sum(0)).ravel(), kind="stable")
    usual[look[order]] = order  # the last one written is the most frequent
    size = parts.nodes[parts.first]
    chosen: set[int] = set()
    for table, stands_for in ((by_look, usual), (full, np.arange(full.shape[1]))):
        enough = _enough(table)
        counted, stands_for = table[:, enough], stands_for[enough]
        for most in (1, MOST_COUNTED):
            values = _at_most(counted, most)
            chosen.update(stands_for[telling(values, y, SIZE_COST * size[stands_for])].tolist())
    return np.array(sorted(chosen))


def telling(values: csr_array, y: np.ndarray, cost: np.ndarray) -> list[int]:
    """Columns of ``values [G, R]`` that agree with the classes ``y [G]`` beyond their ``cost [R]``, in standard errors,
    or with what is left of them when the best columns have been taken into account."""
    graphs, classes = values.shape[0], int(y.max()) + 1
    mean = np.asarray(values.mean(0)).ravel()
    length = np.sqrt(np.maximum(np.asarray(values.multiply(values).sum(0)).ravel() - graphs * mean**2, 0)) + 1e-6
    target = np.eye(classes)[y]
    logits = np.tile(np.log(target.mean(0) + 1e-3), (graphs, 1))
    across = values.T.tocsr()
    chosen: dict[int, None] = {}
    for number in range(1 + ROUNDS):
        share = np.exp(logits - logits.max(1, keepdims=True))
        share /= share.sum(1, keepdims=True)
        residual = target - share
        agrees = (across @ residual - mean[:, None] * residual.sum(0)) / length[:, None]
        agrees = agrees / (residual.std(0) + 1e-6) - cost[:, None]
        for label in range(classes):
            order = np.argsort(-agrees[:, label], kind="stable")
            new = [int(column) for column in order[: FIRST + FURTHER * number] if int(column) not in chosen]
            chosen.update(dict.fromkeys(new[: FURTHER if number else FIRST]))
            centred = values[:, [order[0]]].toarray().ravel() - mean[order[0]]
            hessian = (centred**2 * share[:, label] * (1 - share[:, label])).sum() + 1.0
            logits[:, label] += centred * (centred @ residual[:, label]) / hessian
    return list(chosen)


def look_shares(parts: PartSet) -> np.ndarray:
    """The share of the graphs that have a part of the look of each different part, ``[D]``."""
    by_look, look = _looks(parts)
    shares: np.ndarray = np.asarray((by_look > 0).mean(0)).ravel()[look]
    return shares


def _looks(parts: PartSet) -> tuple[csr_array, np.ndarray]:
    """How often each graph has each look, ``[G, L]``, and the look of each different part, ``[D]``."""
    _, look = np.unique(parts.look_key, return_inverse=True)
    return _occurrences(parts, look[parts.distinct], int(look.max()) + 1), look


def _at_most(table: csr_array, most: int) -> csr_array:
    """The same table with no number above ``most``."""
    values = table.copy()
    values.data = np.minimum(values.data, most)
    return values


def _enough(table: csr_array) -> np.ndarray:
    """The columns that enough graphs have."""
    support = np.asarray((table > 0).sum(0)).ravel()
    return np.flatnonzero(support >= min(max(FEWEST, LEAST_SUPPORT * table.shape[0]), support.max()))


def _occurrences(parts: PartSet, column: np.ndarray, columns: int) -> csr_array:
    """How often each column is met in each graph, ``[G, columns]``."""
    table = csr_array((np.ones(len(parts)), (parts.graph, column)), shape=(parts.num_graphs, columns))
    table.sum_duplicates()
    return table
