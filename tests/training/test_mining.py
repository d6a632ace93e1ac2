"""Mining prototypes and learning with them: what tells classes apart is found, resumed, stored and shown."""

import copy
import json

import numpy as np
import pytest
import torch

import protgnn
from protgnn.datasets.builtin.smarts_motifs import motif_molecules
from protgnn.datasets.splits import split
from protgnn.errors import ProtGNNError
from protgnn.explain.explanation import RunContext, explain
from protgnn.explain.metrics.summary import explanation_figures
from protgnn.model.mined import ProtGNNMined
from protgnn.training import checkpoint
from protgnn.training.evaluate import Outcome, faithfulness
from protgnn.training.mining import EVERYWHERE, CandidatePool, candidate_pool, select
from protgnn.training.mining_shortlist import look_shares
from protgnn.training.recipe import make_recipe
from protgnn.training.run import Run, load_model
from protgnn.training.train import SplitData, train, train_in

QUICK = {"plus": True, "evidence": "mined", "hidden": 16, "warm_up": 3, "anchored_epochs": 2, "batch_size": 32}


@pytest.fixture(scope="module")
def parts() -> SplitData:
    graphs = motif_molecules("nitro", seed=0)
    chosen = split(graphs, "stratified", 0)
    return SplitData(graphs[chosen.train][:200], graphs[chosen.valid], graphs[chosen.test])


@pytest.fixture(scope="module")
def trained(parts):
    return train(parts, make_recipe(**QUICK))


def test_the_motif_that_tells_classes_apart_becomes_a_prototype(trained):
    context = RunContext(trained.prototypes)
    shown = {text for card, text in zip(trained.prototypes.cards, context.descriptions, strict=True) if card.label == 1}
    assert "O=[N+][O-]" in shown
    assert trained.scores["test"]["accuracy"] >= 0.95


def test_the_promises_hold(trained, parts):
    figures = trained.scores["test"]
    for name in ("prototype_error", "evidence_error", "sum_error"):
        assert figures[name] <= 1e-5, name
    context = RunContext(trained.prototypes)
    looks = explanation_figures(trained.model, parts.test, context)
    assert looks["whole_parts"] == 1.0 and looks["resemblance"] > looks["resemblance_random"] + 0.1
    assert looks["idle"] == looks["overlapping"] == 0 and looks["filler"] <= 0.1
    assert looks["fidelity_plus"] > 0.2 and looks["motif_auc"] > 0.9
    head = trained.model.head
    own = torch.nn.functional.one_hot(head.classes, 2).t().bool()
    assert bool((head.last.weight[own] >= 0).all()) and bool((head.last.weight[~own] == 0).all())


def test_sums_of_rows_and_base_are_the_logits(trained, parts):
    for why in explain(trained.model, parts.test[:20], RunContext(trained.prototypes)):
        for label in range(2):
            total = why.beside[label] + sum(row.contribution(label) for row in why.rows)
            assert total == pytest.approx(why.logits[label], abs=1e-4)
        assert all(row.places[0] == row.evidence for row in why.rows)
        told = json.loads(json.dumps(why.to_json()))
        assert set(told["base"]) == set(why.class_names) and told["rows"][0]["places"]


def test_text_and_picture_tell_of_places_and_of_what_a_class_has_without_any_evidence(trained, parts):
    from protgnn.explain.composition_rows import BASE
    from protgnn.viz.reasoning_figure import reasoning_svg

    reasons = explain(trained.model, parts.train, RunContext(trained.prototypes))
    several = [why for why in reasons if any(len(row.places) > 1 for row in why.rows[:3])]
    assert several
    for why in (reasons[0], several[0]):
        said = " ".join(str(why).split())
        assert "base: the bias of each class" in said and BASE in reasoning_svg(why)
    row = next(row for row in several[0].rows if len(row.places) > 1)
    assert f"found {len(row.places)} times" in str(several[0])
    assert set(row.marked) == {node for place in row.places for node in place}


def test_stored_and_opened_it_predicts_the_same_and_killed_it_resumes_to_the_same(parts, tmp_path, monkeypatch):
    run = Run(make_recipe(**QUICK), parts.train.schema)
    model, _ = train_in(tmp_path / "whole", parts, run)
    opened, made = load_model(tmp_path / "whole")
    assert isinstance(opened, ProtGNNMined) and made.recipe.evidence == "mined"
    batch = parts.test.batch()
    with torch.no_grad():
        torch.testing.assert_close(opened(batch), model(batch), rtol=0, atol=1e-6)
    monkeypatch.setattr(checkpoint, "SAVE_SECONDS", 0.0)
    for last in (1, 2, 3):

        def stop(state, last=last):
            if state.epoch == last:
                raise KeyboardInterrupt

        folder = tmp_path / f"run-{last}"
        with pytest.raises(KeyboardInterrupt):
            train_in(folder, parts, run, on_epoch=stop)
        resumed, _ = train_in(folder, parts, run, resume=True)
        for name, value in model.state_dict().items():
            assert torch.equal(value, resumed.state_dict()[name]), (last, name)


def test_selection_takes_what_tells_classes_apart_and_both_of_a_conjunction():
    rng = np.random.default_rng(0)
    first, second, noise = rng.integers(0, 2, (3, 400)).astype(float)
    y = (first * second).astype(np.int64)
    values = np.stack([first, second, noise, first, second, noise], 1)
    chosen = select(CandidatePool(np.arange(3), values, np.ones(6), np.array([0, 1, 2, 0, 1, 2]), {}), y, 2, 5)
    assert len({(column % 3, label) for column, label in chosen}) == len(chosen)
    assert {column % 3 for column, label in chosen if label == 1} == {0, 1}
    assert all(column % 3 != 2 for column, _ in chosen)


def test_a_rare_class_that_nothing_tells_does_not_keep_the_others_from_prototypes():
    """A candidate of both rare graphs and a third of the others agrees too little to be chosen."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [100, 100, 2])
    telling = (y == 0) * (rng.random(202) < 0.8)
    rare = np.where(y == 2, 1.0, rng.random(202) < 0.37)
    values = np.stack([telling.astype(float), rare] * 2, 1)
    chosen = select(CandidatePool(np.arange(2), values, np.ones(4), np.array([0, 1, 0, 1]), {}), y, 3, 5)
    assert any(column % 2 == 0 and label == 0 for column, label in chosen)


def test_the_guide_is_exported_as_it_was_chosen():
    """Looking for parts runs the guide on other features than it knows, which must leave its norms alone."""
    from protgnn.datasets.builtin.ba_2motifs import ba_2motifs

    graphs = ba_2motifs(60)
    parts = SplitData(graphs[:40], graphs[40:50], graphs[50:])
    found = train(parts, make_recipe(**QUICK, epochs=2))
    chosen = {name: value for name, value in found.state.best.items() if name.startswith("guide.")}
    own = found.model.state_dict()
    assert chosen and all(torch.equal(own[name], value) for name, value in chosen.items())


def test_what_every_graph_has_is_no_prototype_unless_it_counts(trained, parts):
    model = copy.deepcopy(trained.model)
    found = model.candidates(parts.train.batch())
    pool = candidate_pool(model, found, parts.train.y.numpy())
    has = np.zeros((len(parts.train), len(pool.candidates)), bool)
    for row, graph in enumerate(found.graph):
        has[graph] |= found.look_key[pool.candidates] == found.look_key[found.distinct[row]]
    everywhere = has.mean(0) >= EVERYWHERE
    once, often = np.split(pool.values, 2, axis=1)
    assert ((once == 0).all(0) == everywhere).all() and (often > 0).any(0).all()
    np.testing.assert_allclose(look_shares(found)[pool.candidates], has.mean(0))


def test_links_are_refused():
    data = protgnn.load("ba-shapes", task="links")
    with pytest.raises(ProtGNNError, match="links have evidence=sampled"):
        train(SplitData(data.train, data.valid), make_recipe(**QUICK))


def test_graphs_of_a_class_without_prototypes_have_no_nearest_one_of_it(trained):
    model, subgraphs = trained.model, trained.prototypes.subgraphs
    similar = torch.rand(4, len(model.head.classes))
    model = copy.deepcopy(model)
    model.head.classes = torch.zeros_like(model.head.classes)
    for logits, expected in (
        (torch.tensor([[0.0, 1.0]] * 4), 0.0),
        (torch.tensor([[0.0, 1.0], [1.0, 0.0]] * 2), float(similar.max(1).values[1::2].median())),
    ):
        assert faithfulness(model, Outcome(logits, similar), subgraphs)["median_similarity"] == pytest.approx(expected)


def test_a_class_is_known_by_its_own_part_whatever_another_class_explains():
    """Most graphs of class 0 have the part a, all but one of class 1 the part b. All but the five that a leaves open
    have c, which together with a would do, and by itself tells next to nothing."""
    y = np.array([0] * 50 + [1] * 50)
    has_a, has_b, has_c = np.zeros(100), np.zeros(100), np.ones(100)
    has_a[:45], has_b[50:99], has_c[45:50] = 1.0, 1.0, 0.0
    values = np.tile(np.stack([has_a, has_b, has_c], 1), 2)
    values[:, 3:] = 0.0  # counted, none tells anything
    pool = CandidatePool(np.arange(3), values, np.array([3, 4, 3] * 2), np.tile(np.arange(3), 2), {})
    assert {(0, 0), (1, 1)} <= set(select(pool, y, 2, 1))
