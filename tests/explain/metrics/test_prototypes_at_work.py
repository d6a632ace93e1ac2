"""Whether every prototype works, told of rows that are made up."""

import pytest
import torch

from protgnn.data.units import Units, ring_edges
from protgnn.explain.explanation import Reasoning, ReasoningRow
from protgnn.explain.metrics.prototypes_at_work import overlapping, prototype_figures
from protgnn.explain.metrics.removal import deciding_rows, smaller_parts
from protgnn.featurizers.molecule import from_smiles
from protgnn.training.prototype_cards import PrototypeCard, Prototypes

GRAPHS = from_smiles(["C", "CC", "CCC", "CCCC"], torch.tensor([0, 0, 1, 1]), ("no", "yes"))


def card(label: int, graph: int, nodes: list[int]) -> PrototypeCard:
    return PrototypeCard(label, graph, None, nodes, 1.0, 1)


def reasoning(number: int, *rows: tuple[int, float, float], base: tuple[float, float] = (0.0, 0.0)) -> Reasoning:
    """Rows as (class, similarity, weight in that class)."""
    made = tuple(
        ReasoningRow(place, label, similar, (weight, 0.0) if label == 0 else (0.0, weight), evidence=(0,))
        for place, (label, similar, weight) in enumerate(rows)
    )
    logits = tuple(base[label] + sum(row.contribution(label) for row in made) for label in range(2))
    return Reasoning(None, ("no", "yes"), logits, (0.5, 0.5), made, GRAPHS, number, beside=base)


def test_a_prototype_is_ranked_by_its_own_class_and_an_idle_one_is_counted():
    reasons = [reasoning(number, (1, value, 1.0), (0, 1.0, 0.01)) for number, value in enumerate([0.1, 0.6, 0.5, 0.9])]
    found = prototype_figures(reasons, Prototypes((card(1, 0, [0]), card(0, 0, [0])), GRAPHS[:2]))
    assert found["prototype_auc"] == 0.5 and found["prototype_auc_mean"] == pytest.approx((0.75 + 0.5) / 2)
    assert found["weak_prototypes"] == 1 and found["idle"] == 1


def test_only_prototypes_of_one_class_that_share_a_node_of_one_graph_overlap():
    cards = [card(0, 3, [1, 2]), card(0, 3, [2, 4]), card(1, 3, [2]), card(0, 3, [5]), card(0, 4, [1, 2])]
    assert overlapping(cards) == 1


def test_the_rows_that_decided_are_the_fewest_without_which_the_class_is_not_ahead():
    why = reasoning(0, (0, 1.0, 3.0), (0, 1.0, 1.0), (1, 1.0, 2.0), (0, 1.0, 0.5))
    assert why.predicted == 0 and [row.prototype for row in deciding_rows(why)] == [0]
    close = reasoning(0, (0, 1.0, 3.0), (0, 1.0, 2.0), (0, 1.0, 0.5))
    assert [row.prototype for row in deciding_rows(close)] == [0, 1, 2]
    assert deciding_rows(reasoning(0, (0, 1.0, 0.5), base=(2.0, 0.0))) == []


def test_smaller_parts_are_connected_whole_and_lack_one_unit():
    # a triangle 0 1 2 with a tail 3 4
    neighbours = (0b00110, 0b00101, 0b01011, 0b10100, 0b01000)
    units = Units(neighbours, (), ring_edges([(0, 1, 2)]))
    assert set(smaller_parts(units, 0b11111)) == {0b01111, 0b11000}
    assert smaller_parts(units, 0b00111) == []
