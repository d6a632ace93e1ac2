"""Weights of mined prototypes: a bounded logistic regression, as strong as graphs left out support."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from protgnn.training.fit_weights import LEAST_PENALTY, PENALTIES, best_penalty, fit_weights


def test_weights_are_those_of_a_bounded_logistic_regression():
    generator = torch.Generator().manual_seed(0)
    values = torch.rand(60, 3, generator=generator)
    y = (values[:, 0] + 0.3 * torch.randn(60, generator=generator) > 0.5).long()
    classes = torch.tensor([1, 0, 1])
    weight, base = fit_weights(values, y, classes, torch.zeros(3), torch.zeros(2), 500, penalty=1e-3)

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


def test_one_telling_part_gets_a_large_weight_and_noise_a_small_one():
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(200) % 2
    telling = (y.float() * 0.3 + 0.02 * torch.randn(200, generator=generator))[:, None]
    noise = torch.randn(40, 15, generator=generator)
    assert best_penalty(telling, y, torch.tensor([1]), 2) == LEAST_PENALTY
    assert best_penalty(noise, y[:40], torch.arange(15) % 2, 2) == PENALTIES[0]
