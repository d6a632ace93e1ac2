"""``compile`` changes how the encoder runs, not what is learned."""

import pytest
import torch

from protgnn.training import device
from protgnn.training.algorithm import fit
from protgnn.training.build import build
from protgnn.training.recipe import make_recipe
from protgnn.training.resolve import resolve

FEW = {"hidden": 8, "epochs": 3, "patience": 0, "head": "plain"}
FEW |= {"readout": "mean"}  # equal atoms tie for a maximum, and rounding would decide which of them learns


def learned(molecules, **changes):
    recipe = resolve(make_recipe(**FEW, **changes), molecules.train)
    model = build(recipe, molecules.schema)
    state = fit(model, molecules.train, molecules.valid, recipe)
    return model, [row["loss"] for row in state.rows]


def check_same(molecules) -> None:
    eager, expected = learned(molecules)
    compiled, losses = learned(molecules, compile=True)
    assert losses == pytest.approx(expected, abs=1e-3)
    assert compiled.state_dict().keys() == eager.state_dict().keys()
    batch = molecules.test.batch()
    torch.testing.assert_close(compiled(batch), eager(batch), atol=1e-2, rtol=1e-2)
    assert compiled.encoder._compiled_call_impl is None


@pytest.mark.slow
def test_a_traced_encoder_learns_the_same(molecules, monkeypatch):
    monkeypatch.setattr(device, "COMPILER", "eager")  # traced as always, and run without a C++ compiler
    check_same(molecules)


@pytest.mark.slow
def test_a_compiled_encoder_learns_the_same(molecules):
    check_same(molecules)
