"""Run directories: one trained model and all that is needed to trust, reload and resume it.

======================  =====================================================================================
``run.json``            recipe, schema and origin of the data, split, scores, and the checksum of every file
``model.safetensors``   the weights
``prototypes.…``        the subgraphs of the prototypes, as safetensors; what each is stands in ``run.json``
``log.csv``             one row per epoch
``state.safetensors``   where unfinished training stands; removed when it is done
``report.html``         what `protgnn report` has made of it, if asked
``tensorboard/``        the same curves for TensorBoard, where it is installed
======================  =====================================================================================

Opening one runs nobody's code: tensors are safetensors, everything else is JSON with a schema version.
``run.json`` is written last, so a directory without a finished one is a run that did not finish.
"""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor, nn, tensor

from protgnn.errors import ProtGNNError, RunError
from protgnn.graphs.packed import GraphSet
from protgnn.graphs.schema import Schema
from protgnn.graphs.splits import Split
from protgnn.model.classifier import GraphClassifier
from protgnn.training.build import build
from protgnn.training.files import csv_text, remove_unfinished, sha256, write_bytes, write_json, write_text
from protgnn.training.prototypes import PrototypeCard, Prototypes
from protgnn.training.recipe import RETIRED, Recipe, make_recipe
from protgnn.training.state import LOG_FILE, STATE_FILE, TENSORBOARD, TrainingState
from protgnn.version import VERSION

RUN_FILE, MODEL_FILE, PROTOTYPE_FILE = "run.json", "model.safetensors", "prototypes.safetensors"
REPORT_FILE = "report.html"
RUN_VERSION = 1


@dataclass(frozen=True)
class DataCard:
    """Which data a run was trained on: enough to read it again and to tell whether it changed."""

    source: str
    fingerprint: str
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """Everything in ``run.json``."""

    recipe: Recipe
    schema: Schema
    data: DataCard | None = None
    split: Split | None = None
    finished: bool = False
    scores: dict[str, Any] = field(default_factory=dict)
    prototypes: Prototypes | None = None
    labels: list[Any] | None = None
    """What the estimator's user calls the classes, where other than 0, 1, 2, …"""
    seen: list[int] | None = None
    """The columns of node features that were anything but zero in the training part."""

    def to_json(self) -> dict[str, Any]:
        parts = None
        if self.split is not None:
            parts = {name: getattr(self.split, name).tolist() for name in ("train", "valid", "test")}
        return {
            "schema_version": RUN_VERSION,
            "protgnn_version": VERSION,
            "finished": self.finished,
            "recipe": self.recipe.model_dump(),
            "schema": self.schema.to_json(),
            "data": None if self.data is None else vars(self.data),
            "scores": self.scores,
            "prototypes": None if self.prototypes is None else [vars(card) for card in self.prototypes.cards],
            "split": parts,
            "labels": self.labels,
            "seen": self.seen,
        }

    @classmethod
    def from_json(cls, content: dict[str, Any], subgraphs: GraphSet | None = None) -> Run:
        split = content["split"]
        cards = tuple(PrototypeCard(**card) for card in content["prototypes"] or ())
        return cls(
            recipe=make_recipe(**{key: value for key, value in content["recipe"].items() if key not in RETIRED}),
            schema=Schema.from_json(content["schema"]),
            data=None if content["data"] is None else DataCard(**content["data"]),
            split=None if split is None else Split(**{name: tensor(part) for name, part in split.items()}),
            finished=content["finished"],
            scores=content["scores"],
            prototypes=None if subgraphs is None else Prototypes(cards, subgraphs),
            labels=content["labels"],
            seen=content.get("seen"),
        )


def write_run(folder: Path, run: Run, model: GraphClassifier | None = None, state: TrainingState | None = None) -> None:
    """Write a run; with a model it is finished and sealed by checksums, without one it is only begun."""
    files = {}
    if model is not None:
        weights = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}
        write_bytes(folder / MODEL_FILE, safetensors.torch.save(weights))
        write_text(folder / LOG_FILE, csv_text([] if state is None else state.rows))
        names = [MODEL_FILE, LOG_FILE]
        if run.prototypes is not None:
            write_bytes(folder / PROTOTYPE_FILE, safetensors.torch.save(_tensors(run.prototypes.subgraphs)))
            names.append(PROTOTYPE_FILE)
        files = {name: sha256(folder / name) for name in names}
    content = {**run.to_json(), "files": files}
    write_json(folder / RUN_FILE, {**content, "checksum": _checksum(content)})
    if model is not None:
        (folder / STATE_FILE).unlink(missing_ok=True)


def save_run(folder: Path, run: Run, model: GraphClassifier, state: TrainingState) -> None:
    """Write a run that was trained elsewhere, if need be in the place of a finished one; others may still go on."""
    if (folder / STATE_FILE).exists():
        raise RunError(f"{folder} holds training that did not finish: continue it, or choose another folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / RUN_FILE).exists():
        raise RunError(f"{folder} is not empty and not a run: choose another folder")
    write_run(folder, run, model, state)
    (folder / REPORT_FILE).unlink(missing_ok=True)
    shutil.rmtree(folder / TENSORBOARD, ignore_errors=True)


def read_run(folder: Path) -> Run:
    """Read and check ``run.json``, and that the files it names are the ones it was written with."""
    path = folder / RUN_FILE
    if not _is_directory(folder):
        raise RunError(f"There is no run directory {folder}: make one with `protgnn train … --out {folder}`")
    if not path.is_file():
        raise RunError(f"{folder} is not a run directory: it has no {RUN_FILE}")
    try:
        content = json.loads(path.read_bytes())
        if content["schema_version"] != RUN_VERSION:
            version = content["schema_version"]
            raise RunError(f"{path} has schema version {version}, this protgnn reads {RUN_VERSION}: upgrade protgnn")
        claimed = content.pop("checksum")
        if claimed != _checksum(content):
            raise RunError(f"{path} was changed after it was written: restore it or train again")
        for name, expected in content["files"].items():
            if name == LOG_FILE:  # the model does without; who wants its curves checks it
                continue
            if not (folder / name).is_file():
                raise RunError(f"{folder / name} is missing: restore it or train again")
            if sha256(folder / name) != expected:
                raise RunError(f"{folder / name} was changed after it was written: restore it or train again")
        subgraphs = None
        if PROTOTYPE_FILE in content["files"]:
            tensors: dict[str, Any] = safetensors.torch.load_file(folder / PROTOTYPE_FILE)
            names = tuple(card["name"] or "" for card in content["prototypes"])
            subgraphs = GraphSet(**tensors, names=names, schema=Schema.from_json(content["schema"]))
        return Run.from_json(content, subgraphs)
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        safetensors.SafetensorError,
    ) as error:
        raise RunError(f"{path} is damaged ({error}): restore it or train again") from None


def load_model(folder: Path, encoder: nn.Module | None = None) -> tuple[GraphClassifier, Run]:
    """The trained model of a finished run, ready to predict, and what it was made from."""
    run = read_run(folder)
    if not run.finished:
        raise RunError(f"{folder} holds training that did not finish: continue it with `protgnn train … --resume`")
    try:
        weights: dict[str, Tensor] = safetensors.torch.load_file(folder / MODEL_FILE)
        classes = None if run.prototypes is None else tensor([card.label for card in run.prototypes.cards])
        model = build(run.recipe, run.schema, encoder, classes)
        model.load_state_dict(weights)
    except (OSError, RuntimeError, safetensors.SafetensorError) as error:
        raise RunError(f"{folder / MODEL_FILE} does not fit its recipe: {error}") from None
    return model.eval(), run


def read_rows(folder: Path) -> list[dict[str, float]]:
    """How training went, an epoch in each row; none where the log was not kept, and an error where it was changed."""
    path = folder / LOG_FILE
    if not path.is_file():
        return []
    try:
        sealed = json.loads((folder / RUN_FILE).read_bytes())["files"].get(LOG_FILE)
        if sealed not in (None, sha256(path)):
            raise ValueError("it was changed after it was written")
        with path.open(newline="", encoding="utf-8") as file:
            return [
                {name: int(cell) if name == "epoch" else float(cell) for name, cell in row.items()}
                for row in csv.DictReader(file)
            ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(f"{path} is damaged ({error}): restore it, or remove it to do without curves") from None


def differences(recipe: Recipe, other: Recipe) -> str:
    """The keys in which two recipes differ, in words."""
    mine, theirs = recipe.model_dump(), other.model_dump()
    return ", ".join(f"{key} was {mine[key]} and is now {theirs[key]}" for key in mine if mine[key] != theirs[key])


def begin(folder: Path, run: Run, resume: bool, overwrite: bool) -> TrainingState | None:
    """Make the directory ready for training; the state to go on from where ``resume`` finds one."""
    try:
        taken = folder.exists()
    except OSError as error:
        raise ProtGNNError(f"Cannot write {folder}: {error.strerror}") from None
    if resume or overwrite:
        _sweep(folder)
    if (folder / RUN_FILE).exists() and resume:
        before = read_run(folder)
        if before.finished:
            raise RunError(f"{folder} is finished: nothing to resume")
        changed = differences(before.recipe, run.recipe)
        if changed:
            raise ProtGNNError(f"Cannot resume {folder} with another recipe: {changed}")
        if before.data is not None and run.data is not None and before.data.fingerprint != run.data.fingerprint:
            raise ProtGNNError(f"Cannot resume {folder}: the data has changed since it was begun")
        if not _same_split(before.split, run.split):
            raise ProtGNNError(f"Cannot resume {folder}: the split of the data has changed since it was begun")
        return TrainingState.load(folder)
    if taken and not folder.is_dir():
        raise ProtGNNError(f"{folder} is a file: choose another --out")
    if (folder / RUN_FILE).exists() and not overwrite:
        raise ProtGNNError(f"{folder} holds a run already: --resume continues it, --overwrite replaces it")
    if taken and any(folder.iterdir()) and not (folder / RUN_FILE).exists():
        raise ProtGNNError(f"{folder} is not empty and not a run: choose another --out")
    if taken:
        (folder / STATE_FILE).unlink(missing_ok=True)
        shutil.rmtree(folder / TENSORBOARD, ignore_errors=True)
    write_run(folder, run)
    # What is left of a run that is replaced; the new one no longer names it.
    for name in (MODEL_FILE, PROTOTYPE_FILE, LOG_FILE, REPORT_FILE):
        (folder / name).unlink(missing_ok=True)
    return None


def _same_split(one: Split | None, other: Split | None) -> bool:
    if one is None or other is None:
        return one is other
    return all(getattr(one, part).tolist() == getattr(other, part).tolist() for part in ("train", "valid", "test"))


def _is_directory(path: Path) -> bool:
    """Whether it is there and a directory; a name may also be too long or too strange to be there."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _sweep(folder: Path) -> None:
    """Remove what a killed process was just writing."""
    for name in (RUN_FILE, MODEL_FILE, PROTOTYPE_FILE, LOG_FILE, STATE_FILE):
        remove_unfinished(folder / name)


def _tensors(graphs: GraphSet) -> dict[str, Tensor]:
    return {name: value.contiguous() for name, value in vars(graphs).items() if isinstance(value, Tensor)}


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
