"""The estimator on nodes: the same methods as on graphs."""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import protgnn
from protgnn.data.network.instances import NetworkInstances
from protgnn.errors import DataError

QUICK = {"epochs": 5, "hidden": 8, "prototypes": 2, "anchored_epochs": 2, "search_iterations": 2, "refine_steps": 3}


@pytest.fixture(scope="module")
def data():
    return protgnn.load("ba-shapes")


@pytest.fixture(scope="module")
def fitted(data):
    return protgnn.ProtGNNClassifier("gcn", settings=QUICK).fit(data.train, validation=data.valid)


def test_a_fitted_estimator_predicts_scores_and_explains_nodes(fitted, data):
    assert fitted.predict(data.test).shape == (len(data.test),)
    labels = np.array(data.test.schema.class_names)[data.test.y.numpy()]
    assert fitted.score(data.test) == pytest.approx(float((fitted.predict(data.test) == labels).mean()))
    why = fitted.explain(data.test[4])
    assert why.title == data.test.names[4]
    assert sum(row.contribution(why.predicted) for row in why.rows) == pytest.approx(
        why.logits[why.predicted], abs=1e-5
    )


def test_a_saved_estimator_gives_the_same_logits(fitted, data, tmp_path):
    fitted.save(tmp_path / "run")
    loaded = protgnn.ProtGNNClassifier.from_run(tmp_path / "run")
    assert np.array_equal(loaded.predict_logits(data.test), fitted.predict_logits(data.test))


def test_nodes_can_be_cross_validated_with_labels_of_ones_own(data):
    plain = clone(protgnn.ProtGNNClassifier("gcn", settings={**QUICK, "head": "plain"}))
    labels = np.array(["base", "house"])[(data.train.y > 0).long().numpy()]
    assert cross_val_score(plain, data.train, labels, cv=2).shape == (2,)


def test_nodes_without_labels_are_not_learned_from(data):
    network = protgnn.load("communities").network
    network.y[0] = -1
    with pytest.raises(DataError, match="Expected labelled nodes"):
        protgnn.ProtGNNClassifier(settings=QUICK).fit(NetworkInstances.of_nodes(network, torch.arange(20)))


def test_one_class_alone_and_gaps_between_classes_are_refused():
    network = protgnn.load("ba-shapes").network
    nodes, model = torch.arange(40), protgnn.ProtGNNClassifier(settings=QUICK)
    network.y[:] = 0
    with pytest.raises(DataError, match="All 40 nodes are of one class"):
        model.fit(NetworkInstances.of_nodes(network, nodes))
    network.y[:20] = 2
    with pytest.raises(DataError, match=r"has 0 nodes.*without gaps"):
        model.fit(NetworkInstances.of_nodes(network, nodes))
