"""What the league of explanations computes, on graphs small enough to reckon by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from benchmarks import explanations
from benchmarks.league import edge_removal, page, scoring
from benchmarks.league.gradients import gradient_scores
from benchmarks.league.pyg_explainers import MaskableModel, TrainedPGExplainer, gnn_explainer_scores
from benchmarks.league.scoring import Explained, from_edges, from_nodes, truth_figures
from benchmarks.league.sets import SETS, to_explain
from benchmarks.league.stochastic_attention import AttentionSettings, attention_logits, train_attention
from protgnn.data.batch import offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.datasets.builtin.ba_2motifs import ba_2motifs
from protgnn.training.build import build
from protgnn.training.recipe import make_recipe

PATH = [(0, 1), (1, 2), (2, 3)]


def _graphs(count: int = 2) -> GraphSet:
    """Paths of four nodes, the first two of which are the motif."""
    ends = torch.tensor([pair for a, b in PATH for pair in ((a, b), (b, a))]).t()
    return GraphSet(
        x=torch.ones(4 * count, 3),
        edge_index=ends.repeat(1, count),
        node_ptr=offsets(torch.full((count,), 4)),
        edge_ptr=offsets(torch.full((count,), 6)),
        y=torch.arange(count) % 2,
        node_mask=torch.tensor([True, True, False, False]).repeat(count),
        schema=Schema(node_features=("a", "b", "c"), class_names=("no", "yes")),
    )


@cache
def _shuffled() -> GraphSet:
    graphs = ba_2motifs()
    return graphs[torch.randperm(len(graphs), generator=torch.Generator().manual_seed(1))[:40]]


def _motifs(count: int = 40) -> GraphSet:
    return _shuffled()[:count]


def _plain(graphs: GraphSet):
    recipe = make_recipe(encoder="gin", head="plain", hidden=16, readout="mean", seed=1)
    return build(recipe, graphs.schema).eval()


def test_a_perfect_explanation_has_every_figure_at_one_and_the_reverse_at_zero() -> None:
    graphs = _graphs()
    truth = graphs.node_mask.float()
    batch = graphs.batch()
    perfect = Explained(truth, truth[batch.edge_index].prod(0))
    figures = truth_figures(graphs, perfect, graphs.y)
    assert [figures[name] for name in ("motif_auc", "precision", "node_auc", "gea")] == [1, 1, 1, 1]
    reverse = Explained(1 - truth, 1 - perfect.edge)
    figures = truth_figures(graphs, reverse, graphs.y)
    assert [figures[name] for name in ("motif_auc", "precision", "node_auc", "gea")] == [0, 0, 0, 0]


def test_only_graphs_that_are_predicted_rightly_count() -> None:
    graphs = _graphs()
    truth = graphs.node_mask.float()
    score = torch.cat([truth[:4], 1 - truth[4:]])
    explained = from_nodes(score, graphs.batch())
    assert truth_figures(graphs, explained, torch.tensor([0, 0]))["motif_auc"] == 1
    assert truth_figures(graphs, explained, torch.tensor([1, 1]))["motif_auc"] == 0
    assert truth_figures(graphs, explained, 1 - graphs.y) == {}


def test_equal_scores_at_the_border_count_in_proportion() -> None:
    true = np.array([True, True, False, False])
    assert scoring.precision_at_size(true, np.array([1.0, 0.5, 0.5, 0.0])) == pytest.approx(0.75)
    assert scoring.precision_at_size(true, np.zeros(4)) == pytest.approx(0.5)


def test_gea_is_the_jaccard_index_of_what_scores_above_half_of_the_highest() -> None:
    true = np.array([True, True, False, False])
    assert scoring.graph_explanation_accuracy(true, np.array([1.0, 0.4, 0.6, -3.0])) == pytest.approx(1 / 3)
    assert scoring.graph_explanation_accuracy(true, -np.ones(4)) == 0


def test_scores_of_edges_are_the_same_in_both_directions() -> None:
    batch = _graphs().batch()
    found = from_edges(torch.arange(12.0), batch)
    assert torch.equal(found.edge, found.edge[batch.reverse])
    assert found.node[0] == found.edge[0] and found.node[1] == (found.edge[0] + found.edge[2]) / 2


def _by_size(graphs: GraphSet) -> torch.Tensor:
    """A model that is surer of class 1 the more edges a graph has: probability e / (e + 1) for e edges."""
    edges = graphs.edge_counts / 2
    return torch.stack([torch.zeros(len(graphs)), edges.clamp(min=1e-9).log()], 1)


def test_drops_are_those_of_the_graph_without_its_highest_edges() -> None:
    graphs = _graphs(1)
    score = torch.tensor([3.0, 3.0, 2.0, 2.0, 1.0, 1.0])
    (row,) = edge_removal.drops(graphs, score, _by_size)
    three, two, one = 3 / 4, 2 / 3, 1 / 2
    assert row[0] == pytest.approx(three - two, abs=1e-6), "a fifth of three edges is one"
    assert row[1:4] == pytest.approx([three - two, three - one, three - 1 / 2], abs=1e-6)
    assert len(row) == edge_removal.MOST + 1


def test_a_node_goes_with_its_last_edge_but_a_target_stays() -> None:
    seen: list[int] = []

    def logits(graphs: GraphSet) -> torch.Tensor:
        seen.extend(graphs.node_counts.tolist())
        return torch.zeros(len(graphs), 2)

    score = torch.tensor([3.0, 3.0, 2.0, 2.0, 1.0, 1.0])
    edge_removal.drops(_graphs(1), score, logits)
    assert seen[:4] == [4, 3, 3, 2], "whole, a fifth, one edge, two edges"
    seen.clear()
    nodes = replace(_graphs(1), targets=torch.tensor([[0]]), missing_degree=torch.tensor([1, 0, 0, 2]))
    edge_removal.drops(nodes, score, logits)
    assert set(seen) == {4}


def test_fidelity_takes_as_many_edges_as_the_evidence_has_and_a_fifth_where_it_has_none() -> None:
    rows = [[0.9] + [number / 100 for number in range(1, edge_removal.MOST + 1)] for _ in range(3)]
    text = edge_removal.packed(rows)
    assert edge_removal.fidelity_plus(text, None) == pytest.approx(0.9)
    assert edge_removal.fidelity_plus(text, [0, 2, 99]) == pytest.approx((0.9 + 0.02 + edge_removal.MOST / 100) / 3)


def test_gradients_and_explainers_score_every_edge_of_a_batch(monkeypatch) -> None:
    monkeypatch.setattr("benchmarks.league.pyg_explainers.GNN_EPOCHS", 3)
    graphs = _motifs(6)
    model, batch = _plain(graphs), graphs.batch()
    predicted = model(batch).argmax(1)
    torch.manual_seed(0)
    for found in (
        gradient_scores(model, batch, predicted, "ig"),
        gradient_scores(model, batch, predicted, "saliency"),
        gnn_explainer_scores(model, batch, predicted),
    ):
        assert found.edge.shape == (batch.edge_index.shape[1],) and found.node.shape == (len(batch.x),)
        assert bool(found.edge.isfinite().all()) and found.edge.std() > 0


def test_a_mask_of_zeros_is_the_graph_without_edges() -> None:
    from torch_geometric.explain.algorithm.utils import clear_masks, set_masks

    graphs = _motifs(3)
    model, batch = _plain(graphs), graphs.batch()
    masked = MaskableModel(model)
    assert torch.allclose(masked(batch.x, batch.edge_index, graphs=batch), model(batch))
    set_masks(masked, torch.zeros(batch.edge_index.shape[1]), batch.edge_index, apply_sigmoid=False)
    bare = replace(batch, edge_index=batch.edge_index[:, :0])
    assert torch.allclose(masked(batch.x, batch.edge_index, graphs=batch), model(bare), atol=1e-6)
    clear_masks(masked)


def test_pgexplainer_learns_once_and_scores_new_graphs(monkeypatch) -> None:
    monkeypatch.setattr("benchmarks.league.pyg_explainers.PG_EPOCHS", 2)
    graphs = _motifs(20)
    model = _plain(graphs)
    torch.manual_seed(0)
    learned = TrainedPGExplainer(model, graphs[:16], seed=0)
    batch = graphs[16:].batch()
    found = learned.scores(batch, model(batch).argmax(1))
    assert found.edge.shape == (batch.edge_index.shape[1],) and found.edge.std() > 0


@pytest.mark.parametrize("method", ["gsat", "gmt"])
def test_stochastic_attention_trains_and_says_the_same_twice(method) -> None:
    graphs = _motifs(40)
    settings = AttentionSettings(hidden=8, epochs=2, batch_size=20, draws=2, last_prior=0.9)
    model = train_attention(method, "gin", graphs[:30], graphs[30:], 0, settings)
    said = attention_logits(model, graphs)
    assert torch.equal(said, attention_logits(model, graphs))
    assert torch.allclose(said.exp().sum(1), torch.ones(40), atol=1e-5)
    keep = model.scores(graphs.batch()).edge
    assert bool(((keep > 0) & (keep < 1)).all())


def test_the_draws_of_gmt_are_all_or_nothing_and_have_a_gradient() -> None:
    graphs = _motifs(4)
    settings = AttentionSettings(hidden=8, epochs=0)
    model = train_attention("gmt", "gin", graphs, graphs, 0, settings)
    batch, logit = graphs.batch(), torch.zeros(graphs.edge_index.shape[1], requires_grad=True)
    drawn = model.draw(logit, batch)
    assert set(drawn.detach().unique().tolist()) == {0.0, 1.0}
    assert torch.equal(drawn, drawn[batch.reverse])
    drawn.sum().backward()
    assert bool((logit.grad > 0).all())


def test_the_prior_falls_in_steps_and_comes_to_rest() -> None:
    settings = AttentionSettings()
    assert [round(settings.prior(epoch), 3) for epoch in (0, 9, 10, 39, 40, 99)] == [0.9, 0.9, 0.8, 0.6, 0.5, 0.5]


def test_every_method_explains_the_same_instances() -> None:
    graphs = _motifs(40)
    assert torch.equal(to_explain(graphs, 3).y, to_explain(graphs, 3).y)
    assert len(to_explain(_graphs(300), 3)) == 200


def test_stored_runs_of_other_settings_do_not_count() -> None:
    ours, peer = (explanations.key_of("mutag", "gin", method, 10) for method in ("plus", "ig"))
    drops = edge_removal.packed([[0.5, *([0.2] * edge_removal.MOST)]])
    run = {"accuracy": 0.9, "seconds": 1.0, "explain_cpu_seconds": 0.1, "drops": drops}
    stale = "mutag gin ig 11 recipe:00000000"
    found = explanations.current({ours: {**run, "evidence_edges": "3"}, peer: run, stale: run})
    assert set(found) == {("mutag", "gin", "plus", 10), ("mutag", "gin", "ig", 10)}
    assert found["mutag", "gin", "ig", 10]["fidelity_plus"] == pytest.approx(0.2), "as many edges as the evidence has"
    assert explanations.current({peer: run})["mutag", "gin", "ig", 10]["fidelity_plus"] == pytest.approx(0.5)


def test_the_page_says_where_we_are_not_first() -> None:
    drops = edge_removal.packed([[0.5] * (edge_removal.MOST + 1)])
    done = {}
    for data, ours, theirs in (("ba-2motifs", 0.97, 0.99), ("benzene", 0.995, 0.999), ("ba-shapes", 0.9, 0.8)):
        for method, value in (("plus", ours), ("ig", theirs)):
            run = {"motif_auc": value, "accuracy": 1.0, "seconds": 1.0, "explain_cpu_seconds": 0.1, "drops": drops}
            done[explanations.key_of(data, "gin", method, 10)] = run
    text = "\n\n".join(page.page(done))
    assert "first or within 0.01 of the best peer on 2 of 3 sets. It is not first on:" in text
    assert "- ba-2motifs, GIN: 0.970; integrated gradients has 0.990" in text
    assert "- benzene, GIN: 0.995; integrated gradients has 0.999" in text
    assert "ba-shapes, GIN: 0.9" not in text
    assert "- sets: tree-cycles, motif-molecules:amide" in text and "- GSAT: all of the sets below" in text
    only_peers = {key: run for key, run in done.items() if " ig " in key}
    assert "ProtGNN+ has not been run with today's recipe" in "\n".join(page.page(only_peers))


def test_the_sets_of_the_league_have_the_kinds_of_tasks_that_are_asked_for() -> None:
    tasks = [name.partition(":")[2] for name in SETS if name.startswith("motif-molecules:")]
    assert len(tasks) >= 6
    assert sum("+" in task for task in tasks) >= 2
    assert any("|" in task for task in tasks) and any(task.startswith("!") for task in tasks)
