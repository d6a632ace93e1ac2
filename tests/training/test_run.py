"""Run directories: what goes in comes out, damage is noticed, and nobody's code runs on opening one."""

import ast
import json
import pickle
import shutil
from pathlib import Path

import pytest
import torch

import protgnn
from protgnn.errors import ProtGNNError, RunError
from protgnn.training.checkpoint import TrainingState
from protgnn.training.recipe import make_recipe
from protgnn.training.run import Run, load_model, read_rows, read_run
from protgnn.training.run_file import checked_run_file
from protgnn.training.selection import Quality
from protgnn.training.train import SplitData, train_in

SEALED = ["run.json", "model.safetensors", "log.csv"]


@pytest.fixture
def copy(run_folder, tmp_path):
    return Path(shutil.copytree(run_folder, tmp_path / "copy"))


@pytest.fixture
def prototype_copy(prototype_run, tmp_path):
    return Path(shutil.copytree(prototype_run, tmp_path / "copy"))


def test_a_run_holds_safetensors_json_and_logs_and_no_state_when_done(run_folder):
    found = {path.name for path in run_folder.iterdir()}
    assert found - {"tensorboard"} == set(SEALED)


def test_what_is_written_is_read_again(run_folder, molecules_csv):
    run = read_run(run_folder)
    assert run.finished and run.recipe.hidden == 8 and run.recipe.epochs == 2
    assert run.schema.class_names == ("high", "low", "medium")
    assert run.data.source == str(molecules_csv)
    parts = torch.cat([run.split.train, run.split.valid, run.split.test])
    assert sorted(parts.tolist()) == list(range(90))
    content = json.loads((run_folder / "run.json").read_text())
    claimed = {**content, "files": None, "checksum": None, "protgnn_version": None, "schema_version": None}
    assert {
        **run.to_json(),
        "files": None,
        "checksum": None,
        "protgnn_version": None,
        "schema_version": None,
    } == claimed


def test_prototypes_are_read_again(prototype_run):
    model, run = load_model(prototype_run)
    assert len(run.prototypes.cards) == len(run.prototypes.subgraphs) == len(model.head.classes) == 6
    alone = torch.cat([model.embed(graph.batch()) for graph in run.prototypes.subgraphs])
    assert (alone - model.head.vectors).abs().max() <= 1e-5


@pytest.mark.parametrize("name", SEALED[:2])
@pytest.mark.parametrize("damage", ["flipped", "truncated", "empty", "longer"])
def test_a_damaged_file_is_named(copy, name, damage):
    _damage(copy / name, damage)
    with pytest.raises(RunError) as error:
        load_model(copy)
    assert str(copy / name) in str(error.value)


def test_a_missing_file_is_named(copy):
    (copy / "model.safetensors").unlink()
    with pytest.raises(RunError, match=r"copy/model\.safetensors"):
        load_model(copy)
    (copy / "run.json").unlink()
    with pytest.raises(RunError, match=r"copy is not a run directory: it has no run\.json"):
        load_model(copy)


@pytest.mark.parametrize("damage", ["missing", "flipped", "truncated", "empty", "longer"])
def test_a_model_does_without_its_log_and_who_wants_the_curves_is_told_of_damage(copy, damage):
    _damage(copy / "log.csv", damage)
    load_model(copy)
    if damage == "missing":
        assert read_rows(copy) == []
        return
    with pytest.raises(RunError, match=r"log\.csv is damaged \(it was changed.*remove it to do without curves"):
        read_rows(copy)


@pytest.mark.parametrize("damage", ["missing", "flipped", "truncated", "empty", "longer"])
def test_a_damaged_prototype_file_is_named(prototype_copy, damage):
    _damage(prototype_copy / "prototypes.safetensors", damage)
    with pytest.raises(RunError, match=r"prototypes.safetensors"):
        load_model(prototype_copy)


def _damage(path: Path, how: str) -> None:
    content = bytearray(path.read_bytes())
    if how == "missing":
        path.unlink()
        return
    if how == "flipped":
        content[len(content) // 2] ^= 1
    path.write_bytes(
        {"truncated": content[: len(content) // 2], "empty": b"", "longer": content + b"1"}.get(how, content)
    )


def test_another_schema_version_is_refused_with_both_numbers(copy):
    content = json.loads((copy / "run.json").read_text())
    content["schema_version"] = 7
    (copy / "run.json").write_text(json.dumps(content))
    with pytest.raises(RunError, match="schema version 7, this protgnn reads 1 to 2: upgrade"):
        read_run(copy)


def test_a_changed_recipe_is_noticed(copy):
    content = json.loads((copy / "run.json").read_text())
    content["recipe"]["hidden"] = 16
    (copy / "run.json").write_text(json.dumps(content))
    with pytest.raises(RunError, match="changed after it was written"):
        read_run(copy)


@pytest.mark.parametrize("content", [b"", b"[]", b"null", b"{}", b"\xff", b"[" * 100_000, b'{"schema_version": 1}'])
def test_a_run_file_that_is_something_else_is_refused(copy, content):
    (copy / "run.json").write_bytes(content)
    with pytest.raises(RunError, match=r"run\.json"):
        read_run(copy)


def test_a_key_that_recipes_no_longer_have_does_not_make_a_run_unreadable(run_folder):
    content = json.loads((run_folder / "run.json").read_text())
    del content["checksum"]
    content["recipe"]["anchored_window"] = 10
    assert Run.from_file(checked_run_file(content)).recipe == read_run(run_folder).recipe
    content["recipe"]["nonsense"] = 10
    with pytest.raises(ProtGNNError, match="nonsense"):
        Run.from_file(checked_run_file(content))


def test_what_is_no_run_directory_is_refused(tmp_path):
    with pytest.raises(RunError, match="There is no run directory"):
        read_run(tmp_path / "none")
    with pytest.raises(RunError, match=r"has no run\.json"):
        read_run(tmp_path)


ROW = {"epoch": 1, "loss": 1.0, "accuracy": 0.5, "valid_loss": 1.0, "valid_accuracy": 0.5}


@pytest.mark.parametrize("damage", ["flipped", "truncated", "empty"])
def test_a_damaged_state_is_refused(tmp_path, damage):
    state = TrainingState(epoch=1, best_epoch=1, best_quality=Quality(0.5, -1.0, 0.5), rows=[ROW])
    state.model, state.best = {"weight": torch.ones(3)}, {"weight": torch.ones(3)}
    state.save(tmp_path)
    assert vars(TrainingState.load(tmp_path)).keys() == vars(state).keys()
    path = tmp_path / "state.safetensors"
    content = bytearray(path.read_bytes())
    content[2] ^= 0x55  # the length of the header
    path.write_bytes({"truncated": content[:100], "empty": b""}.get(damage, content))
    with pytest.raises(RunError, match=r"state\.safetensors is damaged"):
        TrainingState.load(tmp_path)


def test_no_flipped_bit_of_a_state_goes_unnoticed(tmp_path):
    state = TrainingState(epoch=1, rows=[ROW])
    state.model, state.optimizer = {"weight": torch.ones(3)}, {"0/step": torch.tensor(4.0)}
    state.save(tmp_path)
    path = tmp_path / "state.safetensors"
    content = path.read_bytes()
    header_end = 8 + int.from_bytes(content[:8], "little")
    accepted = set()
    for place in range(len(content)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            read = TrainingState.load(tmp_path)
        except RunError:
            continue
        accepted.add(place)
        assert vars(read).keys() == vars(state).keys() and read.rows == state.rows
        assert torch.equal(read.model["weight"], state.model["weight"])
        assert torch.equal(read.optimizer["0/step"], state.optimizer["0/step"])
    # Only the spaces that fill up the header carry nothing
    padding = set(range(8 + len(content[8:header_end].rstrip()), header_end))
    assert accepted <= padding


def test_a_state_that_is_not_there_is_none(tmp_path):
    assert TrainingState.load(tmp_path) is None


def test_a_state_is_read_as_it_was_written(tmp_path):
    state = TrainingState(epoch=1, best_epoch=1, best_quality=Quality(0.5, -1.0, 0.5), rows=[ROW])
    state.model, state.best = {"a.b": torch.randn(3)}, {"a.b": torch.randn(3)}
    state.optimizer = {"0/step": torch.tensor(4.0), "0/exp_avg": torch.randn(3)}
    state.save(tmp_path)
    again = TrainingState.load(tmp_path)
    for name, value in vars(state).items():
        other = getattr(again, name)
        if name in ("model", "best", "optimizer"):
            assert value.keys() == other.keys() and all(torch.equal(value[key], other[key]) for key in value)
        else:
            assert value == other, name


@pytest.fixture
def no_pickle(monkeypatch):
    """This process cannot unpickle any more."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something was unpickled")

    class Refusing(pickle.Unpickler):
        def __init__(self, *_: object, **__: object) -> None:
            refuse()

    load = torch.load

    def only_weights(*arguments: object, weights_only: bool = False, **options: object) -> object:
        assert weights_only, "torch.load without weights_only"
        return load(*arguments, weights_only=True, **options)

    monkeypatch.setattr(torch, "load", only_weights)
    for name in ("load", "loads", "_load", "_loads"):
        monkeypatch.setattr(pickle, name, refuse)
    monkeypatch.setattr(pickle, "Unpickler", Refusing)
    monkeypatch.setattr(pickle, "_Unpickler", Refusing)


def test_a_pickle_would_be_noticed(no_pickle):
    for attempt in (lambda: pickle.loads(pickle.dumps(1)), lambda: torch.load("x"), lambda: pickle.Unpickler(None)):  # noqa: S301
        with pytest.raises(AssertionError):
            attempt()


@pytest.mark.parametrize("which", ["run_folder", "prototype_run"])
def test_a_run_opens_evaluates_and_predicts_without_pickle(request, no_pickle, protgnn_command, molecules_csv, which):
    folder = request.getfixturevalue(which)
    assert protgnn_command("predict", folder, molecules_csv).status == 0
    assert protgnn_command("evaluate", folder).status == 0
    assert protgnn.ProtGNNClassifier.from_run(folder).predict_proba(protgnn.read_csv(molecules_csv).graphs).shape == (
        90,
        3,
    )


def test_training_and_resuming_need_no_pickle(no_pickle, protgnn_command, molecules_csv, tmp_path):
    from tests.conftest import TINY

    assert protgnn_command("train", molecules_csv, "--out", tmp_path / "run", *TINY).status == 0


def test_the_source_uses_no_pickle_no_eval_and_torch_load_only_for_weights():
    forbidden_modules = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
    forbidden_calls = {"eval", "exec", "numpy.load", "np.load", "pickle.load", "pickle.loads"}
    root = Path(protgnn.__file__).parent
    sources = sorted(root.rglob("*.py"))
    assert len(sources) > 30
    for path in sources:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not {alias.name.partition(".")[0] for alias in node.names} & forbidden_modules, path
            elif isinstance(node, ast.ImportFrom):
                assert (node.module or "").partition(".")[0] not in forbidden_modules, path
            elif isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in forbidden_calls, f"{path}:{node.lineno}"
                if ast.unparse(node.func) == "torch.load":
                    said = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                    assert said.get("weights_only") == "True", f"{path}:{node.lineno}"


def test_replacing_a_run_leaves_no_report_of_the_old_one(molecules, tmp_path):
    parts = SplitData(molecules.train, molecules.valid)
    run = Run(make_recipe(head="plain", hidden=8, epochs=1), molecules.graphs.schema)
    train_in(tmp_path / "run", parts, run)
    (tmp_path / "run" / "report.html").write_text("of the old run")
    train_in(tmp_path / "run", parts, run, overwrite=True)
    assert not (tmp_path / "run" / "report.html").exists()


def test_saving_replaces_a_finished_run_whole_and_leaves_one_that_may_go_on(molecules, copy, tmp_path):
    model = protgnn.ProtGNNClassifier(settings={"epochs": 1, "hidden": 8, "head": "plain"}).fit(molecules.train)
    (copy / "report.html").write_text("of another model")
    model.save(copy)
    assert not (copy / "report.html").exists() and not (copy / "tensorboard").exists()
    assert read_run(copy).recipe == model.run_.recipe
    (copy / ".replacement").mkdir()
    (copy / ".replacement" / "state.safetensors").write_bytes(b"hours of work")
    with pytest.raises(RunError, match="did not finish"):
        model.save(copy)
    assert (copy / ".replacement" / "state.safetensors").read_bytes() == b"hours of work"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(RunError, match="not empty and not a run"):
        model.save(tmp_path / "mine")
