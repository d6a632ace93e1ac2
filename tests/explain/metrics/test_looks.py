"""Figures on how evidence looks: 1 where it is the prototype itself, and against what a plain count gives."""

from dataclasses import replace

import pytest
import torch

from protgnn.data.graph_set import GraphSet
from protgnn.explain.explanation import Reasoning, ReasoningRow, RunContext
from protgnn.explain.metrics.looks import look_figures
from protgnn.featurizers.molecule import from_smiles
from protgnn.training.prototype_cards import PrototypeCard, Prototypes

TOLUENE, PHENOL, ETHANOL = "Cc1ccccc1", "Oc1ccccc1", "CCO"
RING = (1, 2, 3, 4, 5, 6)


def context() -> RunContext:
    """A benzene ring cut out of toluene, and the C-O of ethanol."""
    from protgnn.data.subgraph import cut

    both = from_smiles([TOLUENE, ETHANOL], torch.tensor([0, 1]), ("ring", "chain"))
    mask = torch.tensor([False, *[True] * 6, False, True, True])
    cards = (PrototypeCard(0, 0, TOLUENE, list(RING), 1.0, 1), PrototypeCard(1, 1, ETHANOL, [1, 2], 1.0, 1))
    return RunContext(Prototypes(cards, cut(both, torch.arange(2), mask)))


def reasoning(graphs: GraphSet, number: int, *rows: ReasoningRow) -> Reasoning:
    return Reasoning(None, ("ring", "chain"), (1.0, 0.0), (0.7, 0.3), rows, graphs, number)


def row(prototype: int, similarity: float, evidence: tuple[int, ...] | None) -> ReasoningRow:
    return ReasoningRow(prototype, prototype, similarity, ((1.0, 0.0), (0.0, 1.0))[prototype], evidence)


def test_evidence_that_is_the_prototype_resembles_it_wholly():
    graphs = from_smiles(["OCCCCCCCCc1ccccc1"])
    why = reasoning(graphs, 0, row(0, 3.0, tuple(range(9, 15))), row(1, 0.1, (0,)))
    figures = look_figures([why], context(), seed=1)
    assert figures["resemblance"] == 1.0 and figures["whole_parts"] == 1.0
    assert figures["resemblance_correlation"] == pytest.approx(1.0)
    assert figures["resemblance_random"] < 1.0


def test_cut_rings_are_counted_and_whole_graphs_are_no_evidence():
    graphs = from_smiles([PHENOL])
    cut = reasoning(graphs, 0, row(0, 3.0, RING[:4]), row(1, 0.1, (0,)))
    assert look_figures([cut], context())["whole_parts"] == pytest.approx(3 / 4)  # two prototypes, two parts, one cut
    everything = reasoning(graphs, 0, row(0, 3.0, None), row(1, 0.1, None))
    assert look_figures([everything], context())["whole_parts"] == 1.0
    assert look_figures([everything], context())["resemblance"] < 1.0


def test_a_prototype_that_cuts_its_own_ring_is_not_whole():
    found = context()
    assert found.prototypes is not None
    cards = (replace(found.prototypes.cards[0], nodes=[1, 2, 3]), found.prototypes.cards[1])
    broken = replace(found, prototypes=Prototypes(cards, found.prototypes.subgraphs))
    why = reasoning(from_smiles([PHENOL]), 0, row(0, 3.0, RING), row(1, 0.1, (0,)))
    assert look_figures([why], broken)["whole_parts"] == pytest.approx(3 / 4)


def test_prototypes_of_molecules_without_smiles_are_judged_within_their_sources():
    found = context()
    assert found.prototypes is not None
    cards, parts = found.prototypes.cards, found.prototypes.subgraphs
    given = replace(parts, schema=replace(parts.schema, featurizer="given"))
    sources = from_smiles([TOLUENE, ETHANOL])
    why = reasoning(from_smiles([PHENOL]), 0, row(0, 3.0, RING), row(1, 0.1, (0,)))
    whole = replace(found, prototypes=Prototypes(cards, given), sources=sources)
    assert look_figures([why], whole)["whole_parts"] == 1.0
    cut = (replace(cards[0], nodes=[1, 2, 3]), cards[1])
    broken = replace(found, prototypes=Prototypes(cut, given), sources=sources)
    assert look_figures([why], broken)["whole_parts"] == pytest.approx(3 / 4)
