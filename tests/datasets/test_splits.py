"""Splits are complete, disjoint, repeatable, and refuse what cannot be split."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from protgnn.data.graph_set import GraphSet
from protgnn.data.split import Split, k_fold
from protgnn.datasets.splits import scaffold, split
from protgnn.errors import DataError
from protgnn.featurizers.molecule import from_smiles
from tests.data.random_graphs import law, one_graph


def with_labels(y: list[int]) -> GraphSet:
    return GraphSet(**{**vars(one_graph()[[0] * len(y)]), "y": torch.tensor(y)})


def assert_partition(parts: Split, size: int) -> None:
    everyone = torch.cat([parts.train, parts.valid, parts.test])
    assert everyone.sort().values.tolist() == list(range(size))
    assert all(part.dtype == torch.int64 and len(part) for part in (parts.train, parts.valid, parts.test))


@law
@given(st.lists(st.integers(3, 30), min_size=2, max_size=4), st.integers(0, 100))
def test_a_stratified_split_has_every_graph_once_and_every_class_to_train(sizes: list[int], seed: int) -> None:
    y = [label for label, size in enumerate(sizes) for _ in range(size)]
    parts = split(with_labels(y), "stratified", seed)
    assert_partition(parts, len(y))
    assert set(torch.tensor(y)[parts.train].tolist()) == set(range(len(sizes)))


def test_proportions_are_kept() -> None:
    graphs = with_labels([0] * 150 + [1] * 50)
    parts = split(graphs, "stratified", 3)
    assert [len(parts.train), len(parts.valid), len(parts.test)] == [160, 20, 20]
    assert graphs.y[parts.test].sum() == 5 and graphs.y[parts.valid].sum() == 5


@pytest.mark.parametrize("kind", ["random", "stratified"])
def test_the_seed_decides(kind: str) -> None:
    graphs = with_labels([0, 1] * 50)
    assert torch.equal(split(graphs, kind, 1).test, split(graphs, kind, 1).test)
    assert not torch.equal(split(graphs, kind, 1).test, split(graphs, kind, 2).test)


@pytest.mark.parametrize("stratified", [True, False])
def test_folds_test_every_graph_once(stratified: bool) -> None:
    folds = k_fold(with_labels([0, 1, 1] * 10), 5, 0, stratified)
    assert torch.cat([fold.test for fold in folds]).sort().values.tolist() == list(range(30))
    for fold in folds:
        assert_partition(fold, 30)


def test_a_scaffold_is_never_on_two_sides() -> None:
    rings = [
        "c1ccccc1",
        "C1CCCCC1",
        "c1ccncc1",
        "C1CCCC1",
        "c1ccsc1",
        "c1ccoc1",
        "C1CCNCC1",
        "C1CC1",
        "C1CCC1",
        "c1cc[nH]c1",
    ]
    smiles = [tail + ring for ring in rings for tail in ("C", "CC", "CCC", "CCCC")]
    graphs = from_smiles(smiles, torch.tensor([0, 1] * 20))
    parts = split(graphs, "scaffold", 0)
    assert_partition(parts, 40)
    sides = [{scaffold(graphs.names[number]) for number in part} for part in (parts.train, parts.valid, parts.test)]
    assert not (sides[0] & sides[1] or sides[0] & sides[2] or sides[1] & sides[2])


def test_what_cannot_be_split_is_refused() -> None:
    graphs = with_labels([0, 1] * 10)
    for call, words in (
        (lambda: split(graphs, "scaffold", 0), "molecules"),
        (lambda: split(graphs, "sideways", 0), "random, stratified, scaffold"),
        (lambda: split(graphs, "random", 0, (0.5, 0.5, 0.5)), "add up to 1"),
        (lambda: split(graphs[:2], "random", 0), "at least 3 graphs"),
        (lambda: split(one_graph()[[0] * 9], "stratified", 0), "needs labels"),
        (lambda: split(with_labels([0] * 20 + [1]), "stratified", 0), "smallest class"),
        (lambda: split(from_smiles(["CC", "CCC", "CCCC"]), "scaffold", 0), "no graph to"),
        (lambda: k_fold(graphs, 2, 0), "folds"),
        (lambda: k_fold(graphs, 11, 0), "at most 10 folds"),
    ):
        with pytest.raises(DataError, match=words):
            call()


def test_a_class_that_training_would_never_see_is_refused() -> None:
    graphs = with_labels([0] * 30 + [1])

    def until_it_is_held_out() -> None:
        for seed in range(50):
            split(graphs, "random", seed)

    with pytest.raises(DataError, match="class 1 to train on"):
        until_it_is_held_out()
