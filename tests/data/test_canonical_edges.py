"""The one routine that repairs edges, against a plain version with sets and dictionaries."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from protgnn.data.canonical_edges import CanonicalEdges, ConflictingAttributes, _with_reverse, canonical_edges

NODES = 7

ends = st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1))
edge_lists = st.lists(st.tuples(ends, st.integers(0, 2)), max_size=25)
"""Edges with one attribute, of few values and few nodes: repetitions and conflicts are common."""


def repaired(listed: list[tuple[tuple[int, int], int]], directed: bool, with_attr: bool = True) -> CanonicalEdges:
    pairs = np.array([edge for edge, _ in listed], dtype=np.int64).reshape(-1, 2)
    attr = torch.tensor([[float(value)] for _, value in listed]).reshape(-1, 1) if with_attr else None
    return canonical_edges(pairs[:, 0].copy(), pairs[:, 1].copy(), NODES, attr, directed)


def plain(listed: list[tuple[tuple[int, int], int]], directed: bool) -> tuple[dict, dict, dict, dict]:
    """What ``canonical_edges`` does, told as plainly as possible: attributes by edge, and repairs by target node."""
    loops, duplicates, mirrored = (dict.fromkeys(range(NODES), 0) for _ in range(3))
    there: dict[tuple[int, int], int] = {}
    for (source, target), value in listed:
        if source == target:
            loops[target] += 1
        elif (source, target) in there:
            duplicates[target] += 1
        else:
            there[source, target] = value
    for (source, target), value in list(there.items()):
        if not directed and (target, source) not in there:
            mirrored[source] += 1
            there[target, source] = value
    return there, loops, duplicates, mirrored


def conflict(listed: list[tuple[tuple[int, int], int]], directed: bool) -> tuple[int, int, bool] | None:
    """The first edge, by (target, source), with two attributes; repetitions are looked at before directions."""
    values: dict[tuple[int, int], set[int]] = {}
    for (source, target), value in listed:
        if source != target:
            values.setdefault((target, source), set()).add(value)
    twice = sorted(edge for edge, found in values.items() if len(found) > 1)
    if twice:
        return twice[0][1], twice[0][0], False
    both = sorted(edge for edge in values if edge[::-1] in values and values[edge] != values[edge[::-1]])
    return (both[0][1], both[0][0], True) if both and not directed else None


def assert_is(found: CanonicalEdges, wanted: tuple[dict, dict, dict, dict]) -> None:
    there, loops, duplicates, mirrored = wanted
    order = sorted(there, key=lambda edge: edge[::-1])
    assert list(zip(found.source.tolist(), found.target.tolist(), strict=True)) == order
    if found.edge_attr is not None:
        assert found.edge_attr.flatten().tolist() == [there[edge] for edge in order]
    assert found.degree.tolist() == [sum(target == node for _, target in there) for node in range(NODES)]
    assert found.self_loops.tolist() == list(loops.values())
    assert found.duplicates.tolist() == list(duplicates.values())
    assert found.mirrored.tolist() == list(mirrored.values())


@settings(max_examples=200, deadline=None)
@given(edge_lists, st.booleans())
def test_edges_and_repairs_are_those_of_the_plain_version(listed, directed):
    assert_is(repaired(listed, directed, with_attr=False), plain(listed, directed))


@settings(max_examples=200, deadline=None)
@given(edge_lists, st.booleans())
def test_with_attributes_the_result_or_the_conflict_is_that_of_the_plain_version(listed, directed):
    wanted = conflict(listed, directed)
    if wanted is None:
        assert_is(repaired(listed, directed), plain(listed, directed))
        return
    with pytest.raises(ConflictingAttributes) as raised:
        repaired(listed, directed)
    assert (raised.value.source, raised.value.target, raised.value.reverse) == wanted


@settings(max_examples=100, deadline=None)
@given(st.lists(ends, max_size=25), st.booleans())
def test_attributes_that_agree_go_with_their_edges(pairs, directed):
    listed = [(edge, min(edge) * NODES + max(edge)) for edge in pairs]  # the same in both directions: no conflict
    assert_is(repaired(listed, directed), plain(listed, directed))


@settings(max_examples=100, deadline=None)
@given(edge_lists, st.booleans())
def test_repairing_twice_changes_nothing_more(listed, directed):
    once = repaired(listed, directed, with_attr=False)
    twice = canonical_edges(once.source, once.target, NODES, directed=directed)
    assert np.array_equal(twice.source, once.source) and np.array_equal(twice.target, once.target)
    assert not (twice.self_loops.any() or twice.duplicates.any() or twice.mirrored.any())


def test_node_numbers_as_large_as_int32_allows_do_not_overflow():
    last = 2**31 - 2
    key = _with_reverse(np.array([last]), None, last + 1)[0]
    assert [divmod(int(number), last + 1) for number in key] == [(0, last), (last, 0)]
