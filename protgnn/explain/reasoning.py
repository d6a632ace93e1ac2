"""The reasoning behind a prediction: a row per prototype, and sums that are the logits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor

from protgnn.errors import ProtGNNError
from protgnn.explain.searched import SEARCHED, searched_evidence
from protgnn.graphs.instances import Instances, NetworkInstances
from protgnn.graphs.packed import Batch, GraphSet
from protgnn.model.classifier import GraphClassifier
from protgnn.model.prototypes import PrototypeHead, similarity
from protgnn.search.tree import SearchSettings
from protgnn.training.evaluate import evaluation_batches
from protgnn.training.prototypes import Prototypes
from protgnn.training.recipe import search_settings
from protgnn.training.run import Run

if TYPE_CHECKING:
    from rich.console import RenderableType

EvidenceFrom = Literal["model", "search"]

UNFAMILIAR = "unlike anything the model knows"


@dataclass(frozen=True)
class Row:
    """What one prototype says: similarity times weight is its contribution to each class.

    ``evidence`` are the nodes of the part of the graph that was compared with the prototype, with all edges between
    them; ``None`` where that was the whole graph.
    """

    prototype: int
    label: int
    similarity: float
    weights: tuple[float, ...]
    evidence: tuple[int, ...] | None = None

    def contribution(self, label: int) -> float:
        """What this row adds to the logit of a class."""
        return self.similarity * self.weights[label]


@dataclass(frozen=True)
class Known:
    """What a run knows beside its weights: its prototypes, the similarity from which a graph is familiar, the
    similarity of a graph that is the prototype itself, how it searches and, where the training graphs are at hand,
    those that the prototypes were cut from.
    """

    prototypes: Prototypes | None = None
    familiarity: float | None = None
    highest_similarity: float | None = None
    sources: GraphSet | None = None
    search: SearchSettings | None = None

    @classmethod
    def of(cls, run: Run, train: Instances | None = None) -> Known:
        sources = None
        if train is not None and run.prototypes is not None:
            sources = train[[card.graph for card in run.prototypes.cards]].apart()
        highest, search = math.log(1 / run.recipe.epsilon), search_settings(run.recipe)
        return cls(run.prototypes, run.scores.get("familiarity"), highest, sources, search)

    @cached_property
    def shows(self) -> tuple[str, ...]:
        """Every prototype in a few characters: the SMILES of a fragment, the words of a phrase."""
        from protgnn.explain.fragments import describe_subgraph

        if self.prototypes is None:
            return ()
        cards, subgraphs = self.prototypes.cards, self.prototypes.subgraphs
        return tuple(describe_subgraph(subgraphs[number], card.nodes) for number, card in enumerate(cards))


NOTHING = Known()


@dataclass(frozen=True)
class Reasoning:
    """Why a graph is predicted to be of a class: its logits are the sums of the rows' contributions.

    ``among`` and ``number`` say where the graph itself is, and ``known`` what the model knows; they are what names
    and pictures are made of. ``notes`` are warnings about the input, shown wherever the reasoning is.
    """

    name: str | None
    class_names: tuple[str, ...]
    logits: tuple[float, ...]
    probabilities: tuple[float, ...]
    rows: tuple[Row, ...]
    among: Instances | None = field(default=None, repr=False)
    number: int = 0
    known: Known = field(default=NOTHING, repr=False)
    notes: tuple[str, ...] = ()

    @cached_property
    def graph(self) -> GraphSet | None:
        """The graph that was predicted, or what is around the target of a network, as a set of one."""
        return None if self.among is None else self.among[self.number].apart()

    @cached_property
    def title(self) -> str:
        """What the graph is called: its name, the SMILES of a molecule without one, or its number."""
        from protgnn.explain.fragments import molecule_smiles

        if self.name:
            return self.name
        smiles = None if self.graph is None else molecule_smiles(self.graph)
        return smiles or f"graph {self.number}"

    @property
    def predicted(self) -> int:
        """The class with the highest logit."""
        return max(range(len(self.logits)), key=self.logits.__getitem__)

    @property
    def runner_up(self) -> int:
        """The class with the second highest logit."""
        return max((label for label in range(len(self.logits)) if label != self.predicted), key=self.logits.__getitem__)

    @property
    def truth(self) -> int | None:
        """The class that the graph was labelled with, where it was."""
        return None if self.among is None or self.among.y is None else int(self.among.y[self.number])

    @property
    def margin(self) -> float:
        """How far the predicted class is ahead of the runner-up."""
        return self.logits[self.predicted] - self.logits[self.runner_up]

    @property
    def largest_similarity(self) -> float:
        """The similarity to the nearest prototype of any class."""
        return max(row.similarity for row in self.rows)

    @property
    def familiar(self) -> bool | None:
        """Whether any prototype is as similar as to all but the oddest validation graphs; unknown for old runs."""
        known = self.known.familiarity
        return None if known is None else self.largest_similarity >= known

    def gain(self, row: Row) -> float:
        """What a row adds to the margin between the predicted class and the runner-up."""
        return row.contribution(self.predicted) - row.contribution(self.runner_up)

    def decisive(self) -> list[Row]:
        """The rows, those first that made most of the difference between the predicted class and the runner-up."""
        return sorted(self.rows, key=self.gain, reverse=True)

    def winning(self) -> Row:
        """The row that adds most to the predicted class."""
        return max(self.rows, key=lambda row: row.contribution(self.predicted))

    def shows(self, row: Row) -> str:
        """What the prototype of a row is, in a few characters; its number where that is all that is known."""
        return self.known.shows[row.prototype] if self.known.shows else f"prototype {row.prototype}"

    def evidence_shows(self, row: Row) -> str | None:
        """What part of the graph was compared, in a few characters; nothing where that was all of it."""
        from protgnn.explain.fragments import describe_part

        if row.evidence is None or self.graph is None:
            return None
        return describe_part(self.graph, row.evidence)

    def evidence_names(self, row: Row) -> tuple[str, ...] | None:
        """What the nodes of the evidence are called in the network that was asked about; nothing for other graphs."""
        if row.evidence is None or not isinstance(self.among, NetworkInstances):
            return None
        graph = self.graph
        assert graph is not None and graph.origin is not None
        return tuple(self.among.network.name(node) for node in graph.origin[list(row.evidence)].tolist())

    def save(self, path: str | Path, theme: str = "light", rows: int = 3) -> None:
        """Write the reasoning as a picture, a page or data: ``.svg``, ``.png``, ``.html`` or ``.json``.

        ``theme`` (light or dark) is for pictures, a page has both; ``rows`` prototypes are drawn for each class, and
        the others are counted with what they add.
        """
        from protgnn.draw.files import save

        save(self, Path(path), theme, rows)

    def _repr_svg_(self) -> str:
        """The figure, for notebooks."""
        from protgnn.draw.reasoning_figure import reasoning_svg

        return reasoning_svg(self)

    def __rich__(self) -> RenderableType:
        from protgnn.explain.terminal import ReasoningTable

        return ReasoningTable(self)

    def __str__(self) -> str:
        from protgnn.explain.terminal import plain_text

        return plain_text(self)

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        names, truth = self.class_names, self.truth
        return {
            "name": self.name,
            "predicted": names[self.predicted],
            "truth": None if truth is None else names[truth],
            "probabilities": dict(zip(names, self.probabilities, strict=True)),
            "logits": dict(zip(names, self.logits, strict=True)),
            "runner_up": names[self.runner_up],
            "margin": self.margin,
            "familiar": self.familiar,
            "largest_similarity": self.largest_similarity,
            "familiar_from": self.known.familiarity,
            "notes": [*([UNFAMILIAR] if self.familiar is False else []), *self.notes],
            "rows": [self._row_json(row) for row in self.rows],
        }

    def _row_json(self, row: Row) -> dict[str, Any]:
        names, known = self.class_names, self.known.prototypes
        card = None if known is None else known.cards[row.prototype]
        return {
            "prototype": row.prototype,
            "class": names[row.label],
            "shows": self.shows(row),
            "source": None if card is None else {"graph": card.graph, "name": card.name, "nodes": list(card.nodes)},
            "similarity": row.similarity,
            "weights": dict(zip(names, row.weights, strict=True)),
            "contributions": {name: row.contribution(label) for label, name in enumerate(names)},
            "gain": self.gain(row),
            "evidence": None if row.evidence is None else list(row.evidence),
            "evidence_shows": self.evidence_shows(row),
            "evidence_names": self.evidence_names(row),
        }


@torch.no_grad()
def explain(
    model: GraphClassifier,
    graphs: Instances,
    known: Known = NOTHING,
    notes: tuple[str, ...] = (),
    evidence: EvidenceFrom = "model",
) -> list[Reasoning]:
    """The reasoning for every graph, by the prototypes of the model; thousands of graphs take a few seconds.

    A ProtGNN+ has evidence of its own. For a ProtGNN, ``evidence="search"`` marks the part most like each prototype,
    which takes a search for each and is not what was computed.
    """
    head = model.head
    if not isinstance(head, PrototypeHead):
        raise ProtGNNError("A plain model has no prototypes to explain by: train one with --set head=prototypes")
    model.eval()
    classes, weights = head.classes.tolist(), [tuple(column) for column in head.last.weight.t().tolist()]
    names = graphs.schema.class_names
    marked: dict[tuple[int, int], tuple[int, ...]] = {}
    if evidence == "search" and model.sampler is None:
        every = torch.ones(len(graphs), len(classes), dtype=torch.bool)
        marked = searched_evidence(model, graphs, every, known.search)
        notes = (*notes, SEARCHED)
    found: list[Reasoning] = []
    for batch in evaluation_batches(model, graphs):
        if model.sampler is None:
            distance = model.distances(batch)
        else:
            chosen = model.evidence(batch)
            distance = chosen.distance
            marked |= _nodes(chosen.member(batch), batch, len(found))
        similar, logits = similarity(distance, head.epsilon).tolist(), head.logits(distance)
        for shown, logit, chance in zip(similar, logits.tolist(), logits.softmax(1).tolist(), strict=True):
            number = len(found)
            name = None if graphs.names is None else graphs.names[number]
            rows = tuple(
                Row(place, classes[place], value, weights[place], marked.get((number, place)))
                for place, value in enumerate(shown)
            )
            found.append(Reasoning(name, names, tuple(logit), tuple(chance), rows, graphs, number, known, notes))
    return found


def _nodes(member: Tensor, batch: Batch, first: int) -> dict[tuple[int, int], tuple[int, ...]]:
    """The nodes of the evidence for each pair of a graph and a prototype, from ``member [N, K]``."""
    starts = batch.node_counts.cumsum(0) - batch.node_counts
    nodes: dict[tuple[int, int], list[int]] = {}
    place, prototype = member.nonzero().t()
    graph = batch.node_graph[place]
    local = place - starts[graph]
    for number, column, node in zip((graph + first).tolist(), prototype.tolist(), local.tolist(), strict=True):
        nodes.setdefault((number, column), []).append(node)
    return {pair: tuple(found) for pair, found in nodes.items()}
