"""Adding the composition to a trained model: it helps where amounts decide, stays out elsewhere, and adds up."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from protgnn.data.graph_set import GraphSet
from protgnn.datasets.builtin.ba_2motifs import ba_2motifs
from protgnn.explain.explanation import explain
from protgnn.training.add_composition import PART_SHARE, SHARES, add_composition, blend
from protgnn.training.algorithm import fit
from protgnn.training.build import build
from protgnn.training.calibration import fit_temperature
from protgnn.training.evaluate import assess, faithfulness, predict_logits
from protgnn.training.recipe import make_recipe
from protgnn.training.resolve import criterion_of, resolve
from protgnn.training.selection import balanced_accuracy_of
from protgnn.training.train import SplitData, train

QUICK = {"hidden": 8, "epochs": 2, "anchored_epochs": 1, "prototypes": 2, "search_iterations": 3, "refine_steps": 5}


@pytest.fixture(scope="module")
def parts(molecules) -> SplitData:
    return SplitData(molecules.train, molecules.valid, molecules.test)


def by_size(graphs: GraphSet) -> GraphSet:
    """The same graphs, labelled by how many nodes they have."""
    nodes = graphs.node_counts
    return replace(graphs, y=(nodes > 5).long() + (nodes > 7).long())


@pytest.mark.parametrize("head", ["plain", "prototypes"])
def test_a_label_that_is_an_amount_is_learned_by_an_untrained_gnn_with_a_composition(head, parts):
    train_part, valid, test = (by_size(part) for part in (parts.train, parts.valid, parts.test))
    recipe = resolve(make_recipe(**QUICK, head=head), train_part)
    model = build(recipe, train_part.schema)
    before = float((predict_logits(model, test).argmax(1) == test.y).float().mean())
    share = blend(model, train_part, valid, criterion_of(recipe, train_part), recipe.seed)
    after = float((predict_logits(model, test).argmax(1) == test.y).float().mean())
    assert share == max(SHARES) and after >= 0.9 > before


def test_the_blend_is_the_weighted_mean_of_both_at_their_temperatures(parts):
    recipe = resolve(make_recipe(**QUICK, head="plain"), parts.train)
    model = build(recipe, parts.train.schema)
    own = predict_logits(model, parts.valid)
    share = blend(model, parts.train, parts.valid, criterion_of(recipe, parts.train), recipe.seed)
    assert share > 0  # an untrained GNN knows nothing
    other = model.composition(parts.valid.batch())
    own = (1 - share) * own / fit_temperature(own, parts.valid.y)
    np.testing.assert_allclose(predict_logits(model, parts.valid), own + other, atol=1e-5)


def test_a_protgnn_plus_whose_parts_explain_the_label_keeps_to_its_parts():
    """Amounts tell of nitro groups too (their charges add up), and are not taken."""
    from protgnn.datasets.builtin.smarts_motifs import motif_molecules

    graphs = motif_molecules("nitro", seed=0)
    graphs = graphs[torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0))]
    recipe = make_recipe(hidden=16, plus=True, warm_up=5)
    done = train(SplitData(graphs[80:], graphs[:40], graphs[40:80]), recipe)
    assert done.scores["test"]["accuracy"] >= 0.95 and not done.model.composition.is_fitted


def test_a_protgnn_plus_whose_parts_cannot_tell_has_a_composition(parts):
    train_part, valid, test = (by_size(part) for part in (parts.train, parts.valid, parts.test))
    done = train(SplitData(train_part, valid, test), make_recipe(hidden=8, plus=True, warm_up=1))
    assert done.model.composition.is_fitted and done.scores["test"]["accuracy"] >= 0.9  # sizes are no parts


def test_amounts_of_a_protgnn_plus_tell_what_half_of_the_parts_leaves_open(parts):
    """Rows of parts are half of what they are without a composition, up to the temperature; amounts come on top."""
    named = SplitData(*(by_size(part) for part in (parts.train, parts.valid, parts.test)))
    recipe = make_recipe(hidden=8, plus=True, warm_up=1, calibrate=False)
    alone = train(named, recipe.model_copy(update={"composition": False})).model
    done = train(named, recipe)
    model = done.model
    assert model.composition.is_fitted and done.scores["test"]["sum_error"] <= 1e-5
    torch.testing.assert_close(model.head.last.weight, PART_SHARE * alone.head.last.weight)
    batch = named.test.batch()
    expected = PART_SHARE * predict_logits(alone, named.test) + model.composition(batch)
    np.testing.assert_allclose(predict_logits(model, named.test), expected, atol=1e-5)


def test_parts_do_not_explain_alone_by_luck_on_the_validation_graphs(parts):
    train_part, valid = by_size(parts.train), by_size(parts.valid)
    recipe = resolve(make_recipe(hidden=8, plus=True, warm_up=1), train_part)
    model = build(recipe, train_part.schema)
    fit(model, train_part, valid, recipe)
    right = valid[predict_logits(model, valid).argmax(1) == valid.y]
    assert len(right) and balanced_accuracy_of(predict_logits(model, right), right.y) == 1
    add_composition(model, train_part, right, criterion_of(recipe, train_part), recipe.seed)
    assert model.composition.is_fitted


def test_where_amounts_say_nothing_the_model_stays_as_it_is():
    graphs = ba_2motifs(200)
    recipe = make_recipe(**{**QUICK, "epochs": 30}, encoder="gin", head="plain")
    done = train(SplitData(graphs[:120], graphs[120:160], graphs[160:]), recipe)
    assert done.model.composition is not None and not done.model.composition.is_fitted
    assert isinstance(done.model.added(graphs.batch()), float)


def test_a_blended_protgnn_keeps_its_promises_and_shows_what_amounts_add(parts):
    named = [by_size(part) for part in (parts.train, parts.valid, parts.test)]
    done = train(SplitData(*named), make_recipe(**QUICK))
    assert done.model.composition.is_fitted
    figures = faithfulness(done.model, assess(done.model, named[2]), done.prototypes.subgraphs)
    assert figures["sum_error"] <= 1e-5 and figures["prototype_error"] <= 1e-5
    for why in explain(done.model, named[2][:10]):
        assert why.composition and why.beside
        for label in range(3):
            total = why.beside[label] + sum(row.contribution(label) for row in why.rows)
            assert total == pytest.approx(why.logits[label], abs=1e-5)
            apart = sum(row.contributions[label] for row in why.composition)
            own = float(done.model.composition.base[label])
            assert apart + own == pytest.approx(why.beside[label], abs=1e-4)
        assert "size, polarity and the like:" in str(why)


def test_a_prior_alone_is_no_composition():
    graphs = ba_2motifs(200)
    rare = torch.cat([torch.where(graphs.y == 0)[0], torch.where(graphs.y == 1)[0][::4]]).sort().values
    graphs = graphs[rare]
    recipe = resolve(make_recipe(**QUICK, head="plain"), graphs)
    model = build(recipe, graphs.schema)
    before = predict_logits(model, graphs)
    half = len(graphs) // 2
    share = blend(model, graphs[:half], graphs[half:], criterion_of(recipe, graphs), 0)
    assert share == 0.0 and torch.equal(predict_logits(model, graphs), before)


def test_amounts_of_the_nodes_that_are_present_are_those_of_the_subgraph(parts):
    from protgnn.data.subgraph import cut
    from protgnn.model.composition import amounts

    graphs = parts.test
    there = torch.rand(len(graphs.x), generator=torch.Generator().manual_seed(0)) < 0.6
    there[graphs.node_ptr[:-1]] = True
    alone = cut(graphs, torch.arange(len(graphs)), there)
    np.testing.assert_allclose(amounts(graphs.batch(), there), amounts(alone.batch()), atol=1e-4)


@pytest.mark.parametrize("changes", [{"composition": False}, {"plus": True, "evidence": "sampled"}])
def test_models_without_a_composition_are_left_alone(changes, parts):
    recipe = resolve(make_recipe(**QUICK, **changes), parts.train)
    model = build(recipe, parts.train.schema)
    assert model.composition is None and recipe.composition is False
    before = predict_logits(model, parts.valid)
    add_composition(model, parts.train, parts.valid, criterion_of(recipe, parts.train), 0)
    assert model.composition is None and torch.equal(predict_logits(model, parts.valid), before)
