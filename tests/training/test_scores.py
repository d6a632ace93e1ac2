"""Scores agree with scikit-learn's, intervals with its scores of every draw, and what misleads is said."""

import numpy as np
import pytest
import torch
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    matthews_corrcoef,
    roc_auc_score,
)
from torchmetrics.functional.classification import multiclass_calibration_error

from protgnn.training.bootstrap import draws, intervals, of_confusion, of_ranking
from protgnn.training.scores import brier_errors, score, score_warnings
from protgnn.training.selection import log_odds


def some_logits(classes: int, graphs: int = 60, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits with ties that know something about unequal classes."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.multinomial(torch.arange(1.0, classes + 1), graphs, replacement=True, generator=generator)
    noise = torch.randn(graphs, classes, generator=generator).round(decimals=1)
    return noise + torch.nn.functional.one_hot(y, classes), y


@pytest.mark.parametrize("classes", [2, 4])
def test_scores_are_those_of_the_libraries(classes):
    logits, y = some_logits(classes)
    found = score(logits, y, tuple("abcd"[:classes]))
    p, said = logits.double().softmax(1).numpy(), logits.argmax(1).numpy()
    rank = p if classes > 2 else p[:, 1]
    expected = {
        "accuracy": float((said == y.numpy()).mean()),
        "majority_baseline": float(np.bincount(y).max() / 60),
        "balanced_accuracy": balanced_accuracy_score(y, said),
        "roc_auc": roc_auc_score(y, rank, multi_class="ovr"),
        "average_precision": average_precision_score(np.eye(classes)[y], p),
        "mcc": matthews_corrcoef(y, said),
        "brier": brier_score_loss(y.numpy(), rank),
        "ece": float(multiclass_calibration_error(torch.from_numpy(p), y, classes, n_bins=15)),
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-6), name
    one = found["per_class"]["a"]["average_precision"]
    assert one == pytest.approx(average_precision_score(y == 0, p[:, 0]), abs=1e-6)


def test_every_draw_of_the_bootstrap_is_scored_as_scikit_learn_scores_it():
    logits, y = (part.numpy() for part in some_logits(3))
    counts, said = draws(60, 20, np.random.default_rng(1)), logits.argmax(1)
    assert (counts.sum(1) == 60).all() and (counts > 1).any()
    confusion = of_confusion(counts, said, y, 3)
    auc, precision = of_ranking(counts, logits[:, 1], y == 1)
    for row, weight in enumerate(counts):
        assert confusion["accuracy"][row] == pytest.approx(np.average(said == y, weights=weight))
        assert confusion["balanced_accuracy"][row] == pytest.approx(
            balanced_accuracy_score(y, said, sample_weight=weight)
        )
        assert confusion["mcc"][row] == pytest.approx(matthews_corrcoef(y, said, sample_weight=weight))
        assert auc[row] == pytest.approx(roc_auc_score(y == 1, logits[:, 1], sample_weight=weight))
        expected = average_precision_score(y == 1, logits[:, 1], sample_weight=weight)
        assert precision[row] == pytest.approx(expected)


def test_intervals_hold_their_score_are_narrower_with_more_graphs_and_always_the_same():
    widths = []
    for graphs in (40, 640):
        logits, y = some_logits(3, graphs)
        found = score(logits, y, ("a", "b", "c"), with_intervals=True)
        assert found["intervals"] == score(logits, y, ("a", "b", "c"), with_intervals=True)["intervals"]
        assert set(found["intervals"]) == {
            *("accuracy", "balanced_accuracy", "mcc", "roc_auc", "average_precision", "brier"),
        }
        for name, (low, high) in found["intervals"].items():
            assert low <= found[name] <= high, name
        widths.append({name: high - low for name, (low, high) in found["intervals"].items()})
    assert all(widths[1][name] < widths[0][name] / 2 for name in widths[0])


def test_an_accuracy_of_80_in_100_swings_as_the_binomial_distribution_does():
    y = np.array([0] * 50 + [1] * 50)
    logits = np.eye(2)[np.where(np.arange(100) % 5 == 0, 1 - y, y)]
    low, high = intervals(logits, logits, y, np.zeros(100))["accuracy"]
    spread = 1.96 * (0.8 * 0.2 / 100) ** 0.5
    assert (low, high) == pytest.approx((0.8 - spread, 0.8 + spread), abs=0.015)


def test_a_part_of_one_class_has_no_ranking_to_score():
    logits, _ = some_logits(2, 10)
    found = score(logits, torch.zeros(10, dtype=torch.int64), ("a", "b"), with_intervals=True)
    assert found["roc_auc"] is None and found["average_precision"] is None
    assert "roc_auc" not in found["intervals"] and found["majority_baseline"] == 1.0


def test_ranks_never_tie_where_probabilities_are_one_but_for_rounding():
    logits = torch.tensor([[0.0, 100.0], [0.0, 101.0]])
    assert len(set(log_odds(logits)[:, 1].tolist())) == 2
    assert brier_errors(logits, torch.tensor([1, 0])).tolist() == pytest.approx([0.0, 1.0])


def figures(said: list[int], y: list[int]) -> dict:
    return score(torch.eye(2)[said], torch.tensor(y), ("no", "yes"))


def test_a_perfect_score_of_a_few_graphs_is_not_certain():
    y = torch.arange(16) % 2
    found = score(torch.eye(2)[y] * 9, y, ("a", "b"), with_intervals=True)
    low, high = found["intervals"]["accuracy"]
    assert low == pytest.approx(0.025 ** (1 / 16)) and high == 1.0, "Clopper and Pearson"
    assert found["roc_auc"] == 1.0 and not {"balanced_accuracy", "roc_auc", "mcc"} & set(found["intervals"])


def test_a_draw_of_one_class_does_not_count_as_no_correlation():
    y = torch.tensor([1] * 3 + [0] * 27)
    said = y.clone()
    said[29] = 1
    found = score(torch.eye(2)[said] * 9, y, ("a", "b"), with_intervals=True)
    assert found["mcc"] > 0.8 and found["intervals"]["mcc"][0] > 0.3, "four draws in a hundred hold only class a"


def test_misleading_scores_come_with_a_warning():
    always = figures([0] * 20, [0] * 19 + [1])
    never, baseline = score_warnings(always)
    assert "class yes is never predicted on this data, which has 1 of it" in never and "class_weight" in never
    assert baseline == (
        "accuracy 95.0% on this data equals that of always predicting no: judge by balanced accuracy, ROC AUC and the "
        "recall of each class; class_weight=balanced makes rare classes count"
    )
    for weights in ("balanced", {"yes": 19.0}):
        told = score_warnings(always, weights)
        assert len(told) == 2 and "class_weight" not in "".join(told), "what has been done is not advised"
    worse = score_warnings(figures([1, 1] + [0] * 17 + [1], [0] * 19 + [1]))[-1]
    assert worse.startswith("accuracy 90.0% on this data is not above 95.0%, that of always predicting no: judge by")
    even = score_warnings(figures([0, 1, 1, 0], [0, 1, 0, 1]))[-1]
    assert "equals that of always predicting no" in even and "class_weight" not in even
    assert score_warnings(figures([0] * 19 + [1], [0] * 19 + [1])) == []
    parts = {"train": always, "valid": figures([0, 0], [0, 0]), "test": figures([0, 1], [0, 1])}
    assert score_warnings(parts) == [
        "the validation part has no example of class yes: its scores say nothing about it",
    ]
