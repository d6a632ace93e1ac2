"""What data asks of a recipe is the same from the command line and from Python."""

from pathlib import Path

import pytest
import torch

from protgnn.datasets.load import load
from protgnn.datasets.policy import default_encoder, recipe_changes

NODES = "id,size,label,split\n" + "".join(
    f"n{number},{number % 7},{'ab'[number % 2]},{part}\n"
    for number, part in enumerate(["test"] * 6 + ["valid"] * 6 + ["train"] * 18)
)
EDGES = "source,target\n" + "".join(f"n{number},n{(number + step) % 30}\n" for number in range(30) for step in (1, 5))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "edges.csv").write_text(EDGES)
    return tmp_path


def test_a_split_column_counts_from_python_too(folder: Path) -> None:
    data = load(folder)
    assert data.split_.test.tolist() == list(range(6)) and data.split_.valid.tolist() == list(range(6, 12))
    assert len(data.train) == 18
    assert torch.equal(data.with_split("given").split_.train, data.split_.train)
    assert data.with_split("stratified", 0).split_.test.tolist() != list(range(6))


def test_the_given_split_is_meant_unless_another_is_chosen(folder: Path) -> None:
    data = load(folder)
    changes = recipe_changes(data, set())
    assert changes.values == {"split": "given"} and "split column" in changes.notes[0]
    assert recipe_changes(data, {"split"}).values == {}


def test_links_are_learned_with_a_gcn_unless_an_encoder_is_chosen(folder: Path) -> None:
    data = load(folder, task="links")
    changes = recipe_changes(data, {"seed"})
    assert changes.values == {"encoder": "gcn"} and "GCN" in changes.notes[0]
    assert recipe_changes(data, {"encoder"}).values == {}
    assert [default_encoder(targets) for targets in (0, 1, 2)] == [None, None, "gcn"]


def test_a_split_that_is_not_the_standard_waits_to_be_asked_for() -> None:
    assert recipe_changes(load("solubility"), set()).values == {}
