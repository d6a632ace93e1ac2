"""PyG's Explainer on classifiers of links: pairs come as ``edge_label_index``, and their own link is not looked at."""

import pytest
import torch
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.explain.metric import fidelity

import protgnn
from protgnn.errors import DataError
from protgnn.explain import ProtGNNExplainer, PyGModule
from protgnn.search.tree import SearchSettings

QUICK = {"epochs": 3, "hidden": 8, "prototypes": 2, "anchored_epochs": 2, "search_iterations": 2, "refine_steps": 3}
PLUS = {**QUICK, "warm_up": 2, "instance_nodes": 30}


@pytest.fixture(scope="module")
def data():
    return protgnn.load("communities", task="links")


SOFT = ["gcn", "gin", "gat"]
"""Encoders in which an edge can be there in part."""


@pytest.fixture(scope="module", params=[*SOFT, "pyg:GraphSAGE", "plus"])
def fitted(data, request):
    plus = request.param == "plus"
    made = protgnn.ProtGNNClassifier("gcn" if plus else request.param, plus=plus, settings=PLUS if plus else QUICK)
    return made.fit(data.train[::8], validation=data.valid[::4])


def explainer_of(model, algorithm=None, level="edge"):
    return Explainer(
        PyGModule(model.model_, model.run_.schema, model.run_.recipe),
        algorithm or ProtGNNExplainer(SearchSettings(iterations=2)),
        explanation_type="model",
        node_mask_type="object",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": level, "return_type": "raw"},
    )


def some_pairs(data, count=6):
    """Pairs that are not joined in the network of the test set, and pairs that are."""
    network = data.test.network
    joined = network.edge_index[:, network.edge_index[0] < network.edge_index[1]][:, ::97][:, :3]
    return network, torch.cat([data.test.targets[:count].t(), joined], dim=1)


def test_the_module_gives_the_logits_of_pairs(fitted, data):
    network, pairs = some_pairs(data)
    with torch.no_grad():
        logits = PyGModule(fitted.model_, network.schema).eval()(network.x, network.edge_index, edge_label_index=pairs)
    expected = torch.from_numpy(fitted.predict_logits(data.test[:6]))
    torch.testing.assert_close(logits[:6], expected, rtol=0, atol=1e-4)


def test_a_mask_of_ones_changes_nothing_and_one_without_any_edge_does(fitted, data):
    network, pairs = some_pairs(data)
    explainer, ones = explainer_of(fitted), torch.ones(network.num_edges)
    plain = explainer.get_prediction(network.x, network.edge_index, edge_label_index=pairs)
    masked = explainer.get_masked_prediction(network.x, network.edge_index, None, ones, edge_label_index=pairs)
    torch.testing.assert_close(masked, plain, rtol=0, atol=1e-4)
    hidden = explainer.get_masked_prediction(network.x, network.edge_index, None, 0 * ones, edge_label_index=pairs)
    assert hidden.shape == plain.shape and not torch.allclose(hidden, plain, atol=1e-4)


def test_whether_a_pair_is_joined_does_not_matter(fitted, data):
    network, pairs = some_pairs(data)
    one, other = pairs[:, -1].tolist()
    source, target = network.edge_index
    without = ~(((source == one) & (target == other)) | ((source == other) & (target == one)))
    assert int(without.sum()) == network.num_edges - 2
    module = PyGModule(fitted.model_, network.schema).eval()
    with torch.no_grad():
        joined = module(network.x, network.edge_index, edge_label_index=pairs[:, -1:])
        apart = module(network.x, network.edge_index[:, without], edge_label_index=pairs[:, -1:])
    torch.testing.assert_close(joined, apart, rtol=0, atol=1e-5)


def test_masks_hold_both_ends_and_not_the_link_between_them(fitted, data):
    network, pairs = some_pairs(data)
    for number in (0, pairs.shape[1] - 1):
        found = explainer_of(fitted)(network.x, network.edge_index, edge_label_index=pairs, index=number)
        ends = pairs[:, number]
        assert found.node_mask.shape == (len(network), 1) and found.edge_mask.shape == (network.num_edges,)
        assert found.node_mask[ends, 0].tolist() == [1.0, 1.0] == [float(found.node_mask.max())] * 2
        marked = network.edge_index[:, found.edge_mask > 0]
        assert bool((found.node_mask[marked, 0] > 0).all())
        assert not bool((marked.sort(dim=0).values == ends.sort().values[:, None]).all(0).any())


def test_the_metrics_of_pyg_apply(fitted, data):
    network, pairs = some_pairs(data)
    explainer = explainer_of(fitted)
    found = explainer(network.x, network.edge_index, edge_label_index=pairs)
    assert all(0 <= value <= 1 for value in fidelity(explainer, found.threshold("hard", 0.5)))


@pytest.mark.parametrize("fitted", SOFT, indirect=True)
def test_masks_can_be_learned_where_an_edge_can_be_there_in_part(fitted, data):
    network, pairs = some_pairs(data)
    found = explainer_of(fitted, GNNExplainer(epochs=2))(network.x, network.edge_index, edge_label_index=pairs)
    assert bool(found.edge_mask.isfinite().all()) and float(found.edge_mask.max()) > 0


def test_missing_or_impossible_arguments_are_refused(fitted, data):
    network, pairs = some_pairs(data)
    module = PyGModule(fitted.model_, network.schema)
    with pytest.raises(DataError, match="wants `edge_label_index`, the pairs to classify"):
        module(network.x, network.edge_index)
    with pytest.raises(DataError, match=r"edge_label_index of shape \[2, pairs\] \(got \(9, 2\)"):
        module(network.x, network.edge_index, edge_label_index=pairs.t())
    with pytest.raises(DataError, match="pairs of two different nodes among 0 to 599"):
        module(network.x, network.edge_index, edge_label_index=torch.tensor([[0, 3], [600, 3]]))
    with pytest.raises(ValueError, match=r"Expected task_level='edge' for this model \(got 'node'\)"):
        explainer_of(fitted, level="node")(network.x, network.edge_index, edge_label_index=pairs, index=0)
