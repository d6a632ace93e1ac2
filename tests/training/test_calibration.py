"""Temperature scaling finds the temperature, changes no prediction, keeps sums exact, and trusts few graphs little."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from protgnn.explain.explanation import RunContext, explain
from protgnn.training.calibration import HOTTEST, calibrate, fit_temperature
from protgnn.training.evaluate import predict_logits
from protgnn.training.recipe import make_recipe
from protgnn.training.reliability import calibration_error_by_chance, expected_calibration_error, reliability
from protgnn.training.train import SplitData, train

FEW = {"epochs": 3, "hidden": 8, "prototypes": 1, "anchored_epochs": 2, "search_iterations": 2, "refine_steps": 5}
HEADS = {
    "plain": {"head": "plain"},
    "protgnn": {},
    "plus": {"plus": True},
    "mined": {"plus": True, "evidence": "mined"},
}


def overconfident(graphs: int, heat: float, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits that are ``heat`` times as large as those that the classes were drawn by."""
    generator = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(graphs, 3, generator=generator)
    return heat * logits, torch.multinomial(logits.softmax(1), 1, generator=generator)[:, 0]


@pytest.mark.parametrize("heat", [0.5, 1.0, 4.0])
def test_the_temperature_is_how_much_too_large_logits_are(heat):
    logits, y = overconfident(5000, heat)
    found = fit_temperature(logits, y)
    assert found == pytest.approx(heat, rel=0.08)
    assert expected_calibration_error((logits / found).softmax(1), y) < 0.02


def test_few_graphs_move_it_little_and_no_graphs_can_make_it_extreme():
    logits, y = overconfident(2000, 4.0)
    few = [fit_temperature(logits[start : start + 15], y[start : start + 15]) for start in range(0, 300, 15)]
    assert 1 < sum(few) / len(few) < fit_temperature(logits, y)
    right, wrong = 50 * torch.eye(3)[y], 50 * torch.eye(3)[(y + 1) % 3]
    for said in (right, wrong, right[:1], wrong[:1], torch.zeros_like(right)):
        assert 1 / HOTTEST <= fit_temperature(said, y[: len(said)]) <= HOTTEST
    assert fit_temperature(right[:10], y[:10]) == pytest.approx(1, abs=0.01), "all are right: nothing to learn"


def test_the_minimum_is_found_exactly():
    logits, y = overconfident(60, 2.0)
    found = fit_temperature(logits, y, prior=3.0)

    def cost(temperature: float) -> float:
        beta = torch.tensor(1 / temperature).double()
        return float(cross_entropy(beta * logits.double(), y, reduction="sum") + 3 * (beta - 1 - beta.log()))

    assert cost(found) < min(cost(found * 1.01), cost(found / 1.01), cost(1.0))


@pytest.mark.parametrize("head", HEADS)
def test_every_head_is_calibrated_predicts_the_same_and_still_adds_up(molecules, head):
    parts = SplitData(molecules.train, molecules.valid, molecules.test)
    recipe = make_recipe(**FEW, **HEADS[head])
    plain, done = train(parts, recipe.model_copy(update={"calibrate": False})), train(parts, recipe)
    before, after = (predict_logits(one.model, molecules.test) for one in (plain, done))
    temperature = done.scores["temperature"]
    assert temperature != 1 and "temperature" not in plain.scores
    torch.testing.assert_close(after, before / temperature, atol=1e-5, rtol=1e-5)
    assert done.scores["test"]["accuracy"] == plain.scores["test"]["accuracy"]
    if head != "plain":
        assert done.scores["test"]["sum_error"] <= 1e-5
        why = explain(done.model, molecules.test[:1], RunContext(done.prototypes))[0]
        beside = why.beside or (0.0,) * 3
        for label in range(3):
            total = beside[label] + sum(row.contribution(label) for row in why.rows)
            assert total == pytest.approx(float(after[0, label]), abs=1e-5)
        own = done.prototypes.cards[0]
        assert own.weight == pytest.approx(plain.prototypes.cards[0].weight / temperature, rel=1e-4)
    assert calibrate(done.model, molecules.valid) == pytest.approx(1, rel=0.2), "there is little left to do"


def test_bins_hold_every_prediction_and_few_predictions_are_off_by_chance():
    logits, y = overconfident(3000, 1.0)
    chances = logits.softmax(1)
    bins = reliability(chances, y)
    assert sum(one.n for one in bins) == 3000 and all(one.low <= one.confidence <= one.high for one in bins)
    for graphs in (60, 600):
        by_chance = calibration_error_by_chance(chances[:graphs])
        drawn = [
            expected_calibration_error(chances[start : start + graphs], y[start : start + graphs])
            for start in range(0, 3000, graphs)
        ]
        assert sum(drawn) / len(drawn) == pytest.approx(by_chance, rel=0.25)
    assert calibration_error_by_chance(chances) < calibration_error_by_chance(chances[:60]) / 3
