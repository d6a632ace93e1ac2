"""Prototypes of nodes and of pairs of a network are edited by the nodes around them."""

import pytest

import protgnn
from protgnn.errors import DataError
from protgnn.training.evaluate import assess, faithfulness

QUICK = {"epochs": 2, "hidden": 8, "prototypes": 2, "anchored_epochs": 1, "search_iterations": 2}


@pytest.mark.filterwarnings("ignore::protgnn.errors.ScoreWarning")
@pytest.mark.parametrize("task", ["nodes", "links"])
def test_a_part_around_what_is_classified_becomes_a_prototype(task):
    data = protgnn.load("ba-shapes", task=task)
    model = protgnn.ProtGNNClassifier("gcn", settings=QUICK).fit(data.train, validation=data.valid)
    logits = model.predict_logits(data.valid)
    train, valid = model._training_parts()
    number, targets, near, far = next(_places(train))
    with pytest.raises(DataError, match="holds what is classified"):
        model.edit(add=[(number, near)])
    with pytest.raises(DataError, match="not joined"):
        model.edit(add=[(number, [*targets, far])])
    model.edit(remove=[0], add=[(number, [*targets, *near])])
    card = model.run_.prototypes.cards[-1]
    assert sorted(card.nodes) == sorted([*targets, *near]) and card.label == int(train.y[number])
    figures = faithfulness(model.model_, assess(model.model_, valid), model.run_.prototypes.subgraphs)
    assert figures["prototype_error"] <= 1e-5 and figures["sum_error"] <= 1e-5
    model.undo()
    assert abs(model.predict_logits(data.valid) - logits).max() <= 1e-5


def _places(train):
    """Instances with two nodes beside what is classified and one that is further away."""
    for number in range(len(train)):
        around = train[number].ego_graphs()
        targets, edges = around.targets[0].tolist(), around.edge_index.t().tolist()
        beside = sorted({b for a, b in edges if a in targets} - set(targets))
        further = sorted(set(range(len(around.x))) - {*targets, *beside})
        if beside and further:
            yield number, targets, beside[:2], further[0]
