"""Weights of classes: said in several ways, refused by name, and in the loss of every head."""

import numpy as np
import pytest
import torch
from sklearn.utils.class_weight import compute_class_weight
from torch.nn.functional import cross_entropy

from protgnn.errors import ProtGNNError
from protgnn.model.objective import weighted_cross_entropy
from protgnn.training.class_weight import class_weights
from protgnn.training.fit_weights import fit_weights
from protgnn.training.last_layer import refine
from protgnn.training.recipe import make_recipe
from protgnn.training.resolve import resolve
from protgnn.training.selection import Criterion
from protgnn.training.train import SplitData, train

Y = torch.tensor([0] * 8 + [1] * 2)
FEW = {"epochs": 3, "hidden": 8, "prototypes": 1, "anchored_epochs": 2, "search_iterations": 2, "refine_steps": 5}
FEW |= {"lr": 0.02, "evidence_lr": 0.02, "averaging": 0}


def test_balanced_is_scikit_learns_and_a_training_graph_counts_1_in_the_mean():
    balanced = class_weights("balanced", Y, ("no", "yes"))
    expected = compute_class_weight("balanced", classes=np.arange(2), y=Y.numpy())
    assert balanced.tolist() == pytest.approx(expected.tolist())
    given = class_weights({"yes": 9.0}, Y, ("no", "yes"))
    assert given[1] / given[0] == pytest.approx(9) and float(given[Y].mean()) == pytest.approx(1)
    assert class_weights("none", Y, ("no", "yes")) is None


def test_weights_may_be_text_or_a_dictionary():
    assert make_recipe(class_weight="no=1, a=b=5").class_weight == {"no": 1.0, "a=b": 5.0}
    assert make_recipe(class_weight={"yes": 3}).class_weight == {"yes": 3.0}
    for wrong in ("rare", "yes=0", "yes=-1", "yes=nan", "=2", "", {}, {"yes": "x"}, {"yes": True}, 3):
        with pytest.raises(ProtGNNError, match="class_weight: expected none, balanced or a weight above 0 by class"):
            make_recipe(class_weight=wrong)


def test_a_weight_of_no_class_is_refused_and_weights_select_by_balanced_accuracy(molecules):
    with pytest.raises(ProtGNNError, match=r"class_weight is for high, low, medium \(got 'rare'\)"):
        resolve(make_recipe(class_weight="rare=3"), molecules.train)
    assert resolve(make_recipe(class_weight="low=3"), molecules.train).select_by == "balanced_accuracy"
    assert resolve(make_recipe(class_weight="low=3", select_by="loss"), molecules.train).select_by == "loss"


def test_a_graph_of_weight_2_counts_as_two_graphs():
    logits, weight = torch.randn(10, 2), torch.tensor([1.0, 2.0])
    twice = torch.cat([torch.arange(10), torch.arange(8, 10)])
    expected = cross_entropy(logits[twice], Y[twice], reduction="sum") / 10
    assert float(weighted_cross_entropy(logits, Y, weight)) == pytest.approx(float(expected))


def test_the_last_layers_weigh_as_if_graphs_were_repeated():
    weight, twice = torch.tensor([1.0, 2.0]), torch.cat([torch.arange(10), torch.arange(8, 10)])
    values, classes, start = torch.rand(10, 3), torch.tensor([0, 1, 1]), torch.full((3,), 0.1)
    weighted = fit_weights(values, Y, classes, start, torch.zeros(2), class_weight=weight / weight[Y].mean())
    repeated = fit_weights(values[twice], Y[twice], classes, start, torch.zeros(2))
    shown = [(values * found[0]) @ torch.eye(2)[classes] + found[1] for found in (weighted, repeated)]
    torch.testing.assert_close(shown[0].softmax(1), shown[1].softmax(1), atol=0.02, rtol=0)  # scales differ a little
    data = (torch.zeros(2, 3), values, Y, values, Y, 20)
    moved = [refine(*data, Criterion("loss", one)).weight for one in (weight, None)]
    assert not torch.allclose(*moved)


@pytest.mark.parametrize(
    "model", [{"head": "plain"}, {}, {"plus": True, "readout": "all"}, {"plus": True, "evidence": "sampled"}]
)
def test_weights_reach_the_loss_of_every_head(molecules, model):
    parts = SplitData(molecules.train, molecules.valid)
    recall = {}
    for weight in ("none", "low=50", "medium=50"):
        # With a composition these few graphs are told apart whatever they weigh.
        recipe = make_recipe(**FEW, **model, composition=False, select_by="loss", class_weight=weight)
        recall[weight] = train(parts, recipe).scores["train"]["per_class"]["low"]["recall"]
    assert recall["medium=50"] <= recall["none"] <= recall["low=50"] > recall["medium=50"] + 0.5
