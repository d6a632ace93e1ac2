"""Fidelity: the change in the prediction when evidence is removed from a graph, or a unit from the evidence.

=====================  ============================================================================================
``fidelity_plus``      by how much the probability of the predicted class falls when the evidence of the rows that
                       decided is removed from the graph, mean over graphs
``evidence_share``     the nodes of that evidence, as a share of the graph
``without_evidence``   share of graphs that no row decided: the class is predicted without any evidence
``filler``             share of the edges of evidence, in the winning rows that there are, that belong to a unit whose
                       removal lowers the similarity by at most ``TOLERANCE``
=====================  ============================================================================================

The rows that decided are the fewest, largest gain first, without which the predicted class would not be ahead.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.subgraph import cut
from protgnn.data.units import Units, mask_of
from protgnn.explain.explanation import Reasoning, ReasoningRow
from protgnn.explain.to_rdkit import to_rdkit
from protgnn.featurizers.graph_units import units_of
from protgnn.model.classifier import ProtGNN
from protgnn.training.evaluate import predict_logits

TOLERANCE = 0.05
MOST_GRAPHS = 200
"""The most graphs to evaluate; the first ones are taken."""


def removal_figures(model: ProtGNN, graphs: GraphSet, reasonings: Sequence[Reasoning]) -> dict[str, float]:
    """The figures of explained graphs; nothing where whole graphs are compared, of which nothing can be removed."""
    reasonings = list(reasonings[:MOST_GRAPHS])
    if not reasonings or not model.compares_evidence:
        return {}
    return fidelity(model, graphs, reasonings) | {"filler": filler(model, graphs, reasonings)}


def deciding_rows(why: Reasoning) -> list[ReasoningRow]:
    """The fewest rows without which the predicted class would not be ahead; none where it is ahead without any."""
    rows: list[ReasoningRow] = []
    left = why.margin
    for row in why.decisive():
        if why.gain(row) <= 0:
            break
        rows.append(row)
        left -= why.gain(row)
        if left <= 0:
            return rows
    return []


def fidelity(model: ProtGNN, graphs: GraphSet, reasonings: Sequence[Reasoning]) -> dict[str, float]:
    """``fidelity_plus``, ``evidence_share`` and ``without_evidence``."""
    before, removed, asked = [], [], []
    for number, why in enumerate(reasonings):
        nodes = {node for row in deciding_rows(why) for node in row.marked or ()}
        if nodes:
            asked.append(number)
            removed.append(nodes)
            before.append(why.probabilities[why.predicted])
    figures = {"without_evidence": 1 - len(asked) / len(reasonings)}
    if not asked:
        return figures
    predicted = torch.tensor([reasonings[number].predicted for number in asked])
    after = probabilities_without(model, graphs, asked, removed).gather(1, predicted[:, None]).squeeze(1)
    sizes = graphs.node_counts[torch.tensor(asked)]
    share = torch.tensor([len(nodes) for nodes in removed]) / sizes
    figures["fidelity_plus"] = float((torch.tensor(before) - after).mean())
    figures["evidence_share"] = float(share.mean())
    return figures


def probabilities_without(
    model: torch.nn.Module, graphs: GraphSet, index: Sequence[int], removed: Sequence[set[int]]
) -> Tensor:
    """Probabilities ``[S, C]`` of graphs without some of their nodes; where none is left, every class has the same."""
    num_classes = graphs.schema.num_classes
    found = torch.full((len(index), num_classes), 1 / num_classes)
    masks = []
    for number, gone in zip(index, removed, strict=True):
        mask = torch.ones(int(graphs.node_counts[number]), dtype=torch.bool)
        mask[list(gone)] = False
        masks.append(mask)
    some = [place for place, mask in enumerate(masks) if bool(mask.any())]
    if some:
        rest = cut(graphs, torch.tensor([index[place] for place in some]), torch.cat([masks[place] for place in some]))
        found[some] = predict_logits(model, rest).softmax(1).cpu()  # type: ignore[arg-type]
    return found


@torch.no_grad()
def filler(model: ProtGNN, graphs: GraphSet, reasonings: Sequence[Reasoning]) -> float:
    """The share of edges of the evidence in winning rows that can go, a unit at a time."""
    index: list[int] = []
    masks: list[Tensor] = []
    asked: list[tuple[int, int, int, bool]] = []  # evidence, prototype, edges that go, whether it is the evidence
    total = 0
    for number, why in enumerate(reasonings):
        row, graph = why.winning(), why.graph
        if row is None or row.evidence is None or graph is None:
            continue
        units, part = units_of(graph, to_rdkit(graph)), mask_of(row.evidence)
        edges = units.edge_count(part)
        total += edges
        for rest in (part, *smaller_parts(units, part)):
            index.append(number)
            masks.append(torch.tensor([bool(rest >> node & 1) for node in range(units.num_nodes)]))
            asked.append((number, row.prototype, edges - units.edge_count(rest), rest == part))
    if not total:
        return 0.0
    similar = model.similarities_of_parts(cut(graphs, torch.tensor(index), torch.cat(masks)))
    whole = {one: similar[place, k] for place, (one, k, _, is_whole) in enumerate(asked) if is_whole}
    can_go: dict[int, int] = {}
    for place, (one, prototype, edges, is_whole) in enumerate(asked):
        if not is_whole and similar[place, prototype] >= whole[one] - TOLERANCE:
            can_go[one] = can_go.get(one, 0) + edges
    return min(1.0, sum(can_go.values()) / total)


def smaller_parts(units: Units, part: int) -> list[int]:
    """What is left of a part, connected and whole, without one of its units."""
    found = []
    for unit in units.all_units():
        rest = part & ~unit
        if unit & part == unit and rest and units.is_whole(rest) and _is_connected(units, rest):
            found.append(rest)
    return found


def _is_connected(units: Units, part: int) -> bool:
    reached = part & -part
    while True:
        grown = reached | units.around(reached) & part
        if grown == reached:
            return reached == part
        reached = grown
