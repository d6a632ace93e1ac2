"""Nodes and links are trained by the same loop, keep the same promises, and are the same after save and load."""

from pathlib import Path

import pytest
import torch

import protgnn
from protgnn.data.network.instances import NetworkInstances
from protgnn.data.network.link_split import split_links
from protgnn.data.network.network import Network
from protgnn.datasets.builtin.networks import communities, web_network
from protgnn.errors import ProtGNNError
from protgnn.training.checkpoint import TrainingState
from protgnn.training.evaluate import predict_logits
from protgnn.training.recipe import make_recipe
from protgnn.training.resolve import as_model_input, resolve
from protgnn.training.run import Run, load_model
from protgnn.training.train import SplitData, evaluate, train, train_in

SMALL = {"hidden": 16, "epochs": 6, "anchored_epochs": 3, "prototypes": 2, "search_iterations": 3, "refine_steps": 5}
PLUS = {"plus": True, "warm_up": 3, "instance_nodes": 15}


@pytest.fixture(scope="module")
def houses():
    data = protgnn.load("ba-shapes")
    return SplitData(data.train[::4], data.valid[::2], data.test[::2])


@pytest.fixture(scope="module")
def links():
    data = protgnn.load("communities", task="links")
    return SplitData(data.train[::8], data.valid[::8], data.test[::8])


def sampled(network) -> SplitData:
    part = torch.arange(len(network)).split([60, 30, len(network) - 90])
    return SplitData(*(NetworkInstances.of_nodes(network, nodes[:60]) for nodes in part))


@pytest.mark.parametrize("encoder", ["gcn", "gin", "gat"])
@pytest.mark.parametrize("extra", [{}, PLUS], ids=["prototypes", "plus"])
@pytest.mark.parametrize("task", ["houses", "links"])
def test_a_model_of_a_network_is_faithful_after_save_and_load(task, extra, encoder, request, tmp_path: Path):
    parts = request.getfixturevalue(task)
    recipe = make_recipe(encoder=encoder, **SMALL, **extra)
    model, done = train_in(tmp_path / "run", parts, Run(recipe, parts.train.schema))
    loaded, run = load_model(tmp_path / "run")
    test = as_model_input(run.recipe, parts.test)
    assert run.prototypes is not None
    figures = evaluate(loaded, test, run.schema, run.prototypes)
    for name in ("prototype_error", "sum_error", *(["evidence_error"] if extra else [])):
        assert figures[name] <= 1e-5, name
    assert torch.equal(predict_logits(loaded, test), predict_logits(model, test))
    assert figures["accuracy"] == pytest.approx(done.scores["test"]["accuracy"])


def test_prototypes_keep_their_target_and_say_where_they_come_from(houses):
    done = train(houses, make_recipe(encoder="gcn", **SMALL))
    network = houses.train.network
    assert done.prototypes is not None
    for number, card in enumerate(done.prototypes.cards):
        subgraph = done.prototypes.subgraphs[number]
        target = int(subgraph.n_id[subgraph.targets[0, 0]])
        assert target == int(houses.train.targets[card.graph, 0])
        assert card.name == network.name(target) and card.label == int(network.y[target])
        there = {(int(a), int(b)) for a, b in network.edge_index.t()}
        ends = subgraph.n_id[subgraph.edge_index].t()
        assert {(int(a), int(b)) for a, b in ends} <= there


def test_links_are_scored_whatever_the_threshold(links):
    done = train(links, make_recipe(encoder="gcn", **{**SMALL, "head": "plain"}))
    assert 0 <= done.scores["test"]["roc_auc"] <= 1 and 0 <= done.scores["test"]["average_precision"] <= 1


def test_a_pair_side_by_side_has_prototypes_of_twice_the_width(links):
    done = train(links, make_recipe(encoder="gcn", readout="pair_concat", **SMALL, **PLUS))
    assert done.model.head.vectors.shape[1] == 2 * SMALL["hidden"]
    assert done.scores["test"]["evidence_error"] <= 1e-5


@pytest.mark.parametrize("extra", [{}, PLUS], ids=["prototypes", "plus"])
def test_a_sampled_network_is_explained_faithfully(extra):
    done = train(sampled(web_network(nodes=1500)), make_recipe(encoder="gin", fanout=4, layers=2, **SMALL, **extra))
    assert done.recipe.fanout == 4
    for name in ("prototype_error", "sum_error"):
        assert done.scores["test"][name] <= 1e-5


def test_the_same_seed_gives_the_same_model_when_neighbours_are_sampled():
    parts, recipe = sampled(web_network(nodes=1500)), make_recipe(encoder="gin", fanout=3, layers=2, **SMALL)
    one, other = (train(parts, recipe).model.state_dict() for _ in range(2))
    assert all(torch.equal(one[key], other[key]) for key in one)


def test_an_interrupted_run_on_nodes_ends_as_one_that_was_not(houses, tmp_path: Path, monkeypatch):
    recipe = make_recipe(encoder="gcn", **SMALL)
    straight, _ = train_in(tmp_path / "straight", houses, Run(recipe, houses.train.schema))

    class Stop(Exception):
        pass

    def stop(state: TrainingState) -> None:
        if state.epoch == 4:
            raise Stop

    monkeypatch.setattr("protgnn.training.checkpoint.SAVE_SECONDS", 0.0)
    with pytest.raises(Stop):
        train_in(tmp_path / "broken", houses, Run(recipe, houses.train.schema), on_epoch=stop)
    resumed, _ = train_in(tmp_path / "broken", houses, Run(recipe, houses.train.schema), resume=True)
    ours, theirs = straight.state_dict(), resumed.state_dict()
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)


def test_a_recipe_is_completed_by_what_it_is_for(houses, links):
    nodes = resolve(make_recipe(), houses.train)
    assert (nodes.readout, nodes.fanout, nodes.batch_size) == ("target", 0, 16)
    assert resolve(make_recipe(), protgnn.load("ba-shapes").train).batch_size == 56, "a tenth of 560"
    assert resolve(make_recipe("paper"), links.train).readout == "pair_product"
    assert resolve(nodes, houses.train) == nodes
    large = NetworkInstances.of_nodes(web_network(nodes=6000), torch.arange(100))
    assert resolve(make_recipe(), large).fanout == 5


def test_a_readout_for_other_instances_is_refused(houses, links, molecules):
    for instances, readout in ((houses.train, "pair_concat"), (links.train, "target"), (molecules.train, "target")):
        with pytest.raises(ProtGNNError, match=f"readout={readout} is not for instances with"):
            resolve(make_recipe(readout=readout), instances)


def test_protgnn_plus_is_refused_on_a_directed_network():
    network = protgnn.load("communities").network
    one_way = type(network)(network.x, network.ptr, network.source, y=network.y, schema=network.schema, directed=True)
    instances = NetworkInstances.of_nodes(one_way, torch.arange(50))
    with pytest.raises(ProtGNNError, match="networks without direction"):
        resolve(make_recipe(plus=True), instances)


def test_a_foreign_encoder_sees_in_computation_graphs_what_it_sees_in_the_network():
    network = communities(nodes=200)
    instances = NetworkInstances.of_nodes(network, torch.arange(20))
    recipe = make_recipe(encoder="pyg:GCN", layers=2, hidden=8, epochs=1, head="plain")
    done = train(SplitData(instances, instances), recipe)
    seen = as_model_input(done.recipe, instances)
    graphs = seen._graphs(0).batch()
    with torch.no_grad():
        apart = done.model.eval().embed(graphs)
        whole = torch.cat([done.model.embed(batch) for batch in seen.batches(20)])
    torch.testing.assert_close(apart, whole, rtol=0, atol=1e-5)


@pytest.mark.parametrize("fanout", [0, 2])
@pytest.mark.parametrize(("directed", "extra"), [(False, {}), (False, PLUS), (True, {})])
@pytest.mark.parametrize("task", ["nodes", "links"])
def test_nodes_without_neighbours_and_one_way_edges_are_explained_faithfully(task, directed, extra, fanout):
    generator = torch.Generator().manual_seed(0)
    edges = torch.randint(0, 50, (2, 130), generator=generator)  # no edge leads to the last thirty of eighty nodes
    x, y = torch.randn(80, 4, generator=generator), torch.arange(80) % 3
    network, _ = Network.from_edge_index(x, edges, y=y, directed=directed)
    if task == "nodes":
        order = torch.randperm(80, generator=generator).split([50, 15, 15])
        parts = SplitData(*(NetworkInstances.of_nodes(network, nodes) for nodes in order))
    else:
        split = split_links(network)
        parts = SplitData(*(NetworkInstances.of_links(part) for part in (split.train, split.valid, split.test)))
    scores = train(parts, make_recipe(encoder="gin", fanout=fanout, layers=2, **SMALL, **extra)).scores["test"]
    for name in ("prototype_error", "sum_error", *(["evidence_error"] if extra else [])):
        assert scores[name] <= 1e-5, name
