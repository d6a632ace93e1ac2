"""The reasoning behind a prediction: a row per prototype, and sums that are the logits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances, NetworkInstances
from protgnn.errors import ProtGNNError
from protgnn.explain.comparison import AmountsAdded, compare
from protgnn.explain.composition_rows import BASE, VISIBLE, BesideLine, CompositionRow, beside_lines, composition_rows
from protgnn.explain.mcts_evidence import SEARCHED, mcts_evidence
from protgnn.explain.node_cards import NodeCard, node_cards, targets_first
from protgnn.explain.run_context import NOTHING
from protgnn.explain.run_context import RunContext as RunContext
from protgnn.explain.unknown_words import UnknownWords, unknown_words
from protgnn.explain.unseen_elements import rows_with_unseen
from protgnn.explain.views import ReasoningViews
from protgnn.model.classifier import GraphClassifier, ProtGNN
from protgnn.model.mined import MinedHead, ProtGNNMined
from protgnn.training.evaluate import check_outputs, evaluation_batches

if TYPE_CHECKING:
    from rich.console import RenderableType

EvidenceSource = Literal["model", "search"]

LOOKS_ALIKE = 0.4
"""The resemblance from which on a row of mined prototypes is shown: below it nobody would say that parts look alike."""

UNFAMILIAR = "unlike anything the model knows"
NOTHING_ALIKE = "nothing alike"
PLAIN = "A plain model has no prototypes to explain by: train one with --set head=prototypes"


@dataclass(frozen=True)
class ReasoningRow:
    """What one prototype says: similarity times weight is its contribution to each class.

    ``evidence`` are the nodes of the part of the graph that was compared with the prototype, with all edges between
    them; ``None`` where that was the whole graph. ``places`` are all parts of the graph that look like a mined
    prototype, the evidence first; where it ``counts`` them, the similarity is the sum over all places. ``resemblance``
    is how much evidence and prototype look alike, from 0 to 1, where that is a part of the similarity.
    """

    prototype: int
    label: int
    similarity: float
    weights: tuple[float, ...]
    evidence: tuple[int, ...] | None = None
    places: tuple[tuple[int, ...], ...] = ()
    counts: bool = False
    resemblance: float | None = None

    @property
    def looks_alike(self) -> bool:
        """Whether the two parts look enough alike to be shown side by side; known of mined prototypes only."""
        return self.resemblance is None or self.resemblance >= LOOKS_ALIKE

    @property
    def is_found(self) -> bool:
        """Whether anything of the graph is like the prototype, as far as that shows in print."""
        return self.resemblance is None or abs(self.similarity) >= VISIBLE

    @property
    def marked(self) -> tuple[int, ...] | None:
        """The nodes of all places."""
        if not self.places:
            return self.evidence
        return tuple(sorted({node for place in self.places for node in place}))

    def contribution(self, label: int) -> float:
        """What this row adds to the logit of a class."""
        return self.similarity * self.weights[label]


@dataclass(frozen=True)
class Reasoning(ReasoningViews):
    """Why a graph is predicted to be of a class: its logits are the sums of the rows' contributions and ``beside``.

    ``beside``, empty for a model without, is what each class gets beside the rows: :attr:`base`, which every graph has,
    and what the size and the make-up of this graph add, which :attr:`composition` tells one by one.
    ``among`` and ``number`` say where the graph itself is, and ``context`` what its run knows; they are what names
    and pictures are made of. ``notes`` are warnings about the input, shown wherever the reasoning is. ``scored_by`` is
    the model where masks ask it (``masks.py``).
    """

    name: str | None
    class_names: tuple[str, ...]
    logits: tuple[float, ...]
    probabilities: tuple[float, ...]
    rows: tuple[ReasoningRow, ...]
    among: Instances | None = field(default=None, repr=False)
    number: int = 0
    context: RunContext = field(default=NOTHING, repr=False)
    notes: tuple[str, ...] = ()
    beside: tuple[float, ...] = ()
    made_of: AmountsAdded | None = field(default=None, repr=False)
    scored_by: ProtGNNMined | None = field(default=None, repr=False, compare=False)

    @cached_property
    def graph(self) -> GraphSet | None:
        """The graph that was predicted, or what is around the target of a network, as a set of one."""
        return None if self.among is None else self.among[self.number].ego_graphs()

    @cached_property
    def title(self) -> str:
        """What the graph is called: its name, the SMILES of a molecule without one, or its number."""
        from protgnn.explain.describe import molecule_smiles

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
        """Whether any prototype is as similar as to all but the oddest validation graphs, no word is strange and no
        element new; of other graphs unknown where ordinary ones resemble no prototype, and for old runs."""
        threshold = self.context.familiarity
        if self._has_unseen or (self.unknown_words is not None and self.unknown_words.is_strange):
            return False
        return None if threshold is None else self.largest_similarity >= threshold

    @cached_property
    def _has_unseen(self) -> bool:
        return self.graph is not None and bool(rows_with_unseen(self.graph, self.context.seen))

    @cached_property
    def unknown_words(self) -> UnknownWords | None:
        """The words of a sentence that the model was not trained on; nothing for other graphs, and for old runs."""
        return unknown_words(self.name, self.context.vocabulary)

    def gain(self, row: ReasoningRow) -> float:
        """What a row adds to the margin between the predicted class and the runner-up."""
        return row.contribution(self.predicted) - row.contribution(self.runner_up)

    @property
    def base(self) -> tuple[float, ...]:
        """What each class has before anything is found; empty for a model without a base or composition."""
        lines = self.beside_lines()
        return lines[-1].contributions if lines else ()

    def beside_lines(self, base: str = BASE) -> list[BesideLine]:
        """Lines that add up to what each class gets beside the rows, the last of them, called ``base``, the base."""
        return beside_lines(self.beside, self.composition, base) if self.beside else []

    @cached_property
    def composition(self) -> tuple[CompositionRow, ...]:
        """What the size and the make-up of the graph add, the largest effect on the margin first."""
        if self.made_of is None or self.among is None:
            return ()
        return composition_rows(self.made_of, self.among.schema, (self.predicted, self.runner_up))

    def decisive(self) -> list[ReasoningRow]:
        """The rows, those first that made most of the difference between the predicted class and the runner-up."""
        return sorted(self.rows, key=self.gain, reverse=True)

    def winning(self) -> ReasoningRow | None:
        """The row that adds most to the predicted class; none where the model has a base and no row whose parts look
        alike adds to that class what would show in print: it is predicted without any evidence."""
        alike = [row for row in self.rows if row.looks_alike]
        best = max(alike, key=lambda row: row.contribution(self.predicted), default=None)
        return None if best is None or (self.beside and best.contribution(self.predicted) < VISIBLE) else best

    def describe(self, row: ReasoningRow) -> str:
        """The prototype of a row in a few characters; its number where nothing else is known of it."""
        return self.context.descriptions[row.prototype] if self.context.descriptions else f"prototype {row.prototype}"

    def describe_evidence(self, row: ReasoningRow) -> str | None:
        """The part of the graph that was compared, in a few characters; nothing where that was all of it."""
        from protgnn.explain.describe import describe_part

        if not row.is_found:
            return NOTHING_ALIKE
        if row.evidence is None or self.graph is None:
            return None
        nodes = targets_first(row.evidence, self.graph)
        return describe_part(self.graph, nodes, self.node_cards(nodes))

    def percentile(self, row: ReasoningRow) -> int | None:
        """How many in a hundred training graphs are less similar to the prototype of a row; unknown for old runs."""
        prototypes = self.context.prototypes
        return None if prototypes is None else prototypes.cards[row.prototype].percentile(row.similarity)

    def cut_edges(self, row: ReasoningRow) -> list[tuple[int, int]]:
        """The edges at the border of the evidence of a row, from the node inside to the one outside."""
        inside = set(row.evidence or ())
        if self.graph is None or not inside:
            return []
        return [(a, b) for a, b in self.graph.edge_index.t().tolist() if a in inside and b not in inside]

    @property
    def target_nodes(self) -> tuple[int, ...] | None:
        """The nodes that were asked about in a network."""
        graph = self.graph
        return None if graph is None or graph.targets is None else tuple(graph.targets[0].tolist())

    def node_cards(self, nodes: Sequence[int] | None) -> list[NodeCard] | None:
        """What is known of some nodes of the graph, where it is around a node or pair of a network."""
        if nodes is None or not isinstance(self.among, NetworkInstances):
            return None
        graph = self.graph
        assert graph is not None and graph.n_id is not None
        return node_cards(self.among.network, graph.n_id[list(nodes)].tolist())

    def evidence_names(self, row: ReasoningRow) -> tuple[str, ...] | None:
        """What the nodes of the evidence are called in the network that was asked about; nothing for other graphs."""
        cards = self.node_cards(row.evidence)
        return None if cards is None else tuple(card.id for card in cards)

    def save(self, path: str | Path, theme: str = "light", rows: int = 3, arcs: bool = False) -> None:
        """Write the reasoning as a picture, a page or data.

        Args:
            path: Where to; the name ends in ``.svg``, ``.png``, ``.html`` or ``.json``.
            theme: ``"light"`` or ``"dark"``, for pictures; a page has both.
            rows: How many prototypes to draw for each class; the others are counted with what they add.
            arcs: Draw the dependencies of sentences above their words.

        Raises:
            ProtGNNError: The name ends in something else, there is no such theme, or the file cannot be written.
        """
        from protgnn.viz.save import save

        save(self, Path(path), theme, rows, arcs)

    def _repr_svg_(self) -> str:
        """The figure, for notebooks."""
        from protgnn.viz.reasoning_figure import reasoning_svg

        return reasoning_svg(self)

    def __rich__(self) -> RenderableType:
        from protgnn.explain.render_text import ReasoningTable

        return ReasoningTable(self)

    def __str__(self) -> str:
        from protgnn.explain.render_text import plain_text

        return plain_text(self)

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        from protgnn.explain.reasoning_json import reasoning_json

        return reasoning_json(self, UNFAMILIAR)


@torch.no_grad()
def explain(
    model: GraphClassifier, graphs: Instances, context: RunContext = NOTHING, evidence: EvidenceSource = "model"
) -> list[Reasoning]:
    """Explain the prediction for every graph by the prototypes of the model; thousands of graphs take a few seconds.

    Args:
        model: A model with prototypes.
        graphs: Graphs, nodes or pairs as the model takes them.
        context: What the run of the model knows beside its weights.
        evidence: With ``"model"`` what was computed: the evidence of a ProtGNN+, the whole graph of a ProtGNN. With
            ``"search"``, of a ProtGNN, the part most like each prototype, which takes a search for each and is not what
            was computed; a note says so.

    Returns:
        One reasoning for each graph, in their order.

    Raises:
        ProtGNNError: The model is a plain one, without prototypes to explain by.
    """
    if not isinstance(model, ProtGNN):
        raise ProtGNNError(PLAIN)
    head = model.eval().head
    classes, weights = head.classes.tolist(), [tuple(column) for column in head.last.weight.t().tolist()]
    counts = head.counts.tolist() if isinstance(head, MinedHead) else [False] * len(classes)
    marked: dict[tuple[int, int], tuple[int, ...]] = {}
    notes: tuple[str, ...] = ()
    if evidence == "search" and not model.compares_evidence:
        every = torch.ones(len(graphs), len(classes), dtype=torch.bool)
        marked, notes = mcts_evidence(model, graphs, every, context.search, context.units), (SEARCHED,)
    scored_by = model if isinstance(model, ProtGNNMined) and not graphs.num_targets else None
    found: list[Reasoning] = []
    for batch in evaluation_batches(model, graphs):
        compared = compare(model, batch)
        marked |= {(graph + len(found), place): nodes for (graph, place), nodes in compared.evidence.items()}
        logits = head.logits_of(compared.value) + compared.base
        check_outputs(logits, len(found))
        sums = zip(compared.value.tolist(), logits.tolist(), logits.softmax(1).tolist(), strict=True)
        for graph, (values, logit, probability) in enumerate(sums):
            number = len(found)
            alike = [None] * len(values) if compared.resemblance is None else compared.resemblance[graph].tolist()
            name = None if graphs.names is None else graphs.names[number]
            rows = tuple(
                ReasoningRow(k, classes[k], value, weights[k], marked.get((number, k)), places, counts[k], alike[k])
                for k, value in enumerate(values)
                for places in [compared.places.get((graph, k), ())]
            )
            sum_up = (graphs.schema.class_names, tuple(logit), tuple(probability), rows)
            beside = tuple(compared.base[graph].tolist()) if compared.has_base else ()
            amounts = None if compared.made_of is None else compared.made_of[graph]
            found.append(Reasoning(name, *sum_up, graphs, number, context, notes, beside, amounts, scored_by))
    return found
