"""Mined prototypes of nodes: parts around a target, which every one of them holds."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import protgnn
from protgnn.data.network.instances import NetworkInstances
from protgnn.data.network.network import Network
from protgnn.data.parts import part_set
from protgnn.data.resemblance import look_of, resemblance
from protgnn.data.schema import Schema
from protgnn.data.subgraph import cut
from protgnn.data.units import members
from protgnn.explain.explanation import RunContext, explain
from protgnn.explain.metrics.summary import explanation_figures
from protgnn.featurizers.kinds import kinds_of
from protgnn.training.recipe import make_recipe
from protgnn.training.resolve import as_model_input, resolve
from protgnn.training.train import SplitData, train

QUICK = {"plus": True, "encoder": "gin", "hidden": 32, "warm_up": 60, "batch_size": 64}


@pytest.fixture(scope="module")
def parts() -> SplitData:
    data = protgnn.load("tree-cycles").with_split("random", 0)
    return SplitData(data.train, data.valid, data.test)


@pytest.fixture(scope="module")
def trained(parts):
    return train(parts, make_recipe(**QUICK))


@pytest.fixture(scope="module")
def around(trained, parts):
    """What is around each test node."""
    return as_model_input(trained.recipe, parts.test).ego_graphs()


def test_the_cycle_that_nodes_are_on_becomes_a_prototype_of_their_class(trained):
    assert trained.recipe.evidence == "mined"
    cycles = [
        number
        for number, card in enumerate(trained.prototypes.cards)
        if card.label == 1 and set(trained.prototypes.subgraphs[number].batch().adjacency.rowptr.diff().tolist()) == {3}
    ]
    assert len(cycles) == 1 and int(trained.prototypes.subgraphs[cycles[0]].node_counts[0]) == 6
    assert trained.scores["test"]["accuracy"] >= 0.95


def test_the_promises_hold(trained, parts):
    for name in ("prototype_error", "evidence_error", "sum_error"):
        assert trained.scores["test"][name] <= 1e-5, name
    test = as_model_input(trained.recipe, parts.test)
    figures = explanation_figures(trained.model, test, RunContext(trained.prototypes))
    assert figures["resemblance"] >= figures["resemblance_random"] + 0.2
    assert figures["overlapping"] == figures["idle"] == figures["weak_prototypes"] == 0


def test_every_part_holds_the_target_and_is_that_part_cut_out(trained, around):
    model, some = trained.model, around[:25]
    parts = model.candidates(some.batch())
    with torch.no_grad():
        stored = model.embed_all(parts.graphs)
        for row in range(len(parts)):
            graph = int(parts.graph[row])
            target = int(some.targets[graph, 0])
            assert parts.masks[row] >> target & 1
            inside = torch.zeros(int(some.node_counts[graph]), dtype=torch.bool)
            inside[list(members(parts.masks[row]))] = True
            alone = cut(some[graph], torch.tensor([0]), inside)
            kept = parts.graphs[int(parts.distinct[row])]
            assert torch.equal(kept.x[kept.targets[0]], alone.x[alone.targets[0]])
            assert (model.embed_parts(alone.batch())[0] - stored[parts.distinct[row]]).abs().max() <= 1e-5


def test_the_same_nodes_around_another_target_look_otherwise(trained, around):
    path = next(graph for graph in around if int(graph.node_counts[0]) > 3)
    nodes = torch.arange(int(path.node_counts[0]))
    ends = path.edge_index[:, path.edge_index[0] == path.targets[0, 0]][1]
    other = replace(path, targets=ends[:1, None])
    one, two = (look_of(kinds_of(graph), nodes.tolist()) for graph in (path, other))
    assert resemblance(one, one) == 1 and resemblance(one, two) < 1
    everything = [[(1 << len(nodes)) - 1]]
    model = trained.model
    for graph, look in ((path, one), (other, two)):
        batch = graph.batch()
        found = part_set(batch, everything, model.rule.kinds(batch), model.layers)
        wanted = resemblance(look, one)
        first = part_set(path.batch(), everything, model.rule.kinds(path.batch()), model.layers)
        looks = first.looks.of_parts(first.distinct)
        assert found.looks.resemblance(looks)[0, 0] == pytest.approx(wanted, abs=1e-6)


def test_evidence_is_around_the_node_that_is_explained(trained, parts):
    test = as_model_input(trained.recipe, parts.test)[:20]
    for number, why in enumerate(explain(trained.model, test, RunContext(trained.prototypes))):
        target = int(test.ego_graphs().targets[number, 0])
        assert all(target in row.evidence for row in why.rows if row.evidence is not None and row.is_found)
        for label, logit in enumerate(why.logits):
            assert why.beside[label] + sum(row.contribution(label) for row in why.rows) == pytest.approx(
                logit, abs=1e-5
            )


def network_of(x: np.ndarray) -> NetworkInstances:
    """The nodes of a ring with these features, in two classes."""
    nodes = np.arange(len(x))
    ring = torch.from_numpy(np.stack([nodes, np.roll(nodes, 1)]))
    network, _ = Network.from_edge_index(
        torch.from_numpy(x).float(), ring, y=torch.arange(len(x)) % 2, schema=Schema(class_names=("a", "b"))
    )
    return NetworkInstances.of_nodes(network, torch.arange(len(x)))


@pytest.mark.parametrize(("kinds", "evidence"), [(2, "mined"), (32, "mined"), (33, "sampled")])
def test_nodes_of_few_kinds_are_mined(kinds, evidence):
    x = np.arange(100)[:, None] % kinds
    assert resolve(make_recipe(plus=True), network_of(x)).evidence == evidence


def test_many_graphs_are_mined_in_part(parts, monkeypatch):
    monkeypatch.setattr("protgnn.training.mined_algorithm.MOST_MINED", 150)
    done = train(parts, make_recipe(**{**QUICK, "warm_up": 5}))
    for card, subgraph in zip(done.prototypes.cards, done.prototypes.subgraphs, strict=True):
        target = int(subgraph.n_id[subgraph.targets[0, 0]])
        assert target == int(parts.train.targets[card.graph, 0]) and card.label == int(parts.train.y[card.graph])
    assert done.scores["test"]["prototype_error"] <= 1e-5
