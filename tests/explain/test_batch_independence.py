"""What is shown of a graph does not depend on what else was asked about in the same breath."""

import numpy as np
import pytest
import torch

import protgnn
from protgnn.data.grow import CandidateSubgraphs
from protgnn.datasets.builtin.ba_2motifs import ba_2motifs
from protgnn.datasets.builtin.networks import communities
from protgnn.errors import ProtGNNError
from protgnn.explain import PyGModule
from protgnn.explain.explanation import RunContext, explain
from protgnn.model.classifier import GraphClassifier, ProtGNN, ProtGNNPlus
from protgnn.model.encoders import Encoder
from protgnn.model.evidence import EvidenceOptions, nearest
from protgnn.model.prototype_layer import PrototypeHead
from protgnn.model.sampler import Sampler
from protgnn.training import evaluate
from protgnn.training.evaluate import graphs_at_once, similarities
from protgnn.training.prune import idle_among, idle_prototypes
from protgnn.training.recipe import make_recipe
from protgnn.training.run import Run
from protgnn.training.train import SplitData, train

CLASSES = torch.tensor([0, 0, 1, 1])
QUICK = {"epochs": 2, "hidden": 8, "prototypes": 2, "anchored_epochs": 1, "search_iterations": 2, "refine_steps": 3}


def untrained(plus: bool) -> GraphClassifier:
    torch.manual_seed(1)
    head = PrototypeHead(16, CLASSES, 2)
    if plus:
        sampler = Sampler(16)
        model = ProtGNNPlus(Encoder("gin", 10, 16, 2), "mean", head, sampler, EvidenceOptions(6, 3)).eval()
    else:
        model = ProtGNN(Encoder("gin", 10, 16, 2), "mean", head).eval()
    with torch.no_grad():
        head.vectors.mul_(0.1)
    return model


@pytest.mark.parametrize("source", ["model", pytest.param("search", marks=pytest.mark.slow)])
def test_the_same_nodes_are_marked_alone_and_among_others(source):
    graphs, model = ba_2motifs(60), untrained(plus=source == "model")
    together = explain(model, graphs, evidence=source)
    for number in range(len(graphs)):
        (alone,) = explain(model, graphs[number], evidence=source)
        assert [row.evidence for row in alone.rows] == [row.evidence for row in together[number].rows]


def test_parts_are_searched_for_as_the_run_says():
    graphs, model = ba_2motifs(4), untrained(plus=False)

    def sizes(**settings):
        context = RunContext.of(Run(make_recipe(**settings), graphs.schema))
        return [len(row.evidence) for why in explain(model, graphs, context, evidence="search") for row in why.rows]

    assert max(sizes(search_max_nodes=3, search_min_nodes=2)) <= 3
    assert min(sizes(search_max_nodes=7, search_min_nodes=6)) > 3


def test_of_parts_that_are_equally_near_but_for_rounding_the_first_is_taken():
    parts = CandidateSubgraphs(torch.zeros(3, 1), None, torch.tensor([[0, 1, 2]]))
    for noise in (0.0, 1e-7, -1e-7):
        for near in (1e-3, 0.5, 40.0):
            distance = torch.tensor([[2 * near], [near], [near * (1 + noise)]])
            assert nearest(distance, parts).candidate.tolist() == [[1]]
    assert nearest(torch.tensor([[0.5], [0.4], [0.399]]), parts).candidate.tolist() == [[2]]


def test_pruning_asks_what_is_left_of_the_similarities():
    head = PrototypeHead(4, torch.tensor([0, 0, 1, 1]), 2)
    held, y = torch.tensor([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]), torch.tensor([0, 1])
    assert len(idle_prototypes(head, held, y)) == 2  # either of each class would do

    def lent(kept: list[int]) -> torch.Tensor:
        """Prototype 1 looks at what is proposed for prototype 0, and the other way round."""
        return held[:, kept] if {0, 1} <= set(kept) else 0.1 * held[:, kept].flip(0)

    assert idle_among(head, lent, y) in ([2], [3])


def test_pruning_a_protgnn_plus_does_not_lower_the_validation_accuracy(molecules):
    parts = SplitData(molecules.train, molecules.valid, molecules.test)
    settings = {
        **QUICK,
        "prototypes": 4,
        "plus": True,
        "evidence": "sampled",
        "warm_up": 1,
        "evidence_beside": 0,
        "encoder": "gin",
    }
    fewer = 0
    for seed in range(3):
        full, pruned = (train(parts, make_recipe(**settings, seed=seed, prune=prune)) for prune in (False, True))
        assert pruned.scores["valid"]["accuracy"] >= full.scores["valid"]["accuracy"]
        fewer += len(full.model.head.classes) - len(pruned.model.head.classes)
    assert fewer > 0


def test_large_graphs_are_evaluated_few_at_a_time(monkeypatch):
    graphs, model = ba_2motifs(30), untrained(plus=True)
    whole = similarities(model, graphs)
    monkeypatch.setattr(evaluate, "EVALUATION_NODES", 60)
    assert graphs_at_once(model, graphs) == 60 // int(graphs.node_counts.max())
    torch.testing.assert_close(similarities(model, graphs), whole)


def test_a_node_is_chosen_by_any_kind_of_number():
    nodes = protgnn.load("ba-shapes").test
    for index in (np.int64(3), torch.tensor(3), 3, [3], -len(nodes) + 3):
        assert torch.equal(nodes[index].targets, nodes.targets[3:4])
    assert len(nodes[[]]) == 0
    with pytest.raises(IndexError, match="below"):
        nodes[len(nodes)]
    with pytest.raises(IndexError, match="whole numbers"):
        nodes[[0.5]]


def test_pyg_sees_as_much_of_a_network_as_the_model():
    network = communities(nodes=120, groups=2, within=0.12, across=0.01)
    nodes = protgnn.NetworkInstances.of_nodes(network, torch.arange(120))
    settings = {**QUICK, "instance_nodes": 8, "warm_up": 1}
    model = protgnn.ProtGNNClassifier("gcn", plus=True, settings=settings).fit(nodes)
    module = PyGModule(model.model_, model.run_.schema, model.run_.recipe).eval()
    with torch.no_grad():
        logits = module(network.x, network.edge_index.long())
    np.testing.assert_allclose(logits.numpy(), model.predict_logits(nodes), atol=1e-5)
    sampling = protgnn.ProtGNNClassifier("gcn", settings={**QUICK, "fanout": 2}).fit(nodes)
    with pytest.raises(ProtGNNError, match="samples 2 neighbours"):
        PyGModule(sampling.model_, sampling.run_.schema, sampling.run_.recipe)
