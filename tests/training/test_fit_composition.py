"""Fitting the composition: amounts are taken where they explain what parts cannot, and nowhere else."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.model.composition import BINS
from protgnn.training import fit_composition as fitting
from protgnn.training.fit_composition import fit_composition
from protgnn.training.recipe import make_recipe
from protgnn.training.train import SplitData, train

SAME = np.zeros((300, 1))


def fitted(amount, parts, y, weight=None, num_classes=2):
    return fit_composition(amount, parts, y, np.ones(len(y)) if weight is None else weight, num_classes, seed=0)


def at(found, amount):
    """What step functions add to graphs with these amounts, one by one."""
    added = np.zeros((len(amount), found.steps.shape[2]))
    for graph, row in enumerate(amount):
        for column, value in enumerate(row):
            added[graph] += found.steps[column][sum(value >= bound for bound in found.thresholds[column])]
    return added


def test_a_label_that_is_an_amount_is_learned():
    amount = np.random.default_rng(0).normal(size=(300, 4))
    y = (amount[:, 2] > 0.3).astype(np.int64)
    found = fitted(amount, SAME, y)
    assert (at(found, amount).argmax(1) == y).mean() > 0.95
    spread = np.ptp(found.steps, axis=1).sum(1)
    assert spread.argmax() == 2 and found.thresholds.shape == (4, BINS - 1)


def test_a_label_that_is_a_part_is_left_to_the_part_even_if_an_amount_tells_as_much():
    rng = np.random.default_rng(0)
    part = rng.integers(0, 2, 300)
    y = np.where(rng.random(300) < 0.02, 1 - part, part)
    amount = part[:, None] + rng.normal(scale=0.01, size=(300, 1))
    assert not fitted(amount, part[:, None].astype(float), y).steps.any()
    assert fitted(amount, SAME, y).steps.any()


def test_noise_adds_nothing_as_a_rule():
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        found.append(fitted(rng.normal(size=(300, 5)), SAME, rng.integers(0, 2, 300)).rounds)
    assert found.count(0) >= 4 and max(found) <= 20


def test_what_is_added_to_graphs_left_out_was_fitted_to_others():
    rng = np.random.default_rng(2)
    amount, y = rng.normal(size=(300, 1)), np.zeros(300, np.int64)
    y[amount[:, 0] > 0] = 1
    found = fitted(amount, SAME, y)
    own = at(found, amount)
    assert not np.allclose(found.held_out, own) and (found.held_out.argmax(1) == y).mean() > 0.95


def test_the_first_stump_is_the_best_of_all(monkeypatch):
    monkeypatch.setattr(fitting, "ROUNDS", 1)
    monkeypatch.setattr(fitting, "LEAST_GAIN", 0.0)
    rng = np.random.default_rng(3)
    amount = rng.integers(0, 6, (80, 3)).astype(float)
    y = (amount[:, 1] + rng.normal(scale=1.5, size=80) > 3).astype(np.int64)
    found = fitted(amount, np.zeros((80, 1)), y)
    share = (np.bincount(y) + 1) / (len(y) + 2)
    slope, bend = np.eye(2)[y] - share, share * (1 - share)
    best, wanted = -1.0, None
    for column in range(3):
        for bound in np.unique(amount[:, column])[:-1] + 0.5:
            sides = [amount[:, column] < bound, amount[:, column] > bound]
            if min(side.sum() for side in sides) < 5:
                continue
            values = [slope[side].sum(0) / (bend * side.sum() + 1) for side in sides]
            gain = sum((slope[side].sum(0) * value).sum() for side, value in zip(sides, values, strict=True))
            if gain > best:
                best, wanted = gain, (column, bound, values)
    column, bound, values = wanted
    np.testing.assert_allclose(at(found, np.where(np.arange(3) == column, bound - 0.5, 0.0)[None])[0], 0.1 * values[0])
    high = at(found, np.where(np.arange(3) == column, bound + 0.5, 0.0)[None])[0]
    np.testing.assert_allclose(high, 0.1 * values[1])


def test_weights_of_graphs_count():
    amount = np.repeat([[0.0], [1.0]], 150, 0)
    y = np.tile([0, 1], 150)
    heavy = np.where(y == (amount[:, 0] > 0.5), 10.0, 1.0)
    assert (at(fitted(amount, SAME, y, heavy), amount).argmax(1) == (amount[:, 0] > 0.5)).all()


def paths(count, seed):
    """Paths of six nodes with a number each, of the class ``middling`` if their mean is about zero."""
    generator = torch.Generator().manual_seed(seed)
    forth = torch.stack([torch.arange(5), torch.arange(1, 6)])
    edges = torch.cat([forth, forth.flip(0)], 1)
    graphs = []
    for _ in range(count):
        x = torch.randn(6, 1, generator=generator) + torch.randn(1, generator=generator)
        graphs.append(Data(x=x, edge_index=edges, y=torch.tensor([int(x.mean().abs() < 0.7)])))
    return GraphSet.from_pyg(graphs, Schema("graph", ("odd", "middling"), ("value",)))


@pytest.mark.parametrize("composition", [True, False])
def test_a_class_that_is_a_matter_of_amounts_needs_the_composition_and_sums_stay_exact(composition):
    from protgnn.explain.explanation import RunContext, explain

    settings = {"hidden": 8, "warm_up": 1, "anchored_epochs": 1, "evidence_edges": 3, "composition": composition}
    parts = SplitData(paths(300, 0), paths(60, 1), paths(60, 2))
    trained = train(parts, make_recipe(plus=True, **settings))
    assert trained.scores["test"]["sum_error"] <= 1e-5
    why = explain(trained.model, parts.test[:5], RunContext(trained.prototypes))
    for one in why:
        told = sum(row.gain for row in one.composition)
        constant = trained.model.head.base.detach()
        wanted = one.base_gain - float(constant[one.predicted] - constant[one.runner_up])
        assert told == pytest.approx(wanted, abs=0.05)
        assert [row["name"] for row in one.to_json()["composition"]] == [row.name for row in one.composition]
        for label in range(2):
            total = one.base[label] + sum(row.contribution(label) for row in one.rows)
            assert total == pytest.approx(one.logits[label], abs=1e-4)
    if composition:
        assert trained.scores["test"]["accuracy"] >= 0.9
        assert why[0].composition
    else:
        assert trained.model.composition is None and not why[0].composition
