"""How well evidence finds a known motif: edge by edge against a plain version of the same sums."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from sklearn.metrics import roc_auc_score

from protgnn.datasets.builtin.ba_2motifs import ba_2motifs
from protgnn.errors import DataError
from protgnn.explain.explanation import explain
from protgnn.explain.metrics.motif_auc import OUTSIDE, _best_place, _places, edge_share, motif_auc
from protgnn.explain.node_scores import edges_of_parts
from protgnn.model.classifier import ProtGNNPlus
from protgnn.model.encoders import Encoder
from protgnn.model.evidence import EvidenceOptions
from protgnn.model.prototype_layer import PrototypeHead
from protgnn.model.sampler import Sampler

CLASSES = torch.tensor([0, 0, 1, 1])


@pytest.fixture(scope="module")
def graphs():
    return ba_2motifs(16)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(1)
    built = ProtGNNPlus(
        Encoder("gin", 10, 16, 2), "mean", PrototypeHead(16, CLASSES, 2), Sampler(16), EvidenceOptions(7, 3)
    ).eval()
    with torch.no_grad():
        built.head.vectors.mul_(0.1)
    return built


def plain_scores(model, graph, shown=True):
    """The score of every edge of one graph, from its reasoning and the sampler, a sum in words."""
    why = explain(model, graph)[0]
    winner = max(range(len(why.logits)), key=why.logits.__getitem__)
    with torch.no_grad():
        z, vectors = model.encoder(graph.batch()), model.head.vectors
        likely = model.sampler(z, graph.edge_index, vectors).sigmoid()
    own = [row for row in why.rows if row.label == winner]
    whole = sum(max(row.contribution(winner), 0.0) for row in own)
    scores = []
    for edge, (source, target) in enumerate(graph.edge_index.t().tolist()):
        score = 0.0
        for row in own:
            inside = 1.0 if {source, target} <= set(row.evidence) else 0.0
            share = max(row.contribution(winner), 0.0) / whole
            counts = inside + OUTSIDE if shown else 1.0
            score += share * counts * float(likely[edge, row.prototype])
        scores.append(score)
    return winner, torch.tensor(scores)


@pytest.mark.parametrize("shown", [True, False])
def test_scores_are_the_sum_over_the_prototypes_of_the_predicted_class(model, graphs, shown):
    batch = graphs.batch()
    with torch.no_grad():
        found, predicted = edge_share(model, batch, model.evidence(batch), shown)
    owner = batch.batch[batch.edge_index[0]]
    for number in range(len(graphs)):
        winner, expected = plain_scores(model, graphs[number], shown)
        assert int(predicted[number]) == winner
        assert torch.allclose(found[owner == number], expected, atol=1e-5)


def test_the_auc_is_that_of_the_graphs_predicted_rightly(model, graphs):
    expected = []
    for number in range(len(graphs)):
        graph = graphs[number]
        winner, scores = plain_scores(model, graph)
        source, target = graph.edge_index
        if winner == int(graph.y[0]):
            expected.append(roc_auc_score(graph.node_mask[source] & graph.node_mask[target], scores))
    found = motif_auc(model, graphs)
    assert expected and found.every == pytest.approx(expected, abs=1e-3)
    assert found.one == pytest.approx(expected, abs=1e-3)  # each of these graphs has one motif


def test_of_several_motifs_the_best_found_counts_and_the_others_neither_way():
    edges = torch.tensor([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]).t()
    truth = torch.tensor([True, True, False, True, True, False])
    places = _places(edges, truth)
    assert places[0] != places[3] and min(places[0], places[3]) >= 0
    assert places[[1, 2, 4]].tolist() == [-1, -1, -1]
    score = torch.tensor([0.1, 0.5, 0.3, 0.9, 0.2])
    assert _best_place(places, score) == 1.0  # the second motif is above all that is none, the first below
    assert roc_auc_score((places >= 0), score) == 0.5
    assert _best_place(places, torch.tensor([0.4, 0.5, 0.3, 0.0, 0.2])) == pytest.approx(2 / 3)


def test_graphs_without_a_known_motif_are_refused(model, graphs):
    with pytest.raises(DataError, match="true motif"):
        motif_auc(model, replace(graphs, node_mask=None))


def test_an_edge_inside_a_weak_part_ranks_above_one_at_the_border_of_a_strong_one():
    """On a path nodes 0 and 1 are a strong part, 3 and 4 one of less than half of that, and 6 is a part by itself."""
    several = torch.tensor([1.0, 1.0, 0.0, 0.4, 0.4, 0.0, 0.0, 0.0, 0.0])
    lone = torch.zeros(9).index_fill(0, torch.tensor([6]), 0.6)
    path = torch.stack([torch.arange(8), torch.arange(1, 9)])
    score = edges_of_parts(several, lone, path)
    inside, of_lone, border, outside = score[[0, 3]], score[[5, 6]], score[[1, 2, 4]], score[[7]]
    assert min(inside.min(), of_lone.min()) > border.max() and border.min() > outside.max() == 0
    assert of_lone.tolist() == pytest.approx([0.3, 0.3])
