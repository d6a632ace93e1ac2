"""Nothing of a training step, a validation or a projection is left on the CPU by mistake."""

import pytest
import torch

from protgnn.training.build import build
from protgnn.training.checkpoint import TrainingState
from protgnn.training.prototype_subgraphs import cut_subgraphs, nearest_subgraphs, set_prototypes
from protgnn.training.recipe import make_recipe
from protgnn.training.resolve import resolve
from protgnn.training.session import Session
from protgnn.training.steps import PlainLoss, PrototypeLoss, anchored_loss, train_epoch
from tests.other_device import ELSEWHERE, TensorElsewhere, move, other_device

FEW = {"hidden": 8, "heads": 2, "prototypes": 2, "search_iterations": 2, "batch_size": 16, "averaging": 0.9}


class SessionElsewhere(Session):
    """A session whose model and batches are on the other device."""

    device = ELSEWHERE


def session_of(molecules, **changes) -> SessionElsewhere:
    train = molecules.train[::2]
    recipe = resolve(make_recipe(**FEW, **changes), train)
    session = SessionElsewhere(
        build(recipe, molecules.schema), train, molecules.valid, recipe, None, TrainingState(), None
    )
    move(session.model)
    session.average = type(session.average)(session.model, 0.9)
    session.exported = session.average.model
    return session


def learn(session, loss) -> None:
    """An epoch; Fabric would not take an optimiser of this device."""
    session.optimizer = torch.optim.Adam(session.model.parameters(), loss.lr)
    session.state.epoch += 1
    session.end_epoch(*train_epoch(session, loss))


def test_the_other_device_refuses_a_tensor_that_was_left_on_the_cpu():
    with other_device() as there:
        here, away = torch.ones(3), torch.ones(3, device=there)
        assert isinstance(away, TensorElsewhere) and (away + 1).device == there and (away * 2).sum().item() == 6
        assert type(away.cpu()) is torch.Tensor and isinstance(here.to(there), TensorElsewhere)
        with pytest.raises(AssertionError, match="on the CPU"):
            _ = here + away
        with pytest.raises(AssertionError, match="on the CPU"):
            _ = away.new_zeros(2, 3) @ torch.ones(3, 2)
        with pytest.raises((TypeError, RuntimeError)):
            away.numpy()


@pytest.mark.parametrize("norm", ["batch", "layer"])
@pytest.mark.parametrize("encoder", ["gcn", "gin", "gat"])
def test_a_plain_model_learns_elsewhere(molecules, encoder, norm):
    with other_device():
        session = session_of(molecules, head="plain", encoder=encoder, norm=norm, class_weight="balanced")
        learn(session, PlainLoss(session))
    assert len(session.state.rows) == 1


@pytest.mark.parametrize("encoder", ["gcn", "gin", "gat"])
@pytest.mark.parametrize("plus", [False, True])
def test_prototypes_learn_are_projected_and_anchored_elsewhere(molecules, encoder, plus):
    with other_device() as there:
        session = session_of(molecules, encoder=encoder, plus=plus, evidence="sampled", exploration=1.0)
        learn(session, PrototypeLoss(session))
        session.state.sources = nearest_subgraphs(session, 2)
        session.state.begin("anchored")
        for model in (session.model, session.exported):
            model.begin_anchored_stage()
        subgraphs = cut_subgraphs(session.train, session.state.sources).batch().to(there)
        set_prototypes(session, subgraphs)
        learn(session, anchored_loss(session, subgraphs))
    assert len(session.state.rows) == 2 and len(session.state.sources) == 6
