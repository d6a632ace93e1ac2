"""Does evidence look like its prototype, and is it whole? Metrics that do not depend on any model.

=============================  ==================================================================================
``whole_parts``                share of prototypes and evidence that cut no ring and no functional group
``resemblance``                of evidence and prototype in the winning row, mean over graphs that have one
``resemblance_random``         the same of a random connected part of as many nodes of the same graph
``resemblance_correlation``    Spearman's rank correlation of similarity and resemblance over all rows
=============================  ==================================================================================

:mod:`protgnn.data.resemblance` defines resemblance. A ProtGNN compares whole graphs, which count as parts. A graph
whose class is predicted without evidence has no winning row; if no graph has one, ``resemblance`` and
``resemblance_random`` are left out.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache

from scipy.stats import spearmanr

from protgnn.data.graph_set import GraphSet
from protgnn.data.resemblance import Look, look_of, resemblance
from protgnn.data.units import Units, mask_of, members
from protgnn.explain.explanation import Reasoning, ReasoningRow, RunContext
from protgnn.explain.to_rdkit import source_of, to_rdkit
from protgnn.featurizers.graph_units import units_of
from protgnn.featurizers.kinds import kinds_of
from protgnn.training.prototype_cards import Prototypes


def look_figures(reasonings: Sequence[Reasoning], context: RunContext, seed: int = 0) -> dict[str, float]:
    """Compute the metrics of explained graphs.

    Args:
        reasonings: Explanations of held-out graphs.
        context: The context of the run, with its prototypes.
        seed: The seed of the random parts.
    """
    if context.prototypes is None or not reasonings:
        return {}
    prototypes = context.prototypes
    looks = [_look(prototypes.subgraphs[number]) for number in range(len(prototypes.cards))]
    winning, drawn_at_random, similar, alike = [], [], [], []
    whole = [_prototype_is_whole(context, prototypes, number) for number in range(len(prototypes.cards))]
    rng = random.Random(seed)
    for why in reasonings:
        graph = why.graph
        if graph is None:
            continue
        kinds, units = kinds_of(graph), units_of(graph, to_rdkit(graph))
        best = why.winning()
        seen: dict[tuple[int, ...], Look] = {}
        for row in why.rows:
            part = _part(row, len(graph.x))
            if part not in seen:
                seen[part] = look_of(kinds, part)
                if row.evidence is not None:
                    whole.append(units.is_whole(mask_of(part)))
            value = resemblance(seen[part], looks[row.prototype])
            similar.append(row.similarity)
            alike.append(value)
            if row is best:
                winning.append(value)
                drawn = random_part(units, len(part), rng)
                drawn_at_random.append(resemblance(look_of(kinds, drawn), looks[row.prototype]))
    figures = {"whole_parts": sum(whole) / len(whole)}
    if winning:
        figures["resemblance"] = sum(winning) / len(winning)
        figures["resemblance_random"] = sum(drawn_at_random) / len(drawn_at_random)
    if len(set(similar)) > 1 and len(set(alike)) > 1:
        figures["resemblance_correlation"] = float(spearmanr(similar, alike).statistic)
    return figures


def random_part(units: Units, size: int, rng: random.Random) -> tuple[int, ...]:
    """A random connected part of ``size`` nodes, or the whole component if that is smaller."""
    part = 1 << rng.randrange(units.num_nodes)
    while part.bit_count() < size:
        around = list(members(units.around(part)))
        if not around:
            break
        part |= 1 << rng.choice(around)
    return tuple(members(part))


def _part(row: ReasoningRow, num_nodes: int) -> tuple[int, ...]:
    return tuple(range(num_nodes)) if row.evidence is None else row.evidence


def _look(graph: GraphSet) -> Look:
    return look_of(kinds_of(graph), range(len(graph.x)))


def _prototype_is_whole(context: RunContext, prototypes: Prototypes, number: int) -> bool:
    """Whether a prototype is whole in its source graph; assumed if the source is not available."""
    card = prototypes.cards[number]
    if prototypes.subgraphs.schema.featurizer == "molecule":
        return _is_whole(card.name or "", tuple(card.nodes))
    if context.sources is None:
        return True
    source = context.sources[number]
    return units_of(source, to_rdkit(source)).is_whole(mask_of(card.nodes))


@lru_cache(maxsize=10_000)
def _is_whole(smiles: str, nodes: tuple[int, ...]) -> bool:
    from protgnn.featurizers.molecule import from_smiles

    mol = source_of(smiles, list(nodes))
    return mol is not None and units_of(from_smiles([smiles]), mol).is_whole(mask_of(nodes))
