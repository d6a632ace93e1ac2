"""Run directories: one trained model and all that is needed to trust, reload and resume it.

======================  =====================================================================================
``run.json``            recipe, schema and origin of the data, split, scores, and the checksum of every file
``model.safetensors``   the weights
``prototypes.…``        the subgraphs of the prototypes, as safetensors; what each is stands in ``run.json``
``log.csv``             one row per epoch
``state.safetensors``   where unfinished training stands; removed when it is done
``.replacement/``       unfinished training that will replace the run; the run stays usable until it does
``report.html``         what `protgnn report` has made of it, if asked
``tensorboard/``        the same curves for TensorBoard, where it is installed
======================  =====================================================================================

Opening one runs nobody's code: tensors are safetensors, everything else is JSON with a schema version, checked field
by field (``run_file.py``). Only plain files inside the folder are read or written. ``run.json`` is written last and in
one step, and names its files, so a run is whole or it did not finish. The files of a run that replaces another carry a
part of their checksum in their names, so that both are whole until the new ``run.json`` is there.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn, tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.data.split import Split
from protgnn.errors import ProtGNNError, RunError
from protgnn.featurizers.molecule import parse, quiet
from protgnn.model.classifier import GraphClassifier
from protgnn.model.mined import ProtGNNMined
from protgnn.model.readout import targets_read
from protgnn.training.build import build
from protgnn.training.edits import Edits
from protgnn.training.folder_checks import RUN_FILE, require_run
from protgnn.training.prototype_cards import PrototypeCard, Prototypes
from protgnn.training.recipe import DEFAULTS_BEFORE, RETIRED, Recipe, make_recipe
from protgnn.training.run_file import (
    LOG_FILE,
    LOG_NAME,
    OLDEST_VERSION,
    RUN_VERSION,
    RunFile,
    check_size,
    check_weights,
    checked_run_file,
    checked_subgraphs,
)
from protgnn.version import VERSION

DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, safetensors.SafetensorError)
"""What reading a file that is not what it should be may end in."""
RENAMED = {"origin": "n_id", "outside": "missing_degree", "node_truth": "node_mask"}
"""What tensors of stored prototypes were called in version 1."""


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
    """The columns of node features that were anything but zero in the training set."""
    vocabulary: frozenset[str] | None = None
    """The words of the training set, where it is sentences."""
    edits: Edits | None = None
    """What was done to the prototypes by hand."""

    def to_json(self) -> dict[str, Any]:
        parts = None
        if self.split is not None:
            parts = {name: getattr(self.split, name).tolist() for name in ("train", "valid", "test")}
        edits = {} if self.edits is None else {"edits": self.edits.model_dump()}
        return edits | {
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
            "vocabulary": None if self.vocabulary is None else " ".join(sorted(self.vocabulary)),
        }

    @classmethod
    def from_file(cls, content: RunFile, subgraphs: GraphSet | None = None) -> Run:
        """The run of a checked ``run.json``."""
        stored = content.model_dump(by_alias=True)
        cards = tuple(PrototypeCard(**card) for card in stored["prototypes"] or ())
        split = stored["split"]
        kept = {key: value for key, value in content.recipe.items() if key not in RETIRED}
        return cls(
            recipe=make_recipe(**{**DEFAULTS_BEFORE, **kept}),
            schema=Schema.from_json(stored["schema"]),
            data=None if stored["data"] is None else DataCard(**stored["data"]),
            split=None if split is None else Split(**{name: _numbers(part) for name, part in split.items()}),
            finished=content.finished,
            scores=content.scores.model_dump(exclude_unset=True),
            prototypes=None if subgraphs is None else Prototypes(cards, subgraphs),
            labels=content.labels,
            seen=content.seen,
            vocabulary=None if content.vocabulary is None else frozenset(content.vocabulary.split(" ")),
            edits=content.edits,
        )


def _numbers(values: list[int]) -> Tensor:
    return tensor(values, dtype=torch.int64)


def read_run(folder: Path) -> Run:
    """Read and check ``run.json``, and that the files it names are the ones it was written with."""
    return _read(folder)[0]


def _read(folder: Path) -> tuple[Run, RunFile]:
    path = folder / RUN_FILE
    require_run(folder)
    try:
        content = json.loads(read_plain(path))
        version = content["schema_version"]
        if type(version) is not int or not OLDEST_VERSION <= version <= RUN_VERSION:
            known = f"{OLDEST_VERSION} to {RUN_VERSION}"
            raise RunError(
                f"{path} has schema version {str(version)[:20]}, this protgnn reads {known}: upgrade protgnn"
            )
        claimed = content.pop("checksum")
        if claimed != run_checksum(content):
            raise RunError(f"{path} was changed after it was written: restore it or train again")
        checked = checked_run_file(content)
        subgraphs = None
        for name, expected in checked.files.items():
            if name.startswith("log."):  # the model does without; who wants its curves checks it
                continue
            stored = _read_sealed(folder / name, expected)
            if name.startswith("prototypes."):
                tensors = {RENAMED.get(key, key): value for key, value in safetensors.torch.load(stored).items()}
                subgraphs = checked_subgraphs(tensors, checked.prototypes or [], Schema.from_json(content["schema"]))
                _check_atoms(subgraphs, checked)
        run = Run.from_file(checked, subgraphs)
        wanted = targets_read(run.recipe.readout)
        if wanted and subgraphs is not None and (subgraphs.targets is None or subgraphs.targets.shape[1] != wanted):
            raise ValueError("the tensor targets does not fit the prototypes")
        return run, checked
    except RunError:
        raise
    except (*DAMAGED, ProtGNNError) as error:
        raise RunError(f"{path} is damaged ({error}): restore it or train again") from None


def _check_atoms(subgraphs: GraphSet, checked: RunFile) -> None:
    """Refuse prototypes whose nodes are not atoms of the molecule that they are said to be of."""
    if subgraphs.schema.featurizer != "molecule":
        return
    with quiet():
        for number, card in enumerate(checked.prototypes or ()):
            mol = parse(card.name or "")
            if mol is None or max(card.nodes) >= mol.GetNumAtoms():
                raise ValueError(f"prototype {number} has atoms that its molecule has not")


def read_plain(path: Path) -> bytes:
    """The bytes of a plain file inside a run; links, devices and pipes are refused."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        kind = os.fstat(file.fileno())
        if not stat.S_ISREG(kind.st_mode):
            raise RunError(f"{path} is no plain file: restore it or train again")
        check_size(kind.st_size, str(path), "run_file_bytes" if path.name == RUN_FILE else "run_bytes")
        return file.read()


def _read_sealed(path: Path, expected: str) -> bytes:
    """The bytes of a file that ``run.json`` names."""
    if path.is_symlink():
        raise RunError(f"{path} is a link, and only plain files inside a run are read: restore it or train again")
    if not path.is_file():
        raise RunError(f"{path} is missing: restore it or train again")
    content = read_plain(path)
    if hashlib.sha256(content).hexdigest() != expected:
        raise RunError(f"{path} was changed after it was written: restore it or train again")
    return content


def load_model(folder: Path, encoder: nn.Module | None = None) -> tuple[GraphClassifier, Run]:
    """The trained model of a finished run, ready to predict, and what it was made from."""
    run, checked = _read(folder)
    if not run.finished:
        raise RunError(f"{folder} holds training that did not finish: continue it with `protgnn train … --resume`")
    path = folder / next(name for name in checked.files if name.startswith("model."))
    try:
        weights: dict[str, Tensor] = safetensors.torch.load(_read_sealed(path, checked.files[path.name]))
        classes = None if run.prototypes is None else tensor([card.label for card in run.prototypes.cards])
        with torch.device("meta"):  # shapes alone: a recipe may ask for gigabytes that the weights do not have
            wanted = build(run.recipe, run.schema, encoder, classes).state_dict()
        check_weights(weights, wanted)
        if classes is not None and weights["head.classes"].tolist() != classes.tolist():
            raise RunError("the prototypes are of other classes than run.json says")
        model = build(run.recipe, run.schema, encoder, classes)
        model.load_state_dict(weights)
        if isinstance(model, ProtGNNMined) and run.prototypes is not None:
            model.set_looks(run.prototypes.subgraphs)
    except (OSError, RuntimeError, ValueError, RunError, safetensors.SafetensorError) as error:
        raise RunError(f"{path} does not fit its recipe: {error}") from None
    return model.eval(), run


def read_rows(folder: Path) -> list[dict[str, float]]:
    """How training went, an epoch in each row; none where the log was not kept, and an error where it was changed."""
    path = folder / LOG_FILE
    if not (folder / RUN_FILE).is_file():  # a model that was never stored
        return []
    try:
        files = json.loads(read_plain(folder / RUN_FILE))["files"]
        name = next((name for name in files if re.fullmatch(LOG_NAME, name)), LOG_FILE)
        path = folder / name
        if not path.is_file():
            return []
        content = read_plain(path)
        if files.get(name) not in (None, hashlib.sha256(content).hexdigest()):
            raise ValueError("it was changed after it was written")
        return [
            {column: int(cell) if column == "epoch" else float(cell) for column, cell in row.items()}
            for row in csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""))
        ]
    except DAMAGED as error:
        raise RunError(f"{path} is damaged ({error}): restore it, or remove it to do without curves") from None


def run_checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
