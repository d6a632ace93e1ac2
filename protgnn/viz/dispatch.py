"""Which drawing a graph gets, and which of its nodes a prototype is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from protgnn.data.graph_set import GraphSet
from protgnn.explain.explanation import Reasoning, RunContext
from protgnn.explain.node_cards import NodeCard, node_cards
from protgnn.explain.to_rdkit import source_of, to_rdkit
from protgnn.viz.graphs import draw_graph
from protgnn.viz.molecules import draw_molecule
from protgnn.viz.picture import Picture
from protgnn.viz.sentences import draw_sentence


@dataclass(frozen=True)
class MarkedPicture:
    """A picture and the nodes in it that matter."""

    picture: Picture
    nodes: tuple[int, ...]


def draw_input(
    graph: GraphSet,
    only: Collection[int] | None = None,
    focus: Collection[int] = (),
    cards: Sequence[NodeCard] | None = None,
    arcs: bool = False,
) -> Picture:
    """One graph as its kind is drawn: a molecule, a sentence, or nodes and edges.

    With ``only`` some nodes matter and the rest is pale; ``focus`` are the nodes to see of a graph that is too large,
    ``cards`` say what the nodes of a network are, and with ``arcs`` a sentence has its dependencies.
    """
    kind = graph.schema.kind
    if kind == "sentence" and graph.names is not None:
        words = graph.names[0].split(" ")
        if len(words) == len(graph.x):
            return draw_sentence(words, _pairs(graph), only, focus, arcs)
    mol = to_rdkit(graph)
    return draw_graph(graph, only, focus, cards) if mol is None else draw_molecule(mol, only, focus)


def draw_why(why: Reasoning, focus: Collection[int] = (), arcs: bool = False) -> Picture | None:
    """The graph that a reasoning is about."""
    graph = why.graph
    return None if graph is None else draw_input(graph, None, focus, why.node_cards(range(len(graph.x))), arcs)


def draw_prototype(context: RunContext, number: int, arcs: bool = False) -> MarkedPicture:
    """A prototype within the graph that it was cut from where that is known, else by itself."""
    assert context.prototypes is not None
    card, subgraph = context.prototypes.cards[number], context.prototypes.subgraphs[number]
    if context.sources is not None:
        source = context.sources[number]
        cards = None
        if context.network is not None and source.n_id is not None:
            cards = node_cards(context.network, source.n_id.tolist())
        return MarkedPicture(draw_input(source, card.nodes, (), cards, arcs), tuple(card.nodes))
    schema, nodes = subgraph.schema, sorted(card.nodes)
    if schema.featurizer == "molecule":
        mol = source_of(card.name, nodes)
        if mol is not None:
            return MarkedPicture(draw_molecule(mol, nodes), tuple(nodes))
    everything = tuple(range(len(subgraph.x)))
    if schema.kind == "sentence" and card.name:
        words = card.name.split(" ")
        if nodes and max(nodes) < len(words):
            edges = [(nodes[a], nodes[b]) for a, b in _pairs(subgraph)]
            return MarkedPicture(draw_sentence(words, edges, nodes, arcs=arcs), tuple(nodes))
    mol = to_rdkit(subgraph, cut_out=True)
    if mol is not None:
        return MarkedPicture(draw_molecule(mol), everything)
    return MarkedPicture(draw_graph(subgraph, cards=context.prototype_nodes(number)), everything)


def draws_sources(context: RunContext) -> bool:
    """Whether prototypes are drawn within their sources."""
    if context.sources is not None or context.prototypes is None:
        return context.sources is not None
    schema = context.prototypes.subgraphs.schema
    return schema.featurizer == "molecule" or schema.kind == "sentence"


def _pairs(graph: GraphSet) -> list[tuple[int, int]]:
    return [(a, b) for a, b in graph.edge_index.t().tolist()]
