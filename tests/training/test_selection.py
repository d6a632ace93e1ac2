"""The loop: the same seed gives the same model, the best epoch wins, and a loss that is no number is told."""

from dataclasses import replace

import pytest
import torch

from protgnn.errors import ProtGNNError
from protgnn.training.checkpoint import TrainingState
from protgnn.training.recipe import make_recipe
from protgnn.training.resolve import window_of
from protgnn.training.selection import WORST, Criterion, Quality, choose_ending, finished, log_row, window_mean
from protgnn.training.train import SplitData, Trained, train

SMALL = {"hidden": 8, "epochs": 4, "head": "plain", "readout": "all"}
FEW_PROTOTYPES = {"prototypes": 2, "anchored_epochs": 2, "search_iterations": 2, "refine_steps": 5}


@pytest.fixture(scope="module")
def parts(molecules):
    return SplitData(molecules.train, molecules.valid, molecules.test)


def same_weights(one: Trained, other: Trained) -> bool:
    ours, theirs = one.model.state_dict(), other.model.state_dict()
    return ours.keys() == theirs.keys() and all(torch.equal(ours[key], theirs[key]) for key in ours)


@pytest.mark.parametrize("encoder", ["gcn", "gin", "gat", "pyg:GraphSAGE"])
def test_the_same_seed_gives_the_same_model(parts, encoder):
    recipe = make_recipe(**SMALL, encoder=encoder, dropout=0.3)
    one = train(parts, recipe)
    torch.manual_seed(99)  # whatever else the process draws
    torch.rand(5)
    other = train(parts, recipe)
    assert same_weights(one, other)
    assert one.state.rows == other.state.rows and one.scores == other.scores


def test_the_same_seed_gives_the_same_prototypes(parts):
    recipe = make_recipe(**{**SMALL, "head": "prototypes"}, **FEW_PROTOTYPES)
    one, other = train(parts, recipe), train(parts, recipe)
    assert same_weights(one, other)
    assert one.state.sources == other.state.sources


def test_another_seed_gives_another_model(parts):
    one, other = (train(parts, make_recipe(**SMALL, seed=seed)) for seed in (0, 1))
    assert not same_weights(one, other)


def test_training_leaves_the_generators_of_the_process_alone(parts):
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    train(parts, make_recipe(**SMALL))
    assert torch.equal(torch.rand(4), expected)


def test_the_best_validation_epoch_is_kept_and_ties_go_to_the_lower_loss(parts):
    done = train(
        parts,
        make_recipe(
            **{**SMALL, "epochs": 25, "patience": 0, "lr": 0.02, "window": 1, "calibrate": False, "composition": False}
        ),
    )
    rows = done.state.rows
    best = min(rows, key=lambda row: (-row["valid_accuracy"], row["valid_loss"]))
    assert done.state.best_epoch == best["epoch"] < 25
    assert done.scores["valid"]["accuracy"] == pytest.approx(best["valid_accuracy"])
    assert done.scores["valid"]["loss"] == pytest.approx(best["valid_loss"], rel=1e-5)


def test_a_tie_in_accuracy_is_broken_by_the_loss():
    best = Quality(0.8, -0.5)
    assert Quality(0.9, -9.0) > best > WORST
    assert Quality(0.8, -0.4) > best
    assert not Quality(0.8, -0.5) > best
    assert not Quality(0.7, -0.1) > best


def test_a_stage_stops_after_its_epochs_or_when_patience_is_over():
    assert finished(epochs=10, waited=0, most=10, patience=0)
    assert not finished(epochs=9, waited=9, most=10, patience=0)
    assert finished(epochs=9, waited=3, most=10, patience=3)
    assert not finished(epochs=9, waited=2, most=10, patience=3)


def test_the_mean_is_over_the_last_epochs_of_the_stage_alone():
    rows = [{"epoch": epoch, "valid_accuracy": epoch / 10, "valid_loss": float(epoch)} for epoch in range(1, 6)]
    assert window_mean(rows, 2, stage_start=0) == pytest.approx((0.45, -4.5, 0.45))
    assert window_mean(rows, 2, stage_start=3) == pytest.approx((0.45, -4.5, 0.45))
    assert window_mean(rows, 2, stage_start=3, select_by="loss") == pytest.approx((-4.5, -4.5, 0.45))
    assert window_mean(rows, 2, stage_start=4) is None
    assert window_mean([], 1, stage_start=0) is None


@pytest.mark.parametrize(
    ("anchored", "projected", "lost", "chosen"),
    [
        ((0.5, -1.0), (0.5, -0.5), 0.0, "projected"),
        ((0.4, -0.1), (0.5, -0.5), 0.03, "projected"),
        ((0.5, -0.5), (0.5, -0.5), 0.0, "anchored"),
        ((0.7, -9.0), (0.5, -0.5), 0.0, "anchored"),
        ((0.5, -0.5), (0.9, -0.1), 0.04, "anchored"),
        ((0.5, -0.5), (0.9, -0.1), -0.2, "projected"),
    ],
)
def test_the_better_ending_is_exported_unless_projection_cost_training_accuracy(anchored, projected, lost, chosen):
    assert choose_ending(Quality(*anchored), Quality(*projected), lost) == chosen


@pytest.mark.parametrize("model", ["plain", "prototypes", "plus"])
@pytest.mark.parametrize("window", [1, 4])
def test_the_best_epoch_is_that_of_the_best_few_in_the_mean(parts, window, model):
    settings = {**SMALL, **FEW_PROTOTYPES, "patience": 0, "window": window, "lr": 0.02, "evidence_lr": 0.02}
    of_model = {
        "plain": {"epochs": 12},
        "prototypes": {"head": "prototypes", "epochs": 2, "anchored_epochs": 12},
        "plus": {"head": "prototypes", "epochs": 12, "warm_up": 12},
    }
    settings |= of_model[model]
    state = train(parts, make_recipe(**settings, plus=model == "plus")).state
    rows = [row for row in state.rows if row["epoch"] > state.stage_start]
    assert len(rows) == 12
    merit = {}
    for last in range(window, len(rows) + 1):
        few = rows[last - window : last]
        loss = sum(row["valid_loss"] for row in few) / window
        accuracy = sum(row["valid_accuracy"] for row in few) / window
        merit[few[-1]["epoch"]] = round(accuracy, 9), -loss
    best = max(merit, key=lambda epoch: merit[epoch])
    assert state.best_epoch == best
    assert state.best_quality[:2] == pytest.approx(merit[best])


def test_nothing_is_called_the_best_before_there_is_a_window():
    state = TrainingState(rows=[{"epoch": 1, "loss": 0.5, "valid_loss": 0.5, "valid_accuracy": 0.8}])
    assert "best" not in state.summary() and window_mean(state.rows, 2, 0) is None
    state.best_quality = Quality(0.8, -0.5, 0.8)
    assert state.summary() == "validation accuracy 0.800, best average 0.800"


LOGITS = torch.tensor([[2.0, 0.0], [1.0, 0.0], [3.0, 0.0], [0.5, 0.0]])
TRUTH = torch.tensor([0, 0, 0, 1])


@pytest.mark.parametrize(
    ("select_by", "merit"), [("accuracy", 0.75), ("balanced_accuracy", 0.5), ("roc_auc", 1.0), ("loss", -0.3657)]
)
def test_a_state_may_be_chosen_by_what_rare_classes_count_in(select_by, merit):
    found = Criterion(select_by).quality(LOGITS, TRUTH)
    assert found.merit == pytest.approx(merit, abs=1e-4) and found.accuracy == 0.75
    row = {"epoch": 1, **log_row(found, select_by)}
    assert window_mean([row], 1, 0, select_by) == pytest.approx(found)


def test_the_best_epoch_is_that_of_what_is_selected_by(parts):
    settings = {**SMALL, "epochs": 12, "patience": 0, "lr": 0.1, "averaging": 0, "window": 1}
    chosen = {}
    for by in ("balanced_accuracy", "roc_auc", "loss"):
        done = train(parts, make_recipe(**settings, select_by=by))
        column, sign = f"valid_{by}", -1 if by == "loss" else 1
        merit = {row["epoch"]: (round(sign * row[column], 9), -row["valid_loss"]) for row in done.state.rows}
        chosen[by] = done.state.best_epoch
        assert chosen[by] == max(merit, key=merit.__getitem__)
    assert len(set(chosen.values())) > 1


def test_the_window_is_200_steps_and_never_longer_than_half_a_stage_or_patience():
    assert window_of(make_recipe(batch_size=64), 640, 300) == 20
    assert window_of(make_recipe(batch_size=64), 64_000, 300) == 1
    assert window_of(make_recipe(batch_size=64, window=7), 640, 300) == 7
    assert window_of(make_recipe(batch_size=64), 640, 30) == 15
    assert window_of(make_recipe(batch_size=64), 640, 1) == 1
    assert window_of(make_recipe(batch_size=64, window=7), 640, 5) == 5
    assert window_of(make_recipe(batch_size=64, patience=3), 640, 300) == 3
    assert window_of(make_recipe(batch_size=64, patience=0), 640, 300) == 20
    with pytest.raises(ProtGNNError, match="window: expected at least one epoch"):
        make_recipe(window=0)


def test_training_stops_when_patience_is_over(parts):
    done = train(parts, make_recipe(**{**SMALL, "epochs": 300, "patience": 3, "lr": 0.05}))
    assert done.state.epoch < 300
    assert done.state.epoch == done.state.best_epoch + 3


def test_no_patience_means_every_epoch(parts):
    assert train(parts, make_recipe(**{**SMALL, "epochs": 12, "patience": 0, "lr": 0.1})).state.epoch == 12


def test_training_learns_what_can_be_learned(parts):
    done = train(SplitData(parts.train, parts.train), make_recipe(hidden=32, epochs=60, head="plain", lr=0.01))
    assert done.scores["train"]["accuracy"] > 0.9
    assert done.state.rows[-1]["loss"] < done.state.rows[0]["loss"]


def test_the_log_has_a_row_per_epoch(parts):
    seen = []
    done = train(parts, make_recipe(**SMALL), on_epoch=lambda state: seen.append(state.epoch))
    assert seen == [row["epoch"] for row in done.state.rows] == [1, 2, 3, 4]
    assert set(done.state.rows[0]) == {"epoch", "loss", "accuracy", "valid_loss", "valid_accuracy"}


def test_a_loss_that_is_no_number_says_what_to_try(parts):
    large = replace(parts.train, x=parts.train.x * 1e37)
    with pytest.raises(ProtGNNError, match=r"loss of epoch 1 is not a number: try a smaller lr than 0.001"):
        train(replace(parts, train=large), make_recipe(**SMALL))


def test_an_accelerator_that_is_not_here_is_refused(parts, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ProtGNNError, match="this machine has no cuda: use cpu or auto"):
        train(parts, make_recipe(**SMALL, accelerator="cuda"))


@pytest.mark.parametrize("encoder", ["gcn", "gin", "gat"])
@pytest.mark.parametrize("head", ["plain", "prototypes"])
def test_mixed_precision_trains_nearly_the_same_model(parts, head, encoder):
    recipe = make_recipe(**{**SMALL, "head": head}, **FEW_PROTOTYPES, encoder=encoder, precision="bf16-mixed")
    done = train(parts, recipe)
    full = train(parts, make_recipe(**{**SMALL, "head": head}, **FEW_PROTOTYPES, encoder=encoder))
    assert not same_weights(done, full)
    for key, value in full.model.state_dict().items():
        assert done.model.state_dict()[key].dtype == value.dtype, key
    assert done.state.rows[0]["loss"] == pytest.approx(full.state.rows[0]["loss"], rel=0.1)
