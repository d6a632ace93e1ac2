"""Find the part of a training graph that a text names.

=========================  =====================================================================================
``"O=[N+][O-]"``           of molecules: a SMILES or SMARTS, matched in the training molecules
``"not … good"``           of sentences: words in their order, with dots where others stand between them
``"#12:0,3,4"``            of any graphs: nodes 0, 3 and 4 of training graph 12
``"toxic: O=[N+][O-]"``    any of these for a class; without, the class that has it most often
=========================  =====================================================================================

A prototype is a part of a graph of its class, as in Eq. 7. Mined prototypes are whole: what is written is completed to
whole rings and functional groups.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import torch

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.data.units import mask_of, members
from protgnn.editing.part_looks import LookKey, look_key
from protgnn.errors import DataError
from protgnn.explain.describe import describe_part, describe_subgraph
from protgnn.explain.to_rdkit import to_rdkit
from protgnn.featurizers.molecule import quiet, shorten
from protgnn.model.classifier import ProtGNN
from protgnn.model.mined import ProtGNNMined
from protgnn.training.prototype_subgraphs import cut_subgraphs

if TYPE_CHECKING:
    from rdkit.Chem import Mol

LONGEST_TEXT = 1000
MOST_MATCHES = 100
"""The most matches considered in one graph."""
GAP = "…"
NODES = re.compile(r"#\s*(\d{1,15})\s*:\s*([\d\s,]+)")
Finder = Callable[[GraphSet], list[tuple[int, ...]]]
PartText = str | tuple[int, Sequence[int]]
"""A text as above, or a training graph and nodes of it."""


@dataclass(frozen=True)
class FoundPart:
    """A part of a training graph that can be a prototype.

    Attributes:
        graph: The number of the graph in the training set.
        nodes: The nodes of the part in that graph.
        label: The class of the graph.
        description: The part in a few characters.
        graphs_with_it: How many training graphs of each class contain the part, ``[C]``; empty if nodes were named.
        notes: Remarks for the user.
    """

    graph: int
    nodes: tuple[int, ...]
    label: int
    description: str
    graphs_with_it: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Match:
    """An occurrence of a text in a training graph: its nodes as written, and completed to whole units."""

    number: int
    graph: GraphSet
    written: tuple[int, ...]
    nodes: tuple[int, ...]

    @property
    def rank(self) -> tuple[int, int, int, tuple[int, ...]]:
        """A sort key: the smallest part in the smallest graph comes first."""
        return len(self.nodes), len(self.graph.x), self.number, self.nodes


def find_part(model: ProtGNN, train: Instances, part: PartText, label: int | None = None) -> FoundPart:
    """Find the part of a training graph that a user names as a prototype of a class.

    Of several occurrences the smallest part in the smallest graph of the class is taken.

    Args:
        model: The model that gets the prototype.
        train: The training set, as model input.
        part: The text, in one of the forms listed in the module.
        label: The class; by default the one in the text or, without one, the class that has the part most often.

    Raises:
        DataError: There is no such part, or it cannot be a prototype.
    """
    assert train.y is not None
    quoted, text, label = _with_class(part, train.schema.class_names, label)
    found = list(_matches(model, train, text, quoted))
    if not found:
        raise DataError(f"{quoted}: no training {train.schema.kind} has this part: choose one that occurs")
    numbers = torch.tensor(sorted({match.number for match in found}))
    having = torch.bincount(train.y[numbers], minlength=train.schema.num_classes)
    if label is None:
        total = torch.bincount(train.y, minlength=len(having))
        label = int((having / total.clamp(min=1)).argmax())
    own = [match for match in found if int(train.y[match.number]) == label]
    names = train.schema.class_names
    if not own:
        other = names[int(having.argmax())]
        raise DataError(f"{quoted}: training graphs of class {other} have this part, and none of {names[label]}")
    best = min(own, key=lambda match: match.rank)
    _check(model, best, quoted)
    shown = describe_training_part(train, best.number, best.nodes)
    notes = () if set(best.nodes) == set(best.written) else (f"{quoted} is completed to {shown}: prototypes are whole",)
    counted = () if _named_nodes(text) else tuple(having.tolist())
    return FoundPart(best.number, best.nodes, label, shown, counted, notes)


def find_looks(model: ProtGNN, train: Instances, part: PartText) -> dict[LookKey, tuple[int, tuple[int, ...]]]:
    """Find every look of a named part in the training graphs, each with a graph and the nodes of one occurrence.

    If prototypes must be whole, only whole occurrences count; if there is none, the occurrences are completed.

    Raises:
        DataError: No training graph contains the part.
    """
    quoted, text, _ = _with_class(part, (), None)
    whole: dict[LookKey, tuple[int, tuple[int, ...]]] = {}
    completed: dict[LookKey, tuple[int, tuple[int, ...]]] = {}
    for match in _matches(model, train, text, quoted):
        as_written = set(match.nodes) == set(match.written)
        if as_written or not whole:
            found = whole if as_written else completed
            found.setdefault(look_key(match.graph, match.nodes), (match.number, match.nodes))
    if not whole and not completed:
        raise DataError(f"{quoted}: no training {train.schema.kind} has this part, so it cannot become a prototype")
    return whole or completed


def describe_training_part(train: Instances, graph: int, nodes: Sequence[int]) -> str:
    """Describe some nodes of a training graph in a few characters, as in the table of prototypes."""
    return describe_subgraph(cut_subgraphs(train, [{"graph": graph, "nodes": list(nodes)}]), nodes)


def _with_class(part: PartText, classes: tuple[str, ...], label: int | None) -> tuple[str, str, int | None]:
    """The part as messages quote it, the text without the class in front, and the class."""
    if not isinstance(part, str):
        graph, nodes = part
        text = f"#{int(graph)}:{','.join(str(int(node)) for node in nodes)}"
        return text, text, label
    text = part.strip()
    if not text or len(text) > LONGEST_TEXT:
        raise DataError(f"Expected a part in up to {LONGEST_TEXT} characters (got {len(text)})")
    for number, name in enumerate(classes):
        if text.startswith(f"{name}:") and text[len(name) + 1 :].strip():
            if label is not None and label != number:
                raise DataError(f"{text}: the prototype is of class {classes[label]}, not {name}")
            return text, text[len(name) + 1 :].strip(), number
    named, colon, rest = text.partition(":")
    if classes and colon and rest[:1].isspace() and not _named_nodes(text):
        raise DataError(f"There is no class {shorten(named)}: the classes are {', '.join(classes)}")
    return text, text, label


def _named_nodes(text: str) -> tuple[int, tuple[int, ...]] | None:
    match = NODES.fullmatch(text)
    if match is None:
        return None
    nodes = tuple(sorted({int(node) for node in re.findall(r"\d+", match[2])}))
    return int(match[1]), nodes


def _matches(model: ProtGNN, train: Instances, text: str, quoted: str) -> Iterator[_Match]:
    """All occurrences of a text in the training graphs."""
    graphs, named = train.ego_graphs(), _named_nodes(text)
    find = _finder_of(train, text, quoted) if named is None else None
    if named is not None:
        number, nodes = named
        if number >= len(train):
            raise DataError(f"{quoted}: there are {len(train)} training graphs, numbered from 0")
        size = int(graphs.node_counts[number])
        if not nodes or nodes[-1] >= size:
            raise DataError(f"{quoted}: training graph {number} has nodes 0 to {size - 1}")
    for number in range(len(train)) if named is None else [named[0]]:
        graph = graphs[number]
        written = find(graph) if find is not None else [nodes]
        for one, whole in zip(written, _whole(model, graph, written), strict=True):
            yield _Match(number, graph, one, whole)


def _finder_of(train: Instances, text: str, quoted: str) -> Finder:
    """A function that finds the occurrences of a text in a graph."""
    kind = train.schema.kind
    if kind == "sentence":
        return lambda graph: _phrases(graph, text.lower().split())
    if kind == "molecule":
        query = _query(text)
        if query is None:
            classes = f", or name one of the classes {', '.join(train.schema.class_names)}" if ":" in text else ""
            raise DataError(f"{quoted}: neither a SMILES nor a SMARTS: check the brackets and rings{classes}")
        return lambda graph: _substructures(graph, query)
    raise DataError(f'{quoted}: name the nodes of a training graph, as in "#12:0,3,4"')


@cache
def _query(text: str) -> Mol | None:
    """A fragment as an RDKit query: a SMILES, made canonical so that its rings are aromatic, or else a SMARTS."""
    from rdkit import Chem

    with quiet():
        mol = Chem.MolFromSmiles(text)
        return Chem.MolFromSmarts(text if mol is None else Chem.MolToSmiles(mol))


def _substructures(graph: GraphSet, query: Mol) -> list[tuple[int, ...]]:
    mol = to_rdkit(graph)
    if mol is None:
        return []
    return sorted({tuple(sorted(match)) for match in mol.GetSubstructMatches(query, maxMatches=MOST_MATCHES)})


def _phrases(graph: GraphSet, words: list[str]) -> list[tuple[int, ...]]:
    """The occurrences of consecutive words in a sentence, with gaps where written, connected in its parse tree."""
    tokens = [] if graph.names is None else graph.names[0].lower().split(" ")
    found: list[tuple[int, ...]] = [()]
    gap = True
    for word in words:
        if word in (GAP, "..."):
            gap = True
            continue
        longer = []
        for nodes in found:
            start = nodes[-1] + 1 if nodes else 0
            places = range(start, len(tokens)) if gap else range(start, min(start + 1, len(tokens)))
            longer += [(*nodes, place) for place in places if tokens[place] == word]
        found, gap = longer[:MOST_MATCHES], False
    return [nodes for nodes in found if nodes and max(nodes) < len(graph.x) and is_connected(graph, nodes)]


def is_connected(graph: GraphSet, nodes: Sequence[int]) -> bool:
    """Whether some nodes induce a connected subgraph; with a target pair, whether each is connected to a target."""
    inside, reached = set(nodes), {nodes[0]}
    if graph.targets is not None:
        reached = inside & set(graph.targets[0].tolist())
    edges = [(a, b) for a, b in graph.edge_index.t().tolist() if a in inside and b in inside]
    while True:
        further = {b for a, b in edges if a in reached} | {a for a, b in edges if b in reached}
        if further <= reached:
            return reached == inside
        reached |= further


def _whole(model: ProtGNN, graph: GraphSet, places: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The occurrences in a graph, completed to whole units if prototypes must be whole."""
    if not places or not isinstance(model, ProtGNNMined):
        return places
    (units,) = model.rule.units(graph.batch())
    return [tuple(members(units.closure(mask_of(nodes)))) for nodes in places]


def _check(model: ProtGNN, match: _Match, quoted: str) -> None:
    """Refuse a part that the model could never find in a graph."""
    graph = match.graph
    if graph.targets is not None and not set(graph.targets[0].tolist()) <= set(match.nodes):
        wanted = ", ".join(map(str, graph.targets[0].tolist()))
        raise DataError(f"{quoted}: a prototype holds what is classified: add {wanted}")
    if not is_connected(graph, match.nodes):
        raise DataError(f"{quoted}: a prototype is one connected part, and these nodes are not joined")
    if isinstance(model, ProtGNNMined):
        (units,) = model.rule.units(graph.batch())
        edges = units.edge_count(mask_of(match.nodes))
        if edges > model.budget:
            raise DataError(
                f"{quoted}: {describe_part(graph, match.nodes)} has {edges} edges and evidence at most {model.budget}: "
                "choose a smaller part, or train with a larger evidence_edges"
            )
