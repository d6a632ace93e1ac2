"""PyG's Explainer on classifiers of nodes: masks from the evidence around the node that is asked about."""

import pytest
import torch
from torch_geometric.explain import Explainer

import protgnn
from protgnn.explain import ProtGNNExplainer, PyGModule

QUICK = {"epochs": 6, "hidden": 8, "prototypes": 2, "anchored_epochs": 3, "search_iterations": 2, "refine_steps": 3}


@pytest.fixture(scope="module")
def data():
    return protgnn.load("ba-shapes")


@pytest.fixture(scope="module", params=[False, True], ids=["prototypes", "plus"])
def fitted(data, request):
    settings = {**QUICK, "warm_up": 3} if request.param else QUICK
    made = protgnn.ProtGNNClassifier("gcn", plus=request.param, settings=settings)
    return made.fit(data.train, validation=data.valid)


def explainer_of(model, level="node"):
    return Explainer(
        PyGModule(model.model_, model.run_.schema, model.run_.recipe),
        ProtGNNExplainer(),
        explanation_type="model",
        node_mask_type="object",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": level, "return_type": "raw"},
    )


def test_the_module_gives_the_logits_of_all_nodes(fitted, data):
    network = data.network
    with torch.no_grad():
        logits = PyGModule(fitted.model_, network.schema).eval()(network.x, network.edge_index)
    expected = torch.from_numpy(fitted.predict_logits(data.test))
    torch.testing.assert_close(logits[data.test.targets[:, 0]], expected, rtol=0, atol=1e-4)


def test_masks_lie_around_the_node_and_hold_it(fitted, data):
    network, node = data.network, int(data.test.targets[20, 0])
    found = explainer_of(fitted)(network.x, network.edge_index, index=node)
    assert found.node_mask.shape == (len(network), 1) and found.edge_mask.shape == (network.num_edges,)
    assert float(found.node_mask[node]) == 1.0 == float(found.node_mask.max())
    inside = found.node_mask[:, 0] > 0
    marked = found.edge_mask > 0
    assert bool(inside[network.edge_index[:, marked]].all()) and int(inside.sum()) <= 30


def test_hiding_every_edge_changes_the_logits_of_a_node_and_keeps_it(fitted, data):
    network = data.network
    explainer = explainer_of(fitted)
    masked = explainer.get_masked_prediction(network.x, network.edge_index, None, torch.zeros(network.num_edges))
    assert masked.shape == (len(network), 4) and bool(masked.isfinite().all())
    assert not torch.allclose(masked, explainer.get_prediction(network.x, network.edge_index))


def test_the_node_to_explain_and_the_right_level_are_asked_for(fitted, data):
    network = data.network
    with pytest.raises(ValueError, match="Expected `index`, the node to explain"):
        explainer_of(fitted)(network.x, network.edge_index)
    with pytest.raises(ValueError, match="Expected task_level='node' for this model"):
        explainer_of(fitted, "graph")(network.x, network.edge_index, index=3)
