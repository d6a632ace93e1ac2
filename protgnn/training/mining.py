"""Mining prototypes: parts that recur in their class and explain what the others leave wrong.

A candidate is a part that many training graphs have. Its column of values says how much each graph has of it, once as
the similarity of the best place and once as the sum over all places. Prototypes are chosen greedily: next comes the
candidate whose values agree best with what the prototypes so far leave wrong, until none does so beyond chance.
Weights are positive and for the own class alone, so a row is always a reason for its class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from protgnn.data.parts import PartSet
from protgnn.data.units import members
from protgnn.model.mined import ProtGNNMined
from protgnn.training.fit_weights import NEXT_TO_NONE, fit_weights, graph_weights
from protgnn.training.mining_shortlist import look_shares, shortlist

LEAST_AUC = 0.5
"""How well the values of a candidate must rank its class above the others; a rare part ranks only the few graphs that
have it."""

LEAST_Z = 2.5
"""Standard errors by which a candidate must agree with what is still wrong, beyond the cost of its size: the best of a
hundred that tell nothing reaches about as much by chance."""

LEAST_GAIN, LEAST_SHARE = 3.0, 0.01
"""Log-likelihood that a prototype must add, and as a share of what is open before there is any: what helps fewer graphs
is one row more to read for all others (docs/decisions/0058)."""

SURE_Z = 5.0
"""Standard errors from which on a candidate that adds ``LEAST_GAIN`` is taken whatever its share: where little is
wrong, a rare variant of what the classes are told by stands out."""

PASSED_OVER = 5
"""Candidates in a row that add less than that, after which none is looked at."""

SIZE_COST, LARGEST = 0.05, 12
"""Standard errors that each node of a candidate must earn, up to so many nodes."""

AS_GOOD = 0.95
"""A part that holds the chosen one, has more cycles and agrees as well takes its place: a house, not its roof."""

SURE_AUC = 0.8
"""A class with a candidate of this AUC gets its first prototype before the others get more, and though it adds less
log-likelihood than others must."""

EVERYWHERE = 0.95
"""Share of the graphs from which on a part is everywhere: whether a graph has it tells nothing that can be seen, and a
prototype of it would be told apart by its surroundings alone. How often a graph has it may tell something."""

COMPARED_AT_ONCE = 64
"""Candidates that are compared with all parts at once, for the memory that takes."""


@dataclass(frozen=True, eq=False)
class Mined:
    """K prototypes: the number of each among the different training parts, its class, whether it counts places, and
    where it stands in the training graphs."""

    rows: np.ndarray
    classes: Tensor
    counts: Tensor
    sources: list[dict[str, Any]]

    def as_sources(self) -> list[dict[str, Any]]:
        """Where each prototype stands, and whether it counts places, as a stored state says it."""
        return [
            {**source, "counts": bool(counts)}
            for source, counts in zip(self.sources, self.counts.tolist(), strict=True)
        ]


@torch.no_grad()
def mine(
    model: ProtGNNMined,
    parts: PartSet,
    y: Tensor,
    per_class: int,
    class_weight: Tensor | None = None,
) -> Mined:
    """Choose prototypes among the parts of the training graphs, with the encoder as it is.

    Args:
        model: The model, its encoder warmed up.
        parts: The candidate parts of the training graphs.
        y: Their classes ``[G]``.
        per_class: Prototypes of a class at most.
        class_weight: How much a graph of each class counts, ``[C]``; all the same without.
    """
    labels = y.numpy()
    pool = candidate_pool(model, parts, labels)
    chosen = select(pool, labels, len(model.head.base), per_class, class_weight)
    chosen.sort(key=lambda pair: pair[1])
    rows = np.array([pool.candidates[column % len(pool.candidates)] for column, _ in chosen])
    classes = [label for _, label in chosen]
    counts = torch.tensor([column >= len(pool.candidates) for column, _ in chosen])
    return Mined(rows, torch.tensor(classes), counts, _sources(parts, rows, classes, labels))


@torch.no_grad()
def candidate_pool(model: ProtGNNMined, parts: PartSet, y: np.ndarray) -> CandidatePool:
    """What every training graph has of each candidate, as if it were a prototype."""
    head = model.eval().head
    candidates = shortlist(parts, y)
    h = model.embed_all(parts.graphs).cpu()
    best, every = [], []
    for start in range(0, len(candidates), COMPARED_AT_ONCE):
        some = candidates[start : start + COMPARED_AT_ONCE]
        none = torch.zeros(len(some), dtype=torch.bool)
        head.replace(torch.zeros(len(some), dtype=torch.int64), none, parts.looks.of_parts(some))
        head.vectors.copy_(h[torch.from_numpy(some)])
        found = model.compare(parts, h, model.unlike(parts))
        best.append(found.places.values(found.similar, none))
        every.append(found.places.values(found.similar, ~none))
    once = torch.cat(best, 1) * torch.from_numpy(look_shares(parts)[candidates] < EVERYWHERE)
    often = torch.cat(every, 1) * (parts.graphs.targets is None)  # around a target all places are in one place
    return CandidatePool(
        candidates,
        torch.cat([once, often], 1).numpy(),
        np.tile(parts.nodes[parts.first][candidates], 2),
        np.tile(parts.look_key[candidates], 2),
        _larger(parts, candidates),
    )


@dataclass(frozen=True, eq=False)
class CandidatePool:
    """Q candidates, each with two columns: once by its best place and once by all places.

    Attributes:
        candidates: The number of each among the different parts, ``[Q]``.
        values: How much each graph has of each candidate, ``[G, 2 Q]``.
        size: The nodes of the candidate of each column, ``[2 Q]``.
        look: A number that is equal for candidates that look the same, ``[2 Q]``.
        larger: For a column those of parts that hold it and have more cycles.
    """

    candidates: np.ndarray
    values: np.ndarray
    size: np.ndarray
    look: np.ndarray
    larger: dict[int, list[int]]


def select(
    pool: CandidatePool,
    y: np.ndarray,
    num_classes: int,
    per_class: int,
    class_weight: Tensor | None = None,
) -> list[tuple[int, int]]:
    """Greedy forward selection of (column, class) for graphs of the classes ``y [G]``; no class has one look twice."""
    sample_weight = graph_weights(torch.from_numpy(y), class_weight)
    targets, columns = torch.from_numpy(y), torch.from_numpy(pool.values).float()
    shares = np.bincount(y, weights=sample_weight, minlength=num_classes) / len(y)
    base, weight = torch.log(torch.from_numpy(shares).float() + 1e-3), torch.zeros(0)
    chosen: list[tuple[int, int]] = []
    passed: list[tuple[int, int]] = []
    agreement, logits = _Agreement(pool, y, num_classes, sample_weight), base.expand(len(y), -1)
    before, at_first = _log_loss(logits, targets, sample_weight), agreement.with_errors_of(logits)
    wanted = max(LEAST_GAIN, LEAST_SHARE * before)
    while len(chosen) < per_class * num_classes and len(passed) < PASSED_OVER:
        agrees = agreement.with_errors_of(logits)
        had = np.bincount([label for _, label in chosen], minlength=num_classes)
        uncovered = np.flatnonzero((had == 0) & (agreement.aucs.max(1) >= SURE_AUC))
        agrees[uncovered] = at_first[uncovered]  # what others leave wrong does not say what a class is known by
        for taken, own in (*chosen, *passed):
            agrees[own, pool.look == pool.look[taken]] = -np.inf
        agrees[had >= per_class] = -np.inf
        uncovered = uncovered[agrees[uncovered].max(1) > LEAST_Z]
        if len(uncovered):
            agrees[np.setdiff1d(np.arange(num_classes), uncovered)] = -np.inf
        label, column = _highest(agrees)
        if agrees[label, column] <= LEAST_Z:
            break
        holding = [one for one in pool.larger.get(column, ()) if agrees[label, one] >= AS_GOOD * agrees[label, column]]
        column = max(holding, key=lambda one: (pool.size[one], agrees[label, one]), default=column)
        tried = [*chosen, (column, label)]
        classes = torch.tensor([own for _, own in tried])
        kept, start = columns[:, [one for one, _ in tried]], torch.cat([weight, torch.zeros(1)])
        fitted = fit_weights(kept, targets, classes, start, base, class_weight=class_weight, penalty=NEXT_TO_NONE)
        found = (kept * fitted[0]) @ torch.nn.functional.one_hot(classes, num_classes).float() + fitted[1]
        now = _log_loss(found, targets, sample_weight)
        needed = LEAST_GAIN if agrees[label, column] >= SURE_Z else wanted
        if not len(uncovered) and before - now < needed:
            passed.append((column, label))
            continue
        chosen, passed, logits, before = tried, [], found, now
        weight, base = fitted
    return chosen or [_highest(agreement.aucs)[::-1]]  # where nothing tells the classes apart the best there is


class _Agreement:
    """How well the columns of a pool agree with what is wrong; ``aucs [C, 2 Q]`` say how well they rank each class."""

    def __init__(self, pool: CandidatePool, y: np.ndarray, num_classes: int, sample_weight: np.ndarray) -> None:
        values = pool.values
        self.target, self.sample_weight = np.eye(num_classes)[y], sample_weight[:, None]
        self.centred = values - values.mean(0)
        self.length = np.sqrt((self.centred**2).sum(0)) + 1e-6
        self.cost = SIZE_COST * np.minimum(pool.size, LARGEST)
        self.aucs = np.stack([[_auc(column, y == c) for column in values.T] for c in range(num_classes)])

    def with_errors_of(self, logits: Tensor) -> np.ndarray:
        """By how many standard errors each column agrees with what logits ``[G, C]`` leave wrong, ``[C, 2 Q]``."""
        residual = (self.target - logits.double().softmax(1).numpy()) * self.sample_weight
        found: np.ndarray = (self.centred.T @ residual / self.length[:, None]).T / (residual.std(0)[:, None] + 1e-6)
        found = found - self.cost
        found[self.aucs < LEAST_AUC] = -np.inf
        return found


def _highest(table: np.ndarray) -> tuple[int, int]:
    """Row and column of the highest value."""
    row, column = np.unravel_index(int(np.argmax(table)), table.shape)
    return int(row), int(column)


def _log_loss(logits: Tensor, y: Tensor, sample_weight: np.ndarray) -> float:
    losses = torch.nn.functional.cross_entropy(logits, y, reduction="none")
    return float(losses @ torch.from_numpy(sample_weight).to(losses))


def _auc(values: np.ndarray, own: np.ndarray) -> float:
    """ROC AUC of values for membership; ties count half."""
    positives = int(own.sum())
    pairs = positives * (len(own) - positives)
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    return float((rank[own].sum() - positives * (positives + 1) / 2) / max(pairs, 1))


def _larger(parts: PartSet, candidates: np.ndarray) -> dict[int, list[int]]:
    """For every column the columns of the same kind whose part holds that part and has more cycles."""
    count, cycles = len(candidates), parts.edges - parts.nodes
    number = {int(row): place for place, row in enumerate(candidates)}
    found: dict[int, list[int]] = {}
    for outer, row in enumerate(candidates):
        place = int(parts.first[row])
        graph, mask = int(parts.graph[place]), parts.masks[place]
        for inner in range(int(parts.ptr[graph]), int(parts.ptr[graph + 1])):
            held = number.get(int(parts.distinct[inner]))
            if held is None or held == outer or cycles[place] <= cycles[inner]:
                continue
            if parts.masks[inner] & mask == parts.masks[inner]:
                for shift in (0, count):
                    found.setdefault(held + shift, []).append(outer + shift)
    return found


def _sources(parts: PartSet, rows: np.ndarray, classes: list[int], y: np.ndarray) -> list[dict[str, Any]]:
    """A training graph of its class and nodes for each prototype, so that no two of a class overlap in one graph where
    that can be helped."""
    taken: dict[tuple[int, int], int] = {}
    found = []
    for row, label in zip(rows, classes, strict=True):
        places = np.flatnonzero(parts.distinct == row)
        own = [place for place in places if y[parts.graph[place]] == label]
        free = [place for place in own if not taken.get((label, int(parts.graph[place])), 0) & parts.masks[place]]
        place = int((free or own or list(places))[0])
        graph = int(parts.graph[place])
        taken[label, graph] = taken.get((label, graph), 0) | parts.masks[place]
        found.append({"graph": graph, "nodes": list(members(parts.masks[place])), "label": int(label)})
    return found
