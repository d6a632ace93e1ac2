"""Theorem 1 on random vectors: what is certified never flips."""

from __future__ import annotations

import pytest
import torch

from protgnn.datasets.builtin.ba_2motifs import ba_2motifs
from protgnn.errors import ProtGNNError
from protgnn.explain.certificate import ROUNDING, certificates, certify, summarise
from protgnn.model.classifier import ProtGNN, ProtGNNPlus
from protgnn.model.encoders import Encoder
from protgnn.model.evidence import EvidenceOptions
from protgnn.model.prototype_layer import PrototypeHead, similarity
from protgnn.model.sampler import Sampler

EPSILON = 1e-4


def random_case(seed: int, reach: float, weights: str):
    """Prototypes of three classes, whole graphs near them, and evidence moved from the graph by up to ``reach``."""
    generator = torch.Generator().manual_seed(seed)
    classes, per_class, width, graphs = 3, 4, 6, 400
    prototypes = torch.randn(classes * per_class, width, generator=generator, dtype=torch.float64) * 3
    own = torch.arange(classes).repeat_interleave(per_class)
    h = prototypes[torch.randint(len(own), (graphs,), generator=generator)]
    h = h + torch.randn(graphs, width, generator=generator, dtype=torch.float64) * 0.02
    away = torch.randn(graphs, len(own), width, generator=generator, dtype=torch.float64)
    away = away / away.norm(dim=-1, keepdim=True)
    root = (h[:, None] - prototypes).norm(dim=-1)
    length = reach * root * torch.rand(graphs, len(own), generator=generator, dtype=torch.float64)
    evidence = h[:, None] + away * length[..., None]
    weight = torch.nn.functional.one_hot(own, classes).t().double()
    if weights == "learned":
        weight = weight + 0.3 * torch.randn(weight.shape, generator=generator, dtype=torch.float64)
    return root.square(), length, (evidence - prototypes).square().sum(-1), weight


@pytest.mark.parametrize("weights", ["paper", "learned"])
@pytest.mark.parametrize(("reach", "at_least"), [(0.02, 100), (0.1, 100), (0.25, 1)])
def test_no_certified_prediction_ever_flips(weights, reach, at_least):
    certified = 0
    for seed in range(5):
        distance, shift, moved, weight = random_case(seed, reach, weights)
        before = (similarity(distance, EPSILON) @ weight.t()).argmax(1)
        after = (similarity(moved, EPSILON) @ weight.t()).argmax(1)
        for number, (delta, margin, needs) in enumerate(certify(distance, shift, weight, EPSILON)):
            if delta is not None and margin > needs + ROUNDING:
                certified += 1
                assert before[number] == after[number]
    assert certified >= at_least


def test_a_step_up_to_the_bound_does_not_break_it():
    """Evidence moved straight towards or away from the prototype by as much as the assumptions allow."""
    tried = 0
    for seed in range(5):
        distance, _, _, weight = random_case(seed, 0.1, "learned")
        root, best = distance.sqrt(), (similarity(distance, EPSILON) @ weight.t()).argmax(1)
        for sign in (-1, 1):
            shift = (0.1 * root - EPSILON**0.5 * 1.01).clamp(min=0)
            after = (similarity((root + sign * shift).square(), EPSILON) @ weight.t()).argmax(1)
            for number, (delta, margin, needs) in enumerate(certify(distance, shift, weight, EPSILON)):
                if delta is not None and margin > needs + ROUNDING:
                    tried += 1
                    assert after[number] == best[number]
    assert tried > 100


def test_with_the_papers_weights_no_more_is_needed_than_the_paper_says():
    distance, shift, _, weight = random_case(0, 0.05, "paper")
    found = [row for row in certify(distance, shift, weight, EPSILON) if row[0] is not None]
    assert found
    for delta, _, needs in found:
        assert needs <= 2 * 4 * torch.tensor((1 + delta) * (2 - delta)).log() + 1e-9


def test_evidence_far_from_its_graph_meets_no_assumption():
    distance, shift, _, weight = random_case(0, 0.05, "paper")
    assert all(delta is None for delta, _, _ in certify(distance, shift + 10, weight, EPSILON))


def test_certificates_say_of_every_graph_whether_its_prediction_survived():
    torch.manual_seed(0)
    graphs, head = ba_2motifs(10), PrototypeHead(8, torch.tensor([0, 1]), 2)
    model = ProtGNNPlus(Encoder("gin", 10, 8, 2), "mean", head, Sampler(8), EvidenceOptions(5, 2)).eval()
    found = certificates(model, graphs)
    same = model(graphs.batch()).argmax(1) == model(graphs.batch(), whole=True).argmax(1)
    assert [one.survived for one in found] == same.tolist()
    figures = summarise(found)
    assert figures["n"] == 10
    assert figures["certified_and_flipped"] == 0


def test_a_model_without_evidence_has_no_certificates():
    model = ProtGNN(Encoder("gin", 10, 8, 2), "mean", PrototypeHead(8, torch.tensor([0, 1]), 2))
    with pytest.raises(ProtGNNError, match="--plus"):
        certificates(model, ba_2motifs(4))
