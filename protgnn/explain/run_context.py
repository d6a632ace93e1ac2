"""What a run knows beside its weights: what names, scales and pictures of its reasonings are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances, NetworkInstances
from protgnn.data.network.network import Network
from protgnn.explain.node_cards import NodeCard, node_cards
from protgnn.featurizers.batch_units import BatchUnits
from protgnn.model.mined import HIGHEST
from protgnn.search.tree import SearchSettings, UnitsOf
from protgnn.training.prototype_cards import Prototypes
from protgnn.training.recipe import is_mined, search_settings
from protgnn.training.run import Run


@dataclass(frozen=True)
class RunContext:
    """What a run knows beside its weights.

    ``prototypes`` are its prototypes, ``familiarity`` is the similarity from which a graph is familiar, if that is
    known, ``highest_similarity`` that of a graph that is the prototype itself, ``sources`` are the training graphs that
    the prototypes were cut from, where they are at hand, ``search`` is how it searches, ``vocabulary`` are the words
    that it was trained on, ``units`` says what it takes whole, and ``network`` is the one that it was trained on, where
    that is at hand. ``seen`` are the columns of node features that its training graphs had.
    """

    prototypes: Prototypes | None = None
    familiarity: float | None = None
    highest_similarity: float | None = None
    sources: GraphSet | None = None
    search: SearchSettings | None = None
    vocabulary: frozenset[str] | None = None
    units: UnitsOf | None = None
    network: Network | None = None
    seen: list[int] | None = None

    @classmethod
    def of(cls, run: Run, train: Instances | None = None) -> RunContext:
        """Gather it from a run; with its training set prototypes are drawn within their sources."""
        sources, network = None, train.network if isinstance(train, NetworkInstances) else None
        if train is not None and run.prototypes is not None:
            sources = train[[card.graph for card in run.prototypes.cards]].ego_graphs()
        mined = is_mined(run.recipe)
        highest, search = HIGHEST if mined else math.log(1 / run.recipe.epsilon), search_settings(run.recipe)
        units = BatchUnits.of(run.schema) if run.recipe.whole_parts else None
        familiarity = run.scores.get("familiarity") or None  # old runs say 0 where similarities do not tell
        known = (run.prototypes, familiarity, highest, sources, search, run.vocabulary)
        return cls(*known, units, network, run.seen)

    @cached_property
    def descriptions(self) -> tuple[str, ...]:
        """Each prototype in a few characters: the SMILES of a fragment, the words of a phrase."""
        from protgnn.explain.describe import describe_subgraph

        if self.prototypes is None:
            return ()
        cards, subgraphs = self.prototypes.cards, self.prototypes.subgraphs
        return tuple(
            describe_subgraph(subgraphs[k], card.nodes, self.prototype_nodes(k)) for k, card in enumerate(cards)
        )

    def prototype_nodes(self, number: int) -> list[NodeCard] | None:
        """The nodes of a prototype in the network that it was cut from, where that is at hand."""
        if self.network is None or self.prototypes is None:
            return None
        graph = self.prototypes.subgraphs[number]
        if graph.n_id is None:
            return None
        return node_cards(self.network, graph.n_id.tolist())


NOTHING = RunContext()
