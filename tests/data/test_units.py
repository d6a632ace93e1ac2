"""Units stay whole: closures by law and by hand."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protgnn.data.units import Units, mask_of, members
from protgnn.featurizers.graph_units import groups_of, units_of
from protgnn.featurizers.molecule import from_smiles, parse

MOLECULES = ["CC(=O)Nc1ccc(O)cc1", "c1ccc2ccccc2c1", "O=C1CCCCO1", "C1CC1", "CC(C)(C)OC(=O)N", "C=CC#N", "C1CC2CCC1C2"]


def units(smiles: str) -> Units:
    return units_of(from_smiles([smiles]), parse(smiles))


def groups(smiles: str) -> list[list[int]]:
    return [list(members(group)) for group in groups_of(parse(smiles))]


@given(st.sampled_from(MOLECULES), st.integers(0, 2**32))
def test_a_closure_is_whole_and_holds_what_was_asked(smiles, seed):
    of = units(smiles)
    rng = random.Random(seed)
    small = mask_of(node for node in range(of.num_nodes) if rng.random() < 0.3)
    assert of.closure(small) & small == small and of.is_whole(of.closure(small))
    assert of.closure(of.closure(small)) == of.closure(small)


@given(st.sampled_from(MOLECULES), st.integers(0, 2**32))
def test_a_whole_part_cuts_no_ring_as_rdkit_sees_it(smiles, seed):
    of, mol = units(smiles), parse(smiles)
    rng = random.Random(seed)
    part = of.closure(mask_of(node for node in range(of.num_nodes) if rng.random() < 0.3))
    inside = set(members(part))
    rings = [set(ring) for ring in mol.GetRingInfo().AtomRings()]
    for bond in mol.GetBonds():
        ends = {bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()}
        if bond.IsInRing() and ends <= inside:
            assert any(ends <= ring <= inside for ring in rings)


@pytest.mark.parametrize(
    ("smiles", "wanted"),
    [
        ("CC(=O)O", [[1, 2, 3]]),
        ("c1ccccc1[N+](=O)[O-]", [[6, 7, 8]]),
        ("CCO", [[2]]),
        ("CC=CC", [[1, 2]]),
        ("c1ccncc1", []),
        ("COCOC", [[1, 2, 3]]),
        ("C1CO1", [[0, 1, 2]]),
        ("CC(=O)NCC(C)Cl", [[7], [1, 2, 3]]),
        ("CC(=O)C=CC", [[1, 2], [3, 4]]),  # an enone: ketone and alkene
        ("CC(=O)NC(C)=O", [[1, 2, 3], [3, 4, 6]]),  # an imide: two amides that share the nitrogen
        ("CC(=O)NS(C)(=O)=O", [[1, 2, 3], [3, 4, 6, 7]]),  # an amide and a sulfonamide
        ("CC(=O)NN", [[3, 4], [1, 2, 3]]),  # an amide and a hydrazine
        ("CC(=O)C(C)=O", [[1, 2], [3, 5]]),
        ("C=CO", [[0, 1, 2]]),
        ("CC#N", [[1, 2]]),
        ("c1ccccc1B(O)O", [[6, 7, 8]]),
        ("CSSC", [[1, 2]]),
        ("FC(F)(F)C", [[0], [2], [3]]),
        ("NC(N)=O", [[0, 1, 2, 3]]),
        ("O=c1cc[nH]cc1", [[0]]),
        ("[H][H]", []),
    ],
)
def test_functional_groups_are_those_that_a_chemist_names(smiles, wanted):
    assert groups(smiles) == wanted


def test_one_amide_of_an_imide_is_whole_and_half_of_it_is_not():
    of = units("CC(=O)NC(C)=O")
    assert of.is_whole(mask_of([1, 2, 3])) and of.is_whole(mask_of([1, 2, 3, 4, 6]))
    assert not of.is_whole(mask_of([1, 2])) and not of.is_whole(mask_of([1, 2, 3, 4]))
    assert of.closure(mask_of([4])) == mask_of([3, 4, 6])


def test_one_ring_of_two_fused_ones_is_whole_and_half_of_it_is_not():
    of = units("c1ccc2ccccc2c1")
    first = mask_of([0, 1, 2, 3, 8, 9])
    assert of.is_whole(first) and not of.is_whole(mask_of([0, 1, 2]))
    assert of.closure(mask_of([0, 1])) == first


def test_the_units_of_a_molecule_cover_it_and_are_whole():
    for smiles in MOLECULES:
        of = units(smiles)
        everything = 0
        for unit in of.all_units():
            assert of.is_whole(unit)
            everything |= unit
        assert everything == 2**of.num_nodes - 1


def test_edges_are_counted_and_neighbours_found():
    of = units("c1ccccc1C")
    ring = mask_of(range(6))
    assert of.edge_count(ring) == 6 and list(members(of.around(ring))) == [6]
