"""Two models on the same graphs."""

import numpy as np
import pytest
import torch
from scipy.stats import binom
from sklearn.metrics import accuracy_score, roc_auc_score

from protgnn.training.paired import mcnemar, paired_differences


@pytest.fixture
def two():
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(0, 2, (200,), generator=generator)
    truth = torch.nn.functional.one_hot(y, 2).float()
    weak = truth * 0.5 + torch.randn(200, 2, generator=generator)
    return weak, weak + truth, y


def test_differences_are_those_of_the_scores(two):
    first, second, y = two
    found = paired_differences(first, second, y)
    said = [logits.argmax(1).numpy() for logits in (first, second)]
    gap = accuracy_score(y, said[1]) - accuracy_score(y, said[0])
    assert found["accuracy"].difference == pytest.approx(gap)
    auc = [roc_auc_score(y, (logits[:, 1] - logits[:, 0]).numpy()) for logits in (first, second)]
    assert found["roc_auc"].difference == pytest.approx(auc[1] - auc[0])
    for one in found.values():
        assert one.low <= one.difference <= one.high
    assert found["accuracy"].low > 0 and found["brier"].high < 0


def test_a_model_does_not_differ_from_itself_in_any_draw(two):
    for one in paired_differences(two[0], two[0], two[2]).values():
        assert one.difference == one.low == one.high == 0


def test_pairs_are_drawn_together_so_that_the_interval_is_narrow():
    y = torch.arange(400) % 2
    first = torch.nn.functional.one_hot(y, 2).float()
    first[:100] = first[:100].flip(1)  # 75 % right
    second = first.clone()
    second[:4] = second[:4].flip(1)  # and four more
    gap = paired_differences(first, second, y)["accuracy"]
    apart = 2 * 1.96 * np.sqrt(2 * 0.25 * 0.75 / 400)
    assert gap.difference == pytest.approx(0.01) and gap.high - gap.low < apart / 2


def test_mcnemar_counts_who_alone_is_right_and_gives_the_binomial_probability():
    y = torch.zeros(30, dtype=torch.int64)
    first, second = y.clone(), y.clone()
    second[:9] = 1
    first[9:11] = 1
    found = mcnemar(first, second, y)
    assert (found.only_first, found.only_second) == (9, 2)
    assert found.p_value == pytest.approx(2 * binom.cdf(2, 11, 0.5))
    assert mcnemar(y, y, y).p_value == 1
