"""Splits are complete, disjoint, repeatable, and refuse what cannot be split."""

import hashlib
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from protgnn.data.graph_set import GraphSet
from protgnn.data.split import Split, k_fold
from protgnn.datasets.copies import torn_copies
from protgnn.datasets.dataset import Dataset
from protgnn.datasets.load import load
from protgnn.datasets.splits import folds, scaffold, split
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


def test_a_stratified_split_keeps_the_class_proportions() -> None:
    graphs = with_labels([0] * 150 + [1] * 50)
    parts = split(graphs, "stratified", 3)
    assert [len(parts.train), len(parts.valid), len(parts.test)] == [160, 20, 20]
    assert graphs.y[parts.test].sum() == 5 and graphs.y[parts.valid].sum() == 5


@pytest.mark.parametrize("kind", ["random", "stratified"])
def test_equal_seeds_give_equal_splits_and_other_seeds_others(kind: str) -> None:
    graphs = with_labels([0, 1] * 50)
    assert torch.equal(split(graphs, kind, 1).test, split(graphs, kind, 1).test)
    assert not torch.equal(split(graphs, kind, 1).test, split(graphs, kind, 2).test)


@pytest.mark.parametrize("stratified", [True, False])
def test_folds_test_every_graph_once(stratified: bool) -> None:
    folds = k_fold(with_labels([0, 1, 1] * 10), 5, 0, stratified)
    assert torch.cat([fold.test for fold in folds]).sort().values.tolist() == list(range(30))
    for fold in folds:
        assert_partition(fold, 30)


STORED = {
    ("random", 0): "202b293cb32d41e49a6840109070caae073a3173ed962b81838da8f366c03063",
    ("random", 1): "a02fd6ce775435437ccfa64f8a91b3a6e32ee6c4c2c504a1cee501d2e38d090d",
    ("stratified", 0): "8e00377761efbd5ed18ad68ae0e62b6fe2aedd2a67c6fc5d1a8c9c178f146ce1",
    ("stratified", 1): "cf61108e033cd14c58404bd4a29bb1fa73f2eb86db8a7d8bab5e54e159f2133b",
}
"""SHA-256 of the splits of `distinct_molecules` when the first benchmarks were stored."""


def distinct_molecules() -> GraphSet:
    smiles = ["C" * size + end for size in range(1, 31) for end in ("O", "N", "c1ccccc1")]
    return from_smiles(smiles, torch.tensor([0, 1, 1] * 30), ("a", "b"))


@pytest.mark.parametrize(("kind", "seed"), STORED)
def test_without_copies_a_split_is_the_one_of_the_stored_benchmarks(kind: str, seed: int) -> None:
    parts = split(distinct_molecules(), kind, seed)
    found = b"".join(part.numpy().tobytes() for part in (parts.train, parts.valid, parts.test))
    assert hashlib.sha256(found).hexdigest() == STORED[kind, seed]


@pytest.mark.parametrize("kind", ["random", "stratified", "scaffold", "scaffold-deepchem"])
def test_copies_of_a_molecule_are_never_on_two_sides(kind: str) -> None:
    rings = [(atom, "C" * size) for size in range(3, 13) for atom in "CN"]
    smiles = [text for atom, ring in rings for text in (f"CC{atom}1{ring}1", f"{atom}1(CC){ring}1")]
    graphs = from_smiles(smiles, torch.tensor([0, 0, 1, 1] * 10), ("a", "b"))
    for seed in range(5):
        parts = split(graphs, kind, seed)
        assert_partition(parts, len(smiles))
        assert torn_copies(graphs, parts) == 0
    assert all(torn_copies(graphs, fold) == 0 for fold in folds(graphs, 4))
    assert torn_copies(graphs, Split(*(torch.tensor(part) for part in ([0, 2], [1], [3])))) == 2


def test_as_few_copies_as_possible_move() -> None:
    graphs = distinct_molecules()
    before = split(graphs, "random", 0)
    of = {int(number): place for place, part in enumerate(vars(before).values()) for number in part}
    one, *others = before.train.tolist()[:2] + before.test.tolist()[:1]
    names = list(graphs.names)
    for number in others:
        names[number] = names[one]
    copied = from_smiles(names, graphs.y, ("a", "b"))
    after = split(copied, "random", 0)
    assert [
        number for place, part in enumerate(vars(after).values()) for number in part.tolist() if of[number] != place
    ] == [others[-1]]
    assert others[-1] in after.train


def test_scaffold_splits_of_bbbp_have_both_classes_in_every_part(real_data: Path) -> None:
    data = load("bbbp")
    drawn = [data.with_split("scaffold", seed) for seed in range(3)]
    for dataset in drawn:
        assert all(len(part.y.unique()) == 2 for part in (dataset.train, dataset.valid, dataset.test))
        assert torn_copies(data.graphs, dataset.split_) == 0
        assert [len(dataset.train), len(dataset.valid), len(dataset.test)] == [1631, 204, 204]
    assert drawn[0].test.names != drawn[1].test.names
    assert torch.equal(split(data.graphs, "scaffold-deepchem", 0).test, split(data.graphs, "scaffold-deepchem", 1).test)


def test_a_part_without_a_class_is_noted_until_another_split_is_chosen() -> None:
    rings = [f"C1{'C' * size}1" for size in range(2, 22)]
    chains = ["C" * size + "O" for size in range(1, 21)]
    graphs = from_smiles(rings + chains, torch.tensor([0] * 20 + [1] * 20), ("a", "b"))
    data = Dataset("rings", graphs).with_split("scaffold-deepchem")
    assert any("test part of this split has no graph of class b" in note for note in data.notes)
    assert data.with_split("stratified").notes == []


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
    assert not torch.equal(parts.test, split(graphs, "scaffold", 1).test)
    sides = [{scaffold(graphs.names[number]) for number in part} for part in (parts.train, parts.valid, parts.test)]
    assert not (sides[0] & sides[1] or sides[0] & sides[2] or sides[1] & sides[2])


def test_a_scaffold_of_what_is_no_molecule_is_refused_as_it_was_written() -> None:
    with pytest.raises(DataError, match=r"the SMILES 'F/C=C\\Q': a scaffold split"):
        scaffold("F/C=C\\Q")


def test_what_cannot_be_split_is_refused() -> None:
    graphs = with_labels([0, 1] * 10)
    for call, words in (
        (lambda: split(graphs, "scaffold", 0), "molecules"),
        (lambda: split(graphs, "sideways", 0), "random, stratified, scaffold"),
        (lambda: split(graphs, "random", 0, (0.5, 0.5, 0.5)), "add up to 1"),
        (lambda: split(graphs[:2], "random", 0), "at least 3 graphs"),
        (lambda: split(one_graph()[[0] * 9], "stratified", 0), "needs labels"),
        (lambda: split(with_labels([0] * 20 + [1]), "stratified", 0), "smallest class"),
        (lambda: split(from_smiles(["CC", "CCC", "CCCC"]), "scaffold", 0), "part of this split is empty"),
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
