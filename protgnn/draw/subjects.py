"""Which drawing a graph gets, and which of its nodes a prototype is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from protgnn.draw.graphs import draw_graph
from protgnn.draw.molecules import draw_molecule
from protgnn.draw.picture import Picture
from protgnn.draw.sentences import draw_sentence
from protgnn.explain.chemistry import molecule_of, source_of
from protgnn.explain.reasoning import Known
from protgnn.graphs.packed import GraphSet


@dataclass(frozen=True)
class Shown:
    """A picture and the nodes in it that matter."""

    picture: Picture
    nodes: tuple[int, ...]


def draw_input(graph: GraphSet, only: Collection[int] | None = None, focus: Collection[int] = ()) -> Picture:
    """One graph as its kind is drawn: a molecule, a sentence, or nodes and edges.

    With ``only`` some nodes matter and the rest is pale; ``focus`` are the nodes to see of a graph that is too large.
    """
    kind = graph.schema.kind
    if kind == "sentence" and graph.names is not None:
        words = graph.names[0].split(" ")
        if len(words) == len(graph.x):
            return draw_sentence(words, _pairs(graph), only)
    mol = molecule_of(graph)
    return draw_graph(graph, only, focus) if mol is None else draw_molecule(mol, only)


def draw_prototype(known: Known, number: int) -> Shown:
    """A prototype within the graph that it was cut from where that is known, else by itself."""
    assert known.prototypes is not None
    card, subgraph = known.prototypes.cards[number], known.prototypes.subgraphs[number]
    if known.sources is not None:
        return Shown(draw_input(known.sources[number], card.nodes), tuple(card.nodes))
    schema, nodes = subgraph.schema, sorted(card.nodes)
    if schema.featurizer == "molecule":
        source = source_of(card.name, nodes)
        if source is not None:
            return Shown(draw_molecule(source, nodes), tuple(nodes))
    everything = tuple(range(len(subgraph.x)))
    if schema.kind == "sentence" and card.name:
        words = card.name.split(" ")
        if nodes and max(nodes) < len(words):
            edges = [(nodes[a], nodes[b]) for a, b in _pairs(subgraph)]
            return Shown(draw_sentence(words, edges, nodes), tuple(nodes))
    mol = molecule_of(subgraph, cut_out=True)
    return Shown(draw_graph(subgraph) if mol is None else draw_molecule(mol), everything)


def shows_sources(known: Known) -> bool:
    """Whether prototypes are drawn within their sources."""
    if known.sources is not None or known.prototypes is None:
        return known.sources is not None
    schema = known.prototypes.subgraphs.schema
    return schema.featurizer == "molecule" or schema.kind == "sentence"


def _pairs(graph: GraphSet) -> list[tuple[int, int]]:
    return [(a, b) for a, b in graph.edge_index.t().tolist()]
