"""Nodes of a network are named by their ids, with or without the word before them."""

from dataclasses import replace

import pytest

import protgnn
from protgnn.errors import DataError
from protgnn.explain.resolve_input import named_targets


@pytest.fixture(scope="module")
def shapes():
    return protgnn.load("ba-shapes")


@pytest.fixture(scope="module")
def named(shapes):
    names = tuple(f"p{number}" for number in range(len(shapes.network)))
    return replace(shapes, network=replace(shapes.network, names=("node 7", *names[1:])))


@pytest.mark.parametrize(("text", "node"), [("310", 310), ("node 310", 310)])
def test_a_numbered_node_is_found(shapes, text, node):
    assert named_targets(shapes, text, 1).targets.tolist() == [[node]]


@pytest.mark.parametrize(("text", "node"), [("p5", 5), ("node p5", 5), ("node 7", 0)])
def test_a_node_with_an_id_is_found_and_the_id_comes_before_the_word(named, text, node):
    assert named_targets(named, text, 1).targets.tolist() == [[node]]


def test_both_nodes_of_a_pair_are_found(named):
    assert named_targets(named, "node p5, p6", 2).targets.tolist() == [[5, 6]]


@pytest.mark.parametrize("text", ["node p9999", "node", "5", "p"])
def test_what_is_no_node_is_refused_as_it_was_written(named, text):
    with pytest.raises(DataError, match=f"^'{text}' is neither a file nor a node"):
        named_targets(named, text, 1)
