"""What the benchmark of peers makes of molecules and of its runs."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import peers, peers_page
from benchmarks.peer_models import MoleculeParts, boosting, described, forest
from benchmarks.peer_models import _read_probabilities as read_probabilities
from benchmarks.peer_models import _write_split as write_split

ACIDS = ["CC(=O)O", "CCC(=O)O", "CCCC(=O)O", "OC(=O)c1ccccc1", "CC(C)C(=O)O"]
ALKANES = ["CC", "CCC", "CCCC", "C1CCCCC1", "CC(C)C"]


def _parts(num_classes: int = 2) -> MoleculeParts:
    train = [*ACIDS, *ALKANES] * 8
    labels = [1] * 5 + [0] * 5
    return MoleculeParts((train, ["CCO"], ["CCCCC(=O)O", "CCCCC"]), (labels * 8, [0], [1, 0]), num_classes)


@pytest.mark.parametrize("peer", [forest, boosting])
def test_a_peer_tells_acids_from_alkanes(peer, monkeypatch) -> None:
    monkeypatch.setattr("benchmarks.peer_models.TREES", 10)
    found = peer(_parts(3), seed=0)
    assert found.shape == (2, 3) and np.allclose(found.sum(1), 1)
    assert found.argmax(1).tolist() == [1, 0]
    assert (found[:, 2] == 0).all(), "a class without an example has no probability"


def test_molecules_are_described_by_descriptors_and_2048_bits() -> None:
    descriptors, bits = described("CCO")
    assert len(descriptors) > 200 and bits.shape == (2048,) and bits.sum() > 0


def test_chemprop_gets_the_split_as_a_column_and_its_answers_are_read(tmp_path) -> None:
    write_split(tmp_path / "all.csv", _parts())
    lines = (tmp_path / "all.csv").read_text().splitlines()
    assert lines[0] == "smiles,label,split" and lines[1] == "CC(=O)O,1,train"
    assert lines[-3:] == ["CCO,0,val", "CCCCC(=O)O,1,test", "CCCCC,0,test"]
    (tmp_path / "two.csv").write_text("smiles,label\nCC,0.25\n")
    assert read_probabilities(tmp_path / "two.csv", 2).tolist() == [[0.75, 0.25]]
    (tmp_path / "three.csv").write_text('smiles,label,label_prob\nCC,0,"0.5,0.25,0.25"\n')
    assert read_probabilities(tmp_path / "three.csv", 3).tolist() == [[0.5, 0.25, 0.25]]


def _run(accuracy: float) -> dict[str, float]:
    shared = {"balanced_accuracy": 0.5, "ece": 0.1, "majority_baseline": 0.6, "n": 100, "seconds": 1.0}
    return {"accuracy": accuracy, "roc_auc": accuracy, **shared}


def _stored() -> dict[str, dict[str, float]]:
    done = {"bbbp gin:plain random-0 recipe:00000000": _run(1.0)}
    accuracies = {"forest": (0.8, 0.9), "boosting": (0.7, 0.9), "gin:plain": (0.9, 0.9)}
    for model, values in accuracies.items():
        for split, value in enumerate(values):
            done[peers.key_of(("bbbp", model, f"random-{split}"))] = _run(value)
    done[peers.key_of(("bbbp", "chemprop", "random-0"))] = _run(0.99)
    done[peers.key_of(("solubility", "forest", "given"))] = _run(0.5)
    return done


def test_a_model_is_compared_with_the_best_peer_split_by_split() -> None:
    rows = {(row["data"], row["model"]): row for row in peers.summary(_stored())}
    assert rows["bbbp", "gin:plain"]["accuracy"] == "90.0 ± 0.0", "the run of another recipe does not count"
    assert rows["bbbp", "gin:plain"]["accuracy_difference"] == "+5.0 ± 5.0"
    assert rows["bbbp", "boosting"]["accuracy_difference"] == "-5.0 ± 5.0"
    assert rows["bbbp", "forest"]["accuracy_difference"] == "-", "chemprop was run on one split and is not the best"
    assert ("solubility:given", "forest") in rows and ("solubility", "forest") not in rows


def test_the_page_names_the_best_peer_the_best_of_ours_and_what_was_not_run() -> None:
    text = "\n\n".join(peers_page.page(_stored()))
    assert (
        "- BBBP, accuracy: the best peer is random forest, ECFP4 and RDKit descriptors (85.0); "
        "the best of ours is plain GNN, GIN (90.0), +5.0 ± 5.0." in text
    )
    assert "not been run with today's recipe on: Solubility, the split that comes with it" in text
    assert "| plain GNN, GIN | 2 | 90.0 ± 0.0 |" in text


def test_a_run_of_table_1_is_taken_instead_of_training_again(monkeypatch) -> None:
    trained = _run(0.9) | {"loss": 0.3, "epochs": 9}
    key = peers.table1.key_of(("bbbp", "gin", "plain", 0, {}))
    monkeypatch.setattr(peers, "stored", lambda path: {key: trained})
    name, figures = peers.run(("bbbp", "gin:plain", "random-0"), None)
    assert name == peers.key_of(("bbbp", "gin:plain", "random-0"))
    assert figures == _run(0.9)
    monkeypatch.setattr(peers, "stored", lambda path: {key: {"accuracy": 0.9, "seconds": 1.0}})
    assert peers._of_table1(("bbbp", "gin:plain", "random-0")) is None, "an older run has no ROC AUC"
    assert peers._of_table1(("bbbp", "forest", "random-0")) is None
    assert peers._of_table1(("solubility", "gin:plain", "given")) is None
