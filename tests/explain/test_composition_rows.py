"""What amounts add, in lines to read: by theme where they have one, and always adding up to the base."""

from __future__ import annotations

import pytest

from protgnn.data.schema import Schema
from protgnn.explain.composition_rows import CompositionRow, beside_lines
from protgnn.featurizers.amount_names import amount_names
from protgnn.featurizers.molecule import molecule_schema


def row(name: str, theme: str, first: float, second: float) -> CompositionRow:
    return CompositionRow(name, theme, 1.0, f"{name} 1", (first, second), first - second)


THEMED = (
    row("polar area", "polarity", 0.5, 0.0),
    row("logP", "lipophilicity", 0.3, 0.0),
    row("donors", "polarity", 0.0, 0.1),
)


def test_amounts_of_one_theme_are_one_line_that_names_the_largest():
    lines = beside_lines((1.0, 0.5), THEMED, "base")
    assert [line.name for line in lines] == ["polarity", "lipophilicity", "base"]
    assert lines[0].contributions == (0.5, 0.1) and lines[0].text == "polarity, mainly polar area 1"
    assert lines[2].contributions == pytest.approx((0.2, 0.4))


def test_themes_are_ordered_by_what_they_come_to_together():
    against = row("acceptors", "polarity", -0.4, 0.0)
    assert beside_lines((0.0, 0.0), (*THEMED, against), "base")[0].name == "lipophilicity"


def test_themes_that_hardly_matter_have_one_line_together():
    rows = (*THEMED, row("ring atoms", "rings", 0.01, 0.0), row("C atoms", "elements", 0.0, 0.01))
    lines = beside_lines((1.0, 0.5), rows, "base")
    assert [line.name for line in lines] == ["polarity", "lipophilicity", "other properties", "base"]
    assert lines[2].contributions == (0.01, 0.01)
    assert sum(line.contributions[0] for line in lines) == pytest.approx(1.0)


def test_amounts_without_a_theme_have_three_lines_and_one_for_the_others():
    rows = tuple(row(name, "", 0.5 - 0.1 * place, 0.0) for place, name in enumerate("abcde"))
    lines = beside_lines((2.0, 1.0), rows, "base")
    assert [line.name for line in lines] == ["a 1", "b 1", "c 1", "2 more properties", "base"]
    for label, total in enumerate((2.0, 1.0)):
        assert sum(line.contributions[label] for line in lines) == pytest.approx(total)


def test_every_amount_of_a_molecule_has_a_theme():
    assert all(name.theme for name in amount_names(molecule_schema()))


def test_a_share_of_hydrogens_that_are_no_nodes_is_not_named_as_the_value_of_the_molecule():
    """The heavy-atom part of Crippen's logP is -1.62 for penicillin G, whose logP is 0.86."""
    texts = [name.text for name in amount_names(molecule_schema())]
    for known in ("logP", "refractivity", "Labute surface area"):
        named = [text for text in texts if known in text]
        assert len(named) == 2 and all(text.startswith("heavy-atom part of ") for text in named)
    assert {"heavy atoms", "heavy-atom mass", "polar surface area (TPSA)", "non-stereocentre atoms"} <= set(texts)


def test_atoms_of_molecules_that_came_as_graphs_are_called_atoms():
    names = [name.text for name in amount_names(Schema("molecule", (), ("C", "degree=1")))]
    assert names == ["atoms", "C atoms", "atoms with 1 neighbour", *(f"share of {name}" for name in names[1:3])]


def test_degrees_of_other_graphs_are_neighbours():
    names = [name.text for name in amount_names(Schema("graph", (), ("kind=a", "degree=1", "degree=3", "weight")))]
    assert names[1:5] == ["nodes with kind=a", "nodes with 1 neighbour", "nodes with 3 neighbours", "sum of weight"]
    assert names[7:] == ["share of nodes with 3 neighbours", "mean of weight"]
