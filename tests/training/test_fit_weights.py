"""Weights of mined prototypes: a bounded logistic regression, weaker where graphs are few."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from protgnn.training.fit_weights import fit_weights


def test_weights_are_those_of_a_bounded_logistic_regression():
    generator = torch.Generator().manual_seed(0)
    values = torch.rand(60, 3, generator=generator)
    y = (values[:, 0] + 0.3 * torch.randn(60, generator=generator) > 0.5).long()
    classes = torch.tensor([1, 0, 1])
    weight, base = fit_weights(values, y, classes, torch.zeros(3), torch.zeros(2), 500, penalty=0.06)

    def loss(theta):
        logits = np.zeros((60, 2)) + theta[3:]
        for column, label in enumerate(classes.tolist()):
            logits[:, label] += values[:, column].numpy() * theta[column]
        log = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        return -log[np.arange(60), y.numpy()].mean() + 1e-3 * (theta[:3] ** 2).sum()

    bounds = [(0, None)] * 3 + [(None, None)] * 2
    best = minimize(loss, np.zeros(5), method="L-BFGS-B", bounds=bounds, options={"maxiter": 2000}).fun
    assert (weight >= 0).all()
    assert loss(np.concatenate([weight.numpy(), base.numpy()])) == pytest.approx(best, abs=1e-4)


def test_the_same_graphs_many_times_get_larger_weights():
    generator = torch.Generator().manual_seed(0)
    values, classes, start = (
        torch.rand(40, 2, generator=generator),
        torch.tensor([0, 1]),
        (torch.zeros(2), torch.zeros(2)),
    )
    y = (values[:, 1] > values[:, 0]).long()
    few, _ = fit_weights(values, y, classes, *start, 300)
    many, _ = fit_weights(values.repeat(20, 1), y.repeat(20), classes, *start, 300)
    assert (many > 1.5 * few).all() and (few > 0).all()
