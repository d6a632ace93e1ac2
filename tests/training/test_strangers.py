"""Runs that a stranger edited and sealed again: refused with a sentence, or used without harm."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from protgnn.errors import RunError
from protgnn.training.run import load_model, read_run, run_checksum

Content = dict[str, Any]


@pytest.fixture
def copy(prototype_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(prototype_run, tmp_path / "copy"))


@pytest.fixture(params=["prototype_run", "mined_run"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a run with learned or with mined prototypes."""
    return Path(shutil.copytree(request.getfixturevalue(request.param), tmp_path / "copy"))


def sealed(folder: Path, change: Callable[[Content], object]) -> Path:
    """The run with its ``run.json`` changed and every checksum made to fit."""
    path = folder / "run.json"
    content = json.loads(path.read_text())
    del content["checksum"]
    for name in content["files"]:
        content["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    change(content)
    path.write_text(json.dumps({**content, "checksum": run_checksum(content)}))
    return folder


def test_a_run_that_is_only_sealed_again_still_opens(either):
    load_model(sealed(either, lambda content: None))


def put(*path: Any, value: Any) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = value

    return change


CARD = ("prototypes", 0)
WRONG = {
    "negative node": put(*CARD, "nodes", value=[-5]),
    "text as nodes": put(*CARD, "nodes", value=['"><script>alert(1)</script>']),
    "no nodes": put(*CARD, "nodes", value=[]),
    "a node twice": lambda content: content["prototypes"][0]["nodes"].append(content["prototypes"][0]["nodes"][0]),
    "a fraction of a node": put(*CARD, "nodes", 0, value=0.5),
    "another number of nodes": lambda content: content["prototypes"][0]["nodes"].append(77),
    "a node beyond the molecule": put(*CARD, "nodes", 0, value=4000),
    "label as text": put(*CARD, "label", value="high"),
    "label out of range": put(*CARD, "label", value=3),
    "weight as text": put(*CARD, "weight", value="heavy"),
    "weight without end": put(*CARD, "weight", value=float("inf")),
    "name as a number": put(*CARD, "name", value=7),
    "name of ten megabytes": put(*CARD, "name", value="C" * 10_000_000),
    "support below zero": put(*CARD, "support", value=-1),
    "a card too few": lambda content: content["prototypes"].pop(),
    "class names as a number": put("schema", "class_names", value=3),
    "no class": put("schema", "class_names", value=[]),
    "a class twice": put("schema", "class_names", value=["high", "high", "medium"]),
    "no features": put("schema", "node_features", value=[]),
    "unknown kind": put("schema", "kind", value="spell"),
    "scores as text": put("scores", value="good"),
    "accuracy above one": put("scores", "test", "accuracy", value=17),
    "accuracy as text": put("scores", "test", "accuracy", value="<b>1</b>"),
    "a figure of hundreds of digits": put("scores", "test", "sum_error", value=10**400),
    "a figure as text": put("scores", "test", "sum_error", value="0"),
    "scores of an unknown class": put(
        "scores", "test", "per_class", "mud", value={"n": 1, "recall": 1, "precision": 1}
    ),
    "familiarity as a list": put("scores", "familiarity", value=[1]),
    "split as text": put("split", value="train"),
    "a graph below zero": put("split", "train", 0, value=-1),
    "a graph in two parts": lambda content: content["split"]["test"].append(content["split"]["train"][0]),
    "seen beyond the columns": put("seen", value=[10**9]),
    "options of the wrong type": put("data", "options", "smiles", value={"a": 1}),
    "unknown option": put("data", "options", "shell", value="true"),
    "source as a list": put("data", "source", value=["a"]),
    "a file elsewhere": put("files", "../../etc/passwd", value="0" * 64),
    "a device": put("files", "/dev/zero", value="0" * 64),
    "an unknown field": put("hook", value="import os"),
    "a wide model": put("recipe", "hidden", value=4096),
    "a deep model": put("recipe", "layers", value=32),
    "an unknown recipe key": put("recipe", "hook", value=1),
    "not finished with files": put("finished", value="yes"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_field_that_cannot_be_is_refused_in_a_sentence(either, what):
    with pytest.raises(RunError) as error:
        load_model(sealed(either, WRONG[what]))
    message = str(error.value)
    assert str(either) in message and len(message) < 1000 and "\n" not in message


def rewritten(folder: Path, name: str, change: Callable[[dict[str, torch.Tensor]], object]) -> Path:
    """The run with tensors of a file changed, sealed again."""
    tensors = safetensors.torch.load_file(folder / name)
    change(tensors)
    (folder / name).write_bytes(safetensors.torch.save(tensors))
    return sealed(folder, lambda content: None)


TENSORS: dict[str, Callable[[dict[str, torch.Tensor]], object]] = {
    "pointer beyond": lambda t: t["node_ptr"].__setitem__(-1, 10**6),
    "pointer backwards": lambda t: t["node_ptr"].__setitem__(1, -3),
    "edge beyond": lambda t: t["edge_index"].__setitem__((0, 0), 10**6),
    "edge below zero": lambda t: t["edge_index"].__setitem__((0, 0), -1),
    "NaN feature": lambda t: t["x"].__setitem__((0, 0), float("nan")),
    "empty features": lambda t: t.update(x=torch.zeros(len(t["x"]), 0)),
    "features of integers": lambda t: t.update(x=t["x"].long()),
    "no edges": lambda t: t.pop("edge_index"),
    "an unknown tensor": lambda t: t.update(names=torch.zeros(1)),
    "attributes too few": lambda t: t.update(edge_attr=t["edge_attr"][1:]),
    "a number below zero": lambda t: t.update(n_id=torch.full((len(t["x"]),), -1)),
    "a degree below zero": lambda t: t.update(missing_degree=torch.full((len(t["x"]),), -1)),
    "a mask of complex numbers": lambda t: t.update(node_mask=torch.ones(len(t["x"]), dtype=torch.complex64)),
}


@pytest.mark.parametrize("what", TENSORS)
def test_subgraphs_that_cannot_be_are_refused_in_a_sentence(either, what):
    with pytest.raises(RunError, match=r"run\.json is damaged"):
        load_model(rewritten(either, "prototypes.safetensors", TENSORS[what]))


def no_numbers(value: float, dtype: torch.dtype = torch.float32) -> Callable[[dict[str, torch.Tensor]], object]:
    return lambda t: t.update({"head.vectors": torch.full(t["head.vectors"].shape, value, dtype=dtype)})


WEIGHTS: dict[str, tuple[Callable[[dict[str, torch.Tensor]], object], str]] = {
    "NaN": (no_numbers(float("nan")), "holds NaN or infinity"),
    "infinity": (no_numbers(float("inf")), "holds NaN or infinity"),
    "infinity once it is narrowed": (no_numbers(1e300, torch.float64), "holds NaN or infinity"),
    "whole numbers": (no_numbers(2, torch.int64), "has type torch.int64"),
    "complex numbers": (no_numbers(2, torch.complex64), "has type torch.complex64"),
    "another shape": (lambda t: t.update({"head.vectors": t["head.vectors"][1:]}), "has shape"),
    "a variance below 0": (
        lambda t: [value.fill_(-1) for name, value in t.items() if name.endswith("running_var")],
        "holds a variance below 0",
    ),
}


@pytest.mark.parametrize("what", WEIGHTS)
def test_weights_that_cannot_be_are_refused(either, what):
    change, message = WEIGHTS[what]
    with pytest.raises(RunError, match=message):
        load_model(rewritten(either, "model.safetensors", change))


def test_weights_that_give_no_numbers_are_told_of_where_they_are_used(protgnn_command, either):
    """Each is finite; what is computed of them is not."""
    rewritten(either, "model.safetensors", lambda t: [v.fill_(1e38) for v in t.values() if v.is_floating_point()])
    for command in (["predict", either, "CCO"], ["explain", either, "CCO"], ["evaluate", either], ["report", either]):
        done = protgnn_command(*command)
        assert done.status == 1 and "The model gives NaN or infinity for number 0" in done.err, command


def test_a_figure_that_is_no_number_is_null_for_programs(protgnn_command, either):
    rewritten(either, "prototypes.safetensors", lambda t: t["x"].fill_(3e38))
    done = protgnn_command("evaluate", either, "--json")
    assert done.status == 0 and json.loads(done.out)["prototype_error"] is None


def test_prototypes_of_other_classes_than_their_cards_are_refused(copy):
    with pytest.raises(RunError, match=r"of other classes than run\.json says"):
        load_model(rewritten(copy, "model.safetensors", lambda t: t["head.classes"].fill_(7)))


def test_a_recipe_that_asks_for_gigabytes_is_refused_before_they_are_allocated(copy):
    sealed(copy, lambda content: content["recipe"].update(hidden=4096, layers=32))
    program = (
        "import resource, sys; from pathlib import Path; from protgnn.errors import RunError\n"
        "from protgnn.training.run import load_model\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: load_model(Path(sys.argv[1]))\n"
        "except RunError as error: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, error)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(copy)], capture_output=True, text=True, check=True)
    kilobytes, _, message = done.stdout.partition(" ")
    assert int(kilobytes) < 500_000 and "does not fit its recipe" in message


@pytest.mark.parametrize("name", ["run.json", "model.safetensors", "prototypes.safetensors"])
def test_a_link_inside_a_run_is_not_read(copy, tmp_path, name):
    (copy / name).rename(tmp_path / "elsewhere")
    (copy / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError):
        load_model(copy)


@pytest.mark.parametrize("name", ["run.json", "model.safetensors"])
def test_a_pipe_inside_a_run_is_not_waited_for(copy, name):
    (copy / name).unlink()
    os.mkfifo(copy / name)
    with pytest.raises(RunError):
        load_model(copy)


@pytest.mark.parametrize("part", ["train", "valid", "test"])
def test_a_split_beyond_the_data_is_refused_in_a_sentence(protgnn_command, copy, part):
    sealed(copy, put("split", part, 0, value=10**9))
    for command in (["evaluate", copy], ["predict", copy, "test"]):
        done = protgnn_command(*command)
        assert done.status == 1 and "names more than the 90" in done.err
    done = protgnn_command("report", copy)
    assert done.status == 0 and "names more than the 90" in done.err, "it does without the data, and says so"


def test_a_part_without_graphs_is_not_scored(protgnn_command, copy):
    sealed(copy, put("split", "test", value=[]))
    done = protgnn_command("evaluate", copy)
    assert done.status == 1 and "The test part of this run is empty" in done.err


def test_a_prototype_of_a_graph_that_is_not_there_is_refused_in_a_sentence(protgnn_command, copy):
    sealed(copy, put(*CARD, "graph", value=10**6))
    done = protgnn_command("explain", copy, "test")
    assert done.status == 1 and "is of training graph 1000000 of" in done.err


def test_a_model_of_nodes_has_prototypes_of_nodes(copy):
    with pytest.raises(RunError, match="the tensor targets does not fit"):
        load_model(sealed(copy, put("recipe", "readout", value="target")))


@pytest.mark.parametrize(("name", "limit"), [("run.json", "run_file_bytes"), ("model.safetensors", "run_bytes")])
def test_a_file_over_the_limit_is_not_read(copy, monkeypatch, name, limit):
    os.truncate(copy / name, 10**10)  # a sparse file, which takes no room
    with pytest.raises(RunError, match=f"{name}: 10000000000 bytes, and at most .* PROTGNN_LIMITS={limit}="):
        load_model(copy)


def test_a_finished_run_with_a_state_left_over_is_finished(copy, protgnn_command):
    (copy / "state.safetensors").write_bytes(b"left by a kill between sealing and cleaning up")
    assert read_run(copy).finished
    assert protgnn_command("predict", copy, "CCO").status == 0
