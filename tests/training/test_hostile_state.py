"""A stored state that a stranger edited and sealed again: training does not go on from what cannot be."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import safetensors
import safetensors.torch
import torch

from protgnn.cli.main import main
from protgnn.training.checkpoint import STATE_FILE, state_checksum
from tests.conftest import MINED

FEW = ("epochs=2", "hidden=8", "prototypes=1", "anchored_epochs=1", "search_iterations=2", "refine_steps=2")
OPTIONS = {"learned": [part for setting in FEW for part in ("--set", setting)], "mined": MINED}
State = tuple[dict[str, Any], dict[str, torch.Tensor]]


@pytest.fixture(scope="module", params=OPTIONS)
def unfinished(request, molecules_csv, tmp_path_factory) -> tuple[Path, list[str]]:
    """Training that was interrupted just before the end, and its options."""
    folder = tmp_path_factory.mktemp("runs") / request.param
    with patch("protgnn.training.train.finish", side_effect=KeyboardInterrupt), pytest.raises(SystemExit):
        main(["train", str(molecules_csv), "--out", str(folder), *OPTIONS[request.param]])
    return folder, OPTIONS[request.param]


@pytest.fixture
def resumed(unfinished, protgnn_command, molecules_csv, tmp_path):
    """Training that goes on from that state with a change to it."""

    def go_on(change: Callable[[dict[str, Any], dict[str, torch.Tensor]], object]):
        folder = Path(shutil.copytree(unfinished[0], tmp_path / "copy"))
        with safetensors.safe_open(folder / STATE_FILE, "pt") as file:
            numbers = json.loads(file.metadata()["state"])
            tensors = {key: file.get_tensor(key) for key in list(file.keys())}
        change(numbers, tensors)
        text, tensors = json.dumps(numbers), {key: value.contiguous() for key, value in tensors.items()}
        metadata = {"state": text, "checksum": state_checksum(text, tensors)}
        (folder / STATE_FILE).write_bytes(safetensors.torch.save(tensors, metadata))
        return protgnn_command("train", molecules_csv, "--out", folder, "--resume", *unfinished[1])

    return go_on


def test_a_state_that_is_only_sealed_again_is_resumed(resumed):
    assert resumed(lambda numbers, tensors: None).status == 0


def first(tensors: dict[str, torch.Tensor], part: str) -> str:
    return next(key for key in sorted(tensors) if key.startswith(part) and tensors[key].dim())


def moment(tensors: dict[str, torch.Tensor]) -> str:
    return next(key for key in sorted(tensors) if key.startswith("optimizer/") and key.endswith("/exp_avg"))


NUMBERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "an epoch as text": lambda n: n.update(epoch="3"),
    "epochs without end": lambda n: n.update(epoch=2**52),
    "an epoch below zero": lambda n: n.update(epoch=-(10**9)),
    "an unknown stage": lambda n: n.update(stage="x"),
    "the stage of another model": lambda n: n.update(stage="mined" if n["stage"] == "anchored" else "anchored"),
    "an unknown field": lambda n: n.update(hook="import os"),
    "a field too few": lambda n: n.pop("best_quality"),
    "a row too few": lambda n: n["rows"].pop(),
    "a row with other figures": lambda n: n["rows"][0].update(a=1),
    "a figure as a list": lambda n: n["rows"][0].update(loss=[1]),
}
SOURCES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a source too few": lambda n: n["sources"].pop(),
    "a graph beyond the data": lambda n: n["sources"][0].update(graph=10**6),
    "a node beyond the graph": lambda n: n["sources"][0].update(nodes=[10**6]),
    "a node below zero": lambda n: n["sources"][0].update(nodes=[-5]),
    "a node twice": lambda n: n["sources"][0].update(nodes=[0, 0]),
    "a class as text": lambda n: n["sources"][0].update(label="high"),
}


@pytest.mark.parametrize("what", NUMBERS)
def test_numbers_that_cannot_be_are_refused_in_a_sentence(resumed, what):
    done = resumed(lambda numbers, tensors: NUMBERS[what](numbers))
    assert done.status == 1 and "start again with --overwrite" in done.err and done.err.count("error: ") == 1


@pytest.mark.parametrize("unfinished", ["learned"], indirect=True)
@pytest.mark.parametrize("what", SOURCES)
def test_prototypes_that_cannot_be_are_refused_in_a_sentence(resumed, what):
    done = resumed(lambda numbers, tensors: SOURCES[what](numbers))
    assert done.status == 1 and "start again with --overwrite" in done.err and done.err.count("error: ") == 1


@pytest.mark.parametrize("unfinished", ["mined"], indirect=True)
def test_prototypes_before_they_are_mined_are_refused_in_a_sentence(resumed):
    source = {"graph": 0, "nodes": [0], "label": 0, "counts": False}
    done = resumed(lambda numbers, tensors: numbers.update(sources=[source]))
    assert (
        done.status == 1
        and "start again with --overwrite" in done.err
        and "sources from the second stage on" in done.err
    )


TENSORS: dict[str, Callable[[dict[str, torch.Tensor]], object]] = {
    "weights of another shape": lambda t: t.update({first(t, "model/"): torch.zeros(0)}),
    "weights that are no numbers": lambda t: t[first(t, "model/encoder.convs.0.first")].fill_(float("nan")),
    "an average of another type": lambda t: t.update({first(t, "average/"): t[first(t, "average/")].cfloat()}),
    "a moment of another shape": lambda t: t.update({moment(t): torch.zeros(0)}),
    "a moment too few": lambda t: t.pop(moment(t)),
    "a moment of no parameter": lambda t: t.update({"optimizer/9999/step": torch.zeros(())}),
    "an unknown part": lambda t: t.update({"__class__/x": torch.zeros(1)}),
}


@pytest.mark.parametrize("what", TENSORS)
def test_tensors_that_cannot_be_are_refused_in_a_sentence(resumed, what):
    done = resumed(lambda numbers, tensors: TENSORS[what](tensors))
    assert done.status == 1 and "start again with --overwrite" in done.err and done.err.count("error: ") == 1
