"""Candidate parts against a plain enumeration: all connected whole unions of units, and no others."""

from itertools import combinations

import pytest

from protgnn.data.parts import all_parts
from protgnn.data.units import Units, mask_of, members
from protgnn.featurizers.graph_units import units_of
from protgnn.featurizers.molecule import from_smiles, parse

MOLECULES = [
    "CC(=O)Nc1ccc(O)cc1",
    "CC(=O)NC(C)=O",
    "O=C1CCCN1CC=C",
    "c1ccc2ccccc2c1",
    "C1CC2CCC1C2",
    "NS(=O)(=O)c1cc(Cl)ccc1C#N",
    "OC1OC(CO)C(O)C1O",
]


def connected(units: Units, part: int) -> bool:
    """Whether every node of a part is reached from its first, one neighbour after another."""
    inside = set(members(part))
    reached, waiting = {min(inside)}, [min(inside)]
    while waiting:
        for other in members(units.neighbours[waiting.pop()]):
            if other in inside and other not in reached:
                reached.add(other)
                waiting.append(other)
    return reached == inside


@pytest.mark.parametrize("smiles", MOLECULES)
@pytest.mark.parametrize("budget", [3, 7])
def test_all_parts_are_the_connected_whole_unions_of_units_within_the_budget(smiles, budget):
    units = units_of(from_smiles([smiles]), parse(smiles))
    pieces, wanted = units.all_units(), set()
    for count in range(1, budget + 2):
        for chosen in combinations(pieces, count):
            union = mask_of(node for piece in chosen for node in members(piece))
            if connected(units, union) and units.is_whole(union) and units.edge_count(union) <= budget:
                wanted.add(union)
    found = all_parts(units, budget, 100_000)
    assert len(found) == len(set(found))
    lone = {part for part in wanted if part.bit_count() == 1 and not any(part & group for group in units.groups)}
    # where nothing else fits, nodes by themselves, and where nothing fits at all, the smallest unit
    assert set(found) == (wanted - lone or wanted or {min(pieces, key=int.bit_count)})


@pytest.mark.parametrize("smiles", MOLECULES)
def test_edges_between_two_sets_are_those_of_the_union_less_those_of_the_other(smiles):
    units = units_of(from_smiles([smiles]), parse(smiles))
    for first, second in combinations(units.all_units(), 2):
        new = first & ~second
        assert units.edges_between(new, second) == units.edge_count(first | second) - units.edge_count(second)
