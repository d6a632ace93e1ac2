"""Fitting the composition: trees over amounts, where they say something of the classes."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.training import fit_composition as fitting
from protgnn.training.fit_composition import fit_composition
from protgnn.training.recipe import make_recipe
from protgnn.training.train import SplitData, train


def fitted(amount, y, weight=None, num_classes=2):
    return fit_composition(amount, y, np.ones(len(y)) if weight is None else weight, num_classes, seed=0)


def at(found, amount):
    """What trees add to graphs with these amounts, without the base, one by one."""
    trees = found.trees
    added = np.zeros((len(amount), trees.side.shape[2]))
    for graph, row in enumerate(amount):
        for asked, bound, side, leaf in zip(
            trees.amount.tolist(), trees.bound.tolist(), trees.side, trees.leaf, strict=True
        ):
            high = row[asked[0]] >= bound[0]
            higher = row[asked[1 + high]] >= bound[1 + high]
            added[graph] += (side[int(high)] + leaf[2 * high + higher]).numpy()
    return added


def test_a_label_that_is_an_amount_is_learned():
    amount = np.random.default_rng(0).normal(size=(300, 4))
    y = (amount[:, 2] > 0.3).astype(np.int64)
    found = fitted(amount, y)
    assert (at(found, amount).argmax(1) == y).mean() > 0.95
    assert set(found.trees.amount[:10, 0].tolist()) == {2}  # later trees fit what is left, which is noise


def test_a_label_that_needs_two_amounts_at_once_is_learned():
    amount = np.random.default_rng(0).normal(size=(400, 4))
    y = ((amount[:, 1] > 0) & (amount[:, 3] > 0)).astype(np.int64)
    found = fitted(amount, y)
    assert (at(found, amount).argmax(1) == y).mean() > 0.95
    assert {1, 3} <= {asked for tree in found.trees.amount.tolist()[:5] for asked in tree}


def test_trees_on_top_of_logits_tell_what_these_leave_open():
    """Logits that know one half of a label leave the other half, and logits that know all of it leave nothing."""
    amount = np.random.default_rng(0).normal(size=(400, 4))
    y = ((amount[:, 1] > 0) ^ (amount[:, 3] > 1)).astype(np.int64)
    half = np.where((amount[:, [1]] > 0) == [0, 1], 2.0, -2.0)
    on_top = fit_composition(amount, y, np.ones(400), 2, seed=0, offset=half)
    assert on_top.rounds and {asked for tree in on_top.trees.amount.tolist()[:3] for asked in tree} <= {1, 3}
    assert ((half + at(on_top, amount) + on_top.trees.base.numpy()).argmax(1) == y).mean() > 0.95
    known = np.where(y[:, None] == [0, 1], 9.0, -9.0)
    assert fit_composition(amount, y, np.ones(400), 2, seed=0, offset=known).rounds == 0


def test_what_is_added_is_zero_in_the_mean_of_the_training_graphs():
    amount = np.random.default_rng(0).normal(size=(300, 3))
    y = (amount[:, 0] + amount[:, 1] > 1).astype(np.int64)
    weight = np.where(y == 1, 3.0, 1.0)
    added = at(fitted(amount, y, weight), amount)
    np.testing.assert_allclose((added * weight[:, None]).sum(0) / weight.sum(), 0, atol=1e-5)


def test_noise_adds_nothing_as_a_rule():
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        found.append(fitted(rng.normal(size=(300, 5)), rng.integers(0, 2, 300)).rounds)
    assert found.count(0) >= 4 and max(found) <= 20


def best_question(amount, slope, bend, chosen):
    """The column and bound that gain most among the chosen graphs, by trying all."""

    def gain(graphs):
        return (slope[graphs].sum(0) ** 2 / (bend[graphs].sum(0) + 1)).sum()

    found, best = None, 0.0
    for column in range(amount.shape[1]):
        for bound in np.unique(amount[:, column])[1:] - 0.5:
            low, high = chosen & (amount[:, column] < bound), chosen & (amount[:, column] > bound)
            if min(low.sum(), high.sum()) >= 5 and gain(low) + gain(high) - gain(chosen) > best + 1e-9:
                found, best = (column, bound), gain(low) + gain(high) - gain(chosen)
    return found


def test_the_first_tree_asks_the_best_question_and_then_the_best_on_either_side(monkeypatch):
    monkeypatch.setattr(fitting, "TREES", 1)
    rng = np.random.default_rng(3)
    amount = rng.integers(0, 6, (120, 3)).astype(float)
    y = (amount[:, 1] + amount[:, 0] * (amount[:, 1] > 2) + rng.normal(scale=1.5, size=120) > 4).astype(np.int64)
    found = fitted(amount, y)
    share = (np.bincount(y) + 1) / (len(y) + 2)
    slope, bend = np.eye(2)[y] - share, np.tile(share * (1 - share), (len(y), 1))
    column, bound = best_question(amount, slope, bend, np.ones(120, bool))
    wanted = np.zeros((120, 2))
    for side in (amount[:, column] < bound, amount[:, column] > bound):
        second, other = best_question(amount, slope, bend, side) or (0, -1.0)  # none helps: all are high
        for leaf in (side & (amount[:, second] < other), side & (amount[:, second] > other)):
            wanted[leaf] = 0.1 * slope[leaf].sum(0) / (bend[leaf].sum(0) + 1)
    np.testing.assert_allclose(at(found, amount) + found.trees.base.numpy(), wanted, atol=1e-6)


def test_weights_of_graphs_count():
    amount = np.repeat([[0.0], [1.0]], 150, 0)
    y = np.tile([0, 1], 150)
    heavy = np.where(y == (amount[:, 0] > 0.5), 10.0, 1.0)
    assert (at(fitted(amount, y, heavy), amount).argmax(1) == (amount[:, 0] > 0.5)).all()


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
        if composition:
            constant = constant + trained.model.composition.base
        wanted = (
            one.beside[one.predicted]
            - one.beside[one.runner_up]
            - float(constant[one.predicted] - constant[one.runner_up])
        )
        assert told == pytest.approx(wanted, abs=0.05)
        assert [row["name"] for row in one.to_json()["composition"]] == [row.name for row in one.composition]
        for label in range(2):
            total = one.beside[label] + sum(row.contribution(label) for row in one.rows)
            assert total == pytest.approx(one.logits[label], abs=1e-4)
    if composition:
        assert trained.scores["test"]["accuracy"] >= 0.9
        assert why[0].composition
    else:
        assert trained.model.composition is None and not why[0].composition
