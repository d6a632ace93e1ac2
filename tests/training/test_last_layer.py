"""The last steps of training and the averaging of weights, against plain versions."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from protgnn.model.prototype_layer import PrototypeHead
from protgnn.training.build import build
from protgnn.training.checkpoint import copy_of
from protgnn.training.ema import WeightAverage
from protgnn.training.ending import end_with
from protgnn.training.evaluate import similarities
from protgnn.training.prune import idle_prototypes
from protgnn.training.recipe import make_recipe


def accuracy(held, weight, y):
    return float((held @ weight.t()).argmax(1).eq(y).float().mean())


def test_idle_prototypes_can_go_together_without_lowering_the_accuracy():
    classes = torch.arange(2).repeat_interleave(3)
    head = PrototypeHead(4, classes, 2)
    weight = head.last.weight.detach()
    gone = tried = 0
    for seed in range(5):
        generator = torch.Generator().manual_seed(seed)
        held, y = torch.rand(40, 6, generator=generator), torch.randint(0, 2, (40,), generator=generator)
        idle = idle_prototypes(head, held, y)
        gone += len(idle)
        kept = [number for number in range(6) if number not in idle]
        assert accuracy(held[:, kept], weight[:, kept], y) >= accuracy(held, weight, y)
        assert set(classes[kept].tolist()) == {0, 1}
        for number in kept:  # and none of the rest could go as well, but the last of a class stays anyway
            if classes[kept].tolist().count(int(classes[number])) > 1:
                tried += 1
                rest = [other for other in kept if other != number]
                assert accuracy(held[:, rest], weight[:, rest], y) < accuracy(held, weight, y)
    assert gone and tried


def test_refining_moves_only_the_last_layer_and_never_for_the_worse(molecules):
    recipe = make_recipe(hidden=16, refine_steps=50)
    model = build(recipe, molecules.graphs.schema).eval()
    train, valid = molecules.train, molecules.valid
    weights, subgraphs = copy_of(model.state_dict()), train[: len(model.head.classes)].batch()
    weights["head.vectors"] = model.embed(subgraphs).detach()  # so that they are exact before
    model.load_state_dict(weights)
    before = copy_of(weights)
    old = cross_entropy(similarities(model, valid) @ model.head.last.weight.detach().t(), valid.y)
    old_accuracy = accuracy(similarities(model, valid), model.head.last.weight, valid.y)
    ending = end_with(model, weights, subgraphs, train, valid, recipe.refine_steps)
    changed = {name for name, tensor in model.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed == {"head.last.weight"}
    new = cross_entropy(similarities(model, valid) @ model.head.last.weight.detach().t(), valid.y)
    new_accuracy = accuracy(similarities(model, valid), model.head.last.weight, valid.y)
    assert (new_accuracy, -float(new)) > (old_accuracy, -float(old))
    assert ending.quality == pytest.approx((new_accuracy, -float(new), new_accuracy))


def test_the_average_is_the_exponential_one_and_counts_stay_whole(molecules):
    live = build(make_recipe(hidden=8, layers=1), molecules.graphs.schema)
    average = WeightAverage(live, 0.9)
    name = "encoder.convs.0.first.weight"
    plain = live.state_dict()[name].clone()
    for step in range(1, 201):
        with torch.no_grad():
            for parameter in live.parameters():
                parameter.add_(0.1)
        average.update()
        keep = min(0.9, step / (step + 10))
        plain = keep * plain + (1 - keep) * live.state_dict()[name]
    torch.testing.assert_close(average.model.state_dict()[name], plain)
    assert torch.equal(average.model.head.classes, live.head.classes)
    average.restart()
    assert torch.equal(average.model.state_dict()[name], live.state_dict()[name])
