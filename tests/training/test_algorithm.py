"""Algorithm 1 and its ending: what is exported keeps the promises, whatever the encoder."""

import json
import subprocess
import sys
from dataclasses import replace

import networkx as nx
import pytest
import torch

from protgnn.model.prototype_layer import similarity
from protgnn.training import algorithm, prototype_subgraphs, selection
from protgnn.training.build import build
from protgnn.training.evaluate import predict_logits, similarities
from protgnn.training.prune import idle_prototypes
from protgnn.training.recipe import make_recipe
from protgnn.training.run import load_model
from protgnn.training.train import SplitData, train

QUICK = {"hidden": 16, "epochs": 4, "anchored_epochs": 3, "prototypes": 3, "search_iterations": 4, "refine_steps": 20}


@pytest.fixture(scope="module")
def parts(molecules):
    return SplitData(molecules.train, molecules.valid, molecules.test)


@pytest.fixture(scope="module", params=["gcn", "gin", "gat", "pyg:GraphSAGE"])
def trained(parts, request):
    return train(parts, make_recipe(**QUICK, encoder=request.param))


def test_every_prototype_is_the_embedding_of_its_subgraph_alone(trained):
    for number, vector in enumerate(trained.model.head.vectors.detach()):
        alone = trained.model.embed(trained.prototypes.subgraphs[number].batch())[0].detach()
        assert float((alone - vector).abs().max()) <= 1e-5


def test_every_prototype_is_a_small_connected_part_of_a_training_graph_of_its_class(trained, parts):
    for number, card in enumerate(trained.prototypes.cards):
        source = parts.train[card.graph]
        assert int(source.y) == card.label == int(trained.model.head.classes[number])
        assert source.names == (card.name,)
        whole = nx.Graph(source.edge_index.t().tolist())
        whole.add_nodes_from(range(len(source.x)))
        assert nx.is_connected(whole.subgraph(card.nodes))
        assert 1 <= len(card.nodes) <= 10
        subgraph = trained.prototypes.subgraphs[number]
        assert torch.equal(subgraph.x, source.x[card.nodes])
        assert subgraph.edge_index.shape[1] == 2 * whole.subgraph(card.nodes).number_of_edges()


def test_prototypes_are_exact_on_the_cpu_however_the_training_device_rounds(parts, monkeypatch):
    set_prototypes = algorithm.set_prototypes

    def as_another_device(session, subgraphs):
        set_prototypes(session, subgraphs)
        with torch.no_grad():
            session.exported.head.vectors.add_(1e-3)

    monkeypatch.setattr(algorithm, "set_prototypes", as_another_device)
    for epochs in (0, 3):
        scores = train(parts, make_recipe(**{**QUICK, "anchored_epochs": epochs})).scores
        assert scores["test"]["prototype_error"] <= 1e-5


@pytest.mark.parametrize(
    ("anchored", "undone"), [((0.5, -1.0), True), ((0.4, -0.1), True), ((0.5, -0.1), False), ((0.7, -9.0), False)]
)
def test_the_anchored_stage_is_undone_where_validation_says_so(parts, monkeypatch, anchored, undone):
    projected = train(parts, make_recipe(**{**QUICK, "anchored_epochs": 0}))
    end_with, qualities = algorithm.end_with, [(0.5, -0.5), anchored]
    monkeypatch.setattr(selection, "LOST_AT_MOST", 1.0)

    def judged(*arguments):  # first the anchored state
        return replace(end_with(*arguments), quality=selection.Quality(*qualities.pop()))

    monkeypatch.setattr(algorithm, "end_with", judged)
    chosen = train(parts, make_recipe(**QUICK))
    weights = chosen.model.state_dict()
    same = all(torch.equal(weights[name], value) for name, value in projected.model.state_dict().items())
    assert not qualities and chosen.state.epoch == projected.state.epoch + 3
    assert same == undone
    assert (chosen.scores["best_epoch"] == projected.state.learned_epoch) == undone


@pytest.mark.parametrize("encoder", ["gcn", "gin", "gat"])
def test_of_projected_and_anchored_the_better_on_validation_graphs_is_exported(parts, monkeypatch, encoder):
    monkeypatch.setattr(selection, "LOST_AT_MOST", 1.0)
    recipe = make_recipe(**QUICK, encoder=encoder, calibrate=False)
    chosen, projected = (train(parts, recipe.model_copy(update={"anchored_epochs": epochs})) for epochs in (3, 0))
    quality = [(one.scores["valid"]["accuracy"], -one.scores["valid"]["loss"]) for one in (chosen, projected)]
    assert quality[0] >= quality[1]


@pytest.mark.parametrize(("lost", "repaired"), [(-0.05, False), (0.02, False), (0.04, True), (0.7, True)])
def test_where_projecting_lost_training_graphs_the_anchored_stage_is_kept(parts, monkeypatch, lost, repaired):
    """Whatever the few validation graphs say, which here would have it undone."""
    end_with, qualities = algorithm.end_with, [(0.9, -0.1), (0.5, -0.5)]

    def judged(*arguments):
        return replace(end_with(*arguments), quality=selection.Quality(*qualities.pop()), lost=lost)

    monkeypatch.setattr(algorithm, "end_with", judged)
    trained = train(parts, make_recipe(**QUICK))
    assert not qualities
    assert (trained.scores["best_epoch"] > trained.state.stage_start) == repaired


def test_what_projecting_lost_is_counted_on_the_training_graphs(parts, monkeypatch):
    found, end_with = [], algorithm.end_with

    def watched(*arguments):
        found.append(end_with(*arguments))
        return found[-1]

    monkeypatch.setattr(algorithm, "end_with", watched)
    quick = {**QUICK, "readout": "all", "composition": False}  # with which projecting loses something here
    learned = train(parts, make_recipe(**quick)).state.learned
    model = build(make_recipe(**quick), parts.train.schema)
    model.load_state_dict(learned)
    projected = train(parts, make_recipe(**{**quick, "anchored_epochs": 0}))
    before = (predict_logits(model, parts.train).argmax(1) == parts.train.y).float().mean()
    assert found[1].lost == pytest.approx(float(before) - projected.scores["train"]["accuracy"])
    assert found[1].lost != 0


def test_contributions_add_up_to_the_logits(trained, parts):
    head, batch = trained.model.head, parts.test.batch()
    with torch.no_grad():
        shown = similarity(head.distances(trained.model.embed(batch)), head.epsilon)
        logits, weight = trained.model(batch), head.last.weight.detach()
        base = trained.model.base(batch)
    for graph in range(len(parts.test)):
        for label in range(head.last.out_features):
            total = sum(float(w) * float(s) for w, s in zip(weight[label], shown[graph], strict=True))
            total += float(base[graph, label])
            assert total == pytest.approx(float(logits[graph, label]), abs=1e-5)


def test_support_counts_every_training_graph_once(trained, parts):
    assert sum(card.support for card in trained.prototypes.cards) == len(parts.train)


def test_prototypes_of_a_class_are_different_subgraphs(trained):
    places = [(card.label, card.graph, tuple(card.nodes)) for card in trained.prototypes.cards]
    assert len(set(places)) == len(places)


def test_a_model_is_faithful_after_a_save_and_a_load_in_another_process(molecules_csv, tmp_path):
    settings = [word for key, value in QUICK.items() for word in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "protgnn"]
    folder = str(tmp_path / "run")
    subprocess.run([*command, "train", str(molecules_csv), "--out", folder, *settings], check=True, capture_output=True)
    said = subprocess.run([*command, "evaluate", folder, "--json"], check=True, capture_output=True, text=True)
    figures = json.loads(said.stdout)
    assert figures["prototype_error"] <= 1e-5
    assert figures["sum_error"] <= 1e-5
    assert figures["median_similarity"] > 0
    listed = subprocess.run([*command, "prototypes", folder, "--json"], check=True, capture_output=True, text=True)
    assert len(json.loads(listed.stdout)) == 9


def test_pruning_drops_the_idle_prototypes_and_nothing_else(molecules):
    parts = SplitData(molecules.train, molecules.valid)
    settings = {**QUICK, "epochs": 30, "prototypes": 8}
    full, pruned = (train(parts, make_recipe(**settings, prune=prune)) for prune in (False, True))
    idle = idle_prototypes(full.model.head, similarities(full.model, molecules.valid), molecules.valid.y)
    places = [(card.label, card.graph, card.nodes) for card in full.prototypes.cards]
    kept = [place for number, place in enumerate(places) if number not in idle]
    assert [(card.label, card.graph, card.nodes) for card in pruned.prototypes.cards] == kept
    assert pruned.scores["valid"]["accuracy"] >= full.scores["valid"]["accuracy"]
    assert {card.label for card in pruned.prototypes.cards} == {0, 1, 2}
    assert pruned.scores["valid"]["prototype_error"] <= 1e-5


def test_a_pruned_run_loads(molecules_csv, tmp_path, protgnn_command):
    settings = [word for key, value in {**QUICK, "prune": True}.items() for word in ("--set", f"{key}={value}")]
    folder = tmp_path / "run"
    assert protgnn_command("train", molecules_csv, "--out", folder, *settings).status == 0
    model, run = load_model(folder)
    assert len(run.prototypes.cards) == len(model.head.vectors) == model.head.last.in_features
    again = json.loads(protgnn_command("evaluate", folder, "--json").out)
    assert {name: again[name] for name in run.scores["test"]} == run.scores["test"]
    assert {"whole_parts", "resemblance"} <= set(again)  # which evaluating says beside what training stored


def test_projections_follow_the_schedule_of_algorithm_1(parts, monkeypatch):
    seen = []
    project = prototype_subgraphs.project

    def watched(*arguments, **options):
        seen.append(len(epochs))
        return project(*arguments, **options)

    monkeypatch.setattr(prototype_subgraphs, "project", watched)
    epochs = []
    recipe = make_recipe(**{**QUICK, "epochs": 9}, patience=0, projection_start=3, projection_period=2)
    train(parts, recipe, on_epoch=lambda state: epochs.append(state.epoch))
    # During epochs 4, 6 and 8 (before each is reported), and once more at the end of the nine.
    assert seen == [3, 5, 7, 9]


def test_the_paper_recipe_is_the_papers_letter():
    recipe = make_recipe("paper")
    assert (recipe.epochs, recipe.projection_start, recipe.projection_period, recipe.lr) == (500, 100, 50, 0.005)
    assert (recipe.cluster, recipe.separation, recipe.diversity) == (0.10, 0.05, 0.01)
    assert (recipe.diversity_threshold, recipe.prototypes, recipe.epsilon) == (0.3, 5, 1e-4)
    assert (recipe.search_iterations, recipe.search_exploration, recipe.search_children) == (20, 5.0, 10)
    assert (recipe.search_min_nodes, recipe.hidden, recipe.layers) == (5, 128, 3)
    assert (recipe.separation_margin, recipe.anchored_epochs, recipe.averaging) == (0, 0, 0)
    assert (recipe.candidates, recipe.candidates_on_the_way, recipe.prototypes_start) == (0, 0, "random")
