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


def test_a_run_that_is_only_sealed_again_still_opens(copy):
    load_model(sealed(copy, lambda content: None))


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
    "a node twice": put(*CARD, "nodes", 1, value=0),
    "a fraction of a node": put(*CARD, "nodes", 0, value=0.5),
    "another number of nodes": put(*CARD, "nodes", value=[0]),
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
def test_a_field_that_cannot_be_is_refused_in_a_sentence(copy, what):
    with pytest.raises(RunError) as error:
        load_model(sealed(copy, WRONG[what]))
    message = str(error.value)
    assert str(copy) in message and len(message) < 1000 and "\n" not in message


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
}


@pytest.mark.parametrize("what", TENSORS)
def test_subgraphs_that_cannot_be_are_refused_in_a_sentence(copy, what):
    with pytest.raises(RunError, match=r"run\.json is damaged"):
        load_model(rewritten(copy, "prototypes.safetensors", TENSORS[what]))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(copy, value):
    with pytest.raises(RunError, match="holds NaN or infinity"):
        load_model(rewritten(copy, "model.safetensors", lambda t: t["head.vectors"].fill_(value)))


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


def test_a_report_is_not_written_through_a_link(protgnn_command, copy, tmp_path):
    victim = tmp_path / "victim.html"
    victim.write_text("mine")
    (copy / "report.html").symlink_to(victim)
    done = protgnn_command("report", copy)
    assert done.status == 1 and "is a link" in done.err and victim.read_text() == "mine"


def test_a_finished_run_with_a_state_left_over_is_finished(copy, protgnn_command):
    (copy / "state.safetensors").write_bytes(b"left by a kill between sealing and cleaning up")
    assert read_run(copy).finished
    assert protgnn_command("predict", copy, "CCO").status == 0
