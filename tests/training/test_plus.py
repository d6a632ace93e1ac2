"""ProtGNN+: trained, saved, resumed, and true to its evidence, whatever the encoder."""

import json

import pytest
import torch

from protgnn.data.subgraph import cut
from protgnn.datasets.load import fingerprint
from protgnn.errors import ProtGNNError
from protgnn.explain.explanation import explain
from protgnn.model.prototype_layer import similarity
from protgnn.training import checkpoint, steps
from protgnn.training.recipe import make_recipe
from protgnn.training.resolve import learning_epochs, steps_per_epoch
from protgnn.training.run import DataCard, Run, load_model
from protgnn.training.train import SplitData, evaluate, train, train_in

QUICK = {
    "evidence": "sampled",
    "plus": True,
    "hidden": 16,
    "warm_up": 3,
    "epochs": 6,
    "anchored_epochs": 2,
    "patience": 0,
    "prototypes": 2,
    "search_iterations": 4,
    "refine_steps": 20,
    "window": 2,
}


@pytest.fixture(scope="module")
def parts(molecules):
    return SplitData(molecules.train, molecules.valid, molecules.test)


@pytest.fixture(scope="module", params=["gcn", "gin", "gat", "pyg:GraphSAGE"])
def trained(parts, request):
    return train(parts, make_recipe(**QUICK, encoder=request.param))


def test_prototypes_sums_and_evidence_of_a_protgnn_plus_are_faithful(trained, parts):
    on_training_graphs = evaluate(trained.model, parts.train, parts.train.schema, trained.prototypes)
    for figures in (on_training_graphs, trained.scores["valid"], trained.scores["test"]):
        assert figures["prototype_error"] <= 1e-5
        assert figures["sum_error"] <= 1e-5
        assert figures["evidence_error"] <= 1e-5
        assert 0 <= figures["evidence_size"] <= 10
        assert 0 <= figures["agreement"] <= 1


def test_the_rows_of_a_reasoning_show_what_was_computed(trained, parts):
    model, graphs = trained.model, parts.test[:20]
    for number, why in enumerate(explain(model, graphs)):
        for row in why.rows:
            mask = torch.zeros(len(graphs[number].x), dtype=torch.bool)
            mask[list(row.evidence)] = True
            alone = cut(graphs[number], torch.tensor([0]), mask)
            h = model.embed_parts(alone.batch()).detach()
            expected = similarity(model.head.distances(h)[0, row.prototype], model.head.epsilon)
            assert row.similarity == pytest.approx(expected.item(), abs=1e-5)
        for label, logit in enumerate(why.logits):
            assert sum(row.contribution(label) for row in why.rows) == pytest.approx(logit, abs=1e-5)


def test_the_epochs_are_the_papers_schedule(trained):
    recipe = make_recipe(**QUICK)
    assert trained.state.epoch == recipe.epochs + recipe.anchored_epochs
    assert trained.state.stage_start == recipe.warm_up


def test_the_sampler_and_the_encoder_both_learn_after_the_warm_up(parts):
    before, after = (
        train(parts, make_recipe(**{**QUICK, "anchored_epochs": 0, "epochs": epochs})).model.state_dict()
        for epochs in (3, 8)
    )
    for name in ("sampler.first.weight", "encoder.convs.0.first.weight", "parts.0_running_mean"):
        assert not torch.equal(before[name], after[name])


@pytest.mark.parametrize("share", [1.0, 0.5, 0.25])
def test_a_share_of_the_steps_after_the_warm_up_is_on_evidence(parts, monkeypatch, share):
    taken = []
    for method in ("_of_whole_graphs", "_of_evidence"):
        original = getattr(steps.EvidenceLoss, method)

        def counted(self, *given, method=method, original=original):
            taken.append(method)
            return original(self, *given)

        monkeypatch.setattr(steps.EvidenceLoss, method, counted)
    train(parts, make_recipe(**QUICK, evidence_share=share))
    epochs = QUICK["epochs"] + QUICK["anchored_epochs"] - QUICK["warm_up"]
    assert len(taken) == epochs * steps_per_epoch(make_recipe(**QUICK), len(parts.train))
    assert taken.count("_of_evidence") == pytest.approx(share * len(taken), abs=epochs)  # epochs begin at another step


def test_norms_keep_up_with_whole_graphs_while_all_steps_are_on_evidence(parts):
    before, after = (
        train(parts, make_recipe(**{**QUICK, "anchored_epochs": 0, "epochs": epochs})).model for epochs in (3, 8)
    )
    batch = parts.train.ego_graphs().batch()

    def off(model, statistics):
        """How far the first norm's input is from the statistics that it uses for whole graphs."""
        model.load_state_dict(model.state_dict() | statistics)
        seen = []
        norm = next(module for module in model.encoder.modules() if isinstance(module, torch.nn.BatchNorm1d))
        hook = norm.register_forward_hook(lambda module, given, out: seen.append((given[0].detach().mean(0), module)))
        model.eval()(batch, whole=True)
        hook.remove()
        mean, module = seen[0]
        return float((mean - module.running_mean).abs().mean())

    names = [name for name in before.state_dict() if name.startswith("encoder.") and "running" in name]
    stale = {name: before.state_dict()[name] for name in names}
    own = {name: after.state_dict()[name].clone() for name in names}
    assert off(after, own) < off(after, stale)


def test_the_same_seed_gives_the_same_model(parts):
    one, other = (train(parts, make_recipe(**QUICK)).model.state_dict() for _ in range(2))
    assert all(torch.equal(value, other[name]) for name, value in one.items())


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("epoch", [2, 4, 7])
def test_stopped_in_any_stage_it_resumes_to_the_same_weights(parts, molecules, tmp_path, monkeypatch, epoch):
    monkeypatch.setattr(checkpoint, "SAVE_SECONDS", 0.0)
    run = Run(make_recipe(**QUICK), parts.train.schema, DataCard("molecules", fingerprint(molecules.graphs)))
    train_in(tmp_path / "whole", parts, run)

    def die(state) -> None:
        if state.epoch == epoch:
            raise Killed

    with pytest.raises(Killed):
        train_in(tmp_path / "run", parts, run, on_epoch=die)
    train_in(tmp_path / "run", parts, run, resume=True)
    files = [tmp_path / name / "model.safetensors" for name in ("whole", "run")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_from_the_command_line_with_a_certificate(molecules_csv, tmp_path, protgnn_command):
    folder = tmp_path / "run"
    settings = [word for key, value in QUICK.items() if key != "plus" for word in ("--set", f"{key}={value}")]
    assert protgnn_command("train", molecules_csv, "--plus", "--out", folder, *settings).status == 0
    model, run = load_model(folder)
    assert run.recipe.plus
    assert model.sampler is not None
    figures = json.loads(protgnn_command("evaluate", folder, "--certificate", "--json").out)
    certificate = figures.pop("certificate")
    assert {name: figures[name] for name in run.scores["test"]} == run.scores["test"]
    assert certificate["n"] == figures["n"] == len(certificate["graphs"])
    assert certificate["certified_and_flipped"] == 0
    assert certificate["survived"] / certificate["n"] == pytest.approx(figures["agreement"])
    said = json.loads(protgnn_command("explain", folder, "CC(=O)Nc1ccc(O)cc1", "--json").out)
    assert all(row["evidence"] for row in said["rows"])


def test_a_pruned_protgnn_plus_is_faithful(parts):
    figures = train(parts, make_recipe(**QUICK, prune=True)).scores["test"]
    assert figures["evidence_error"] <= 1e-5
    assert figures["prototype_error"] <= 1e-5


def test_a_molecule_of_one_atom_has_itself_as_evidence(molecules_csv, tmp_path, protgnn_command):
    folder = tmp_path / "run"
    settings = [word for key, value in QUICK.items() for word in ("--set", f"{key}={value}")]
    assert protgnn_command("train", molecules_csv, "--out", folder, *settings).status == 0
    said = json.loads(protgnn_command("explain", folder, "C", "--json").out)
    assert {tuple(row["evidence"]) for row in said["rows"]} == {(0,)}


def test_a_plain_head_has_no_evidence():
    with pytest.raises(ProtGNNError, match="plus"):
        make_recipe(head="plain", plus=True)


def test_the_warm_up_is_shorter_where_an_epoch_has_many_steps():
    recipe = make_recipe(plus=True)
    assert learning_epochs(recipe, 150) == 100
    assert learning_epochs(recipe, 9600) == 7
    assert learning_epochs(make_recipe(plus=True, warm_up=7), 9600) == 7
    assert learning_epochs(make_recipe(), 9600) == recipe.epochs
