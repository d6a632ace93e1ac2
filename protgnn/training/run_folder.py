"""Writing run directories: begun, sealed, replaced; whole at every moment, one writer at a time."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import safetensors.torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.split import Split
from protgnn.errors import ProtGNNError, RunError
from protgnn.io.atomic_files import csv_text, remove_unfinished, unfinished_name, write_bytes, write_json, write_text
from protgnn.io.lock import locked
from protgnn.model.classifier import GraphClassifier
from protgnn.training.checkpoint import STATE_FILE, TENSORBOARD, TrainingState
from protgnn.training.folder_checks import RUN_FILE, refuse_other_files, refuse_taken
from protgnn.training.recipe import Recipe
from protgnn.training.run import Run, read_plain, read_run, run_checksum
from protgnn.training.run_file import FILE_NAME, LOG_FILE, MODEL_FILE, PROTOTYPE_FILE, checked_run_file

REPORT_FILE, REPLACEMENT = "report.html", ".replacement"
SEALED_FILE = "sealed"
"""In the folder of a replacement: the checksum of the run that it became, or is about to become."""
Settle = Callable[[Recipe], Recipe]


def write_run(folder: Path, run: Run, model: GraphClassifier | None = None, state: TrainingState | None = None) -> None:
    """Write a run; with a model it is finished and sealed by checksums, without one it is only begun.

    A finished run that is there already stays whole until ``run.json`` is replaced, in one step.
    """
    before = _named_files(folder)
    files: dict[str, str] = {}
    for name, content in ({} if model is None else _contents(run, model, state)).items():
        checksum = hashlib.sha256(content).hexdigest()
        stem, _, suffix = name.partition(".")
        stored = f"{stem}.{checksum[:8]}.{suffix}" if name in before else name
        write_bytes(folder / stored, content)
        files[stored] = checksum
    record = {**run.to_json(), "files": files}
    checksum = run_checksum(record)
    if (folder / REPLACEMENT).is_dir():
        write_text(folder / REPLACEMENT / SEALED_FILE, checksum)
    write_json(folder / RUN_FILE, {**record, "checksum": checksum})
    if model is not None:
        (folder / STATE_FILE).unlink(missing_ok=True)
        for path in folder.iterdir():  # of the run before, and of one that was killed before it was sealed
            if re.fullmatch(FILE_NAME, path.name) and path.name not in files:
                path.unlink(missing_ok=True)


def _contents(run: Run, model: GraphClassifier, state: TrainingState | None) -> dict[str, bytes]:
    """What is stored beside ``run.json``, by name."""
    weights = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}
    contents = {MODEL_FILE: safetensors.torch.save(weights)}
    contents[LOG_FILE] = csv_text([] if state is None else state.rows).encode()
    if run.prototypes is not None:
        contents[PROTOTYPE_FILE] = safetensors.torch.save(_tensors(run.prototypes.subgraphs))
    return contents


def _named_files(folder: Path) -> set[str]:
    """The files that the finished run of a folder consists of, none where there is none."""
    try:
        content = json.loads(read_plain(folder / RUN_FILE))
        content.pop("checksum")
        return set(checked_run_file(content).files) if content["finished"] else set()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, ProtGNNError):
        return set()


def save_run(folder: Path, run: Run, model: GraphClassifier, state: TrainingState) -> None:
    """Write a run that was trained elsewhere, if need be in the place of a finished one; others may still go on."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / RUN_FILE).exists():
        raise RunError(f"{folder} is not empty and not a run: choose another folder")
    with locked(folder):
        _refuse_odd_entries(folder)
        _clean_up(folder)
        unfinished = (folder / STATE_FILE).exists() and not _named_files(folder)
        if unfinished or (folder / REPLACEMENT).exists():
            raise RunError(f"{folder} holds training that did not finish: continue it, or choose another folder")
        write_run(folder, run, model, state)
        _remove_reports(folder)


def _remove_reports(folder: Path) -> None:
    (folder / REPORT_FILE).unlink(missing_ok=True)
    shutil.rmtree(folder / TENSORBOARD, ignore_errors=True)


def _refuse_odd_entries(folder: Path) -> None:
    """Refuse to write into a run where somebody put a link, a pipe or a folder in the place of a file, or a link in
    the place of a folder: what is written would land elsewhere, or never end."""
    for path in (folder, folder / REPLACEMENT):
        for entry in path.iterdir() if path.is_dir() else ():
            if entry.name in (REPLACEMENT, TENSORBOARD):
                _refuse_odd(entry, stat.S_IFDIR)
            elif entry.name in (RUN_FILE, STATE_FILE, REPORT_FILE, SEALED_FILE) or re.fullmatch(FILE_NAME, entry.name):
                _refuse_odd(entry, stat.S_IFREG)


def _refuse_odd(path: Path, expected: int) -> None:
    found = stat.S_IFMT(path.lstat().st_mode)
    if found != expected:
        kind = {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder"}.get(found, "no plain file")
        raise RunError(f"{path} is {kind}, and only plain files inside a run are written: remove it")


def report_path(folder: Path) -> Path:
    """Where the report of a run goes."""
    path = folder / REPORT_FILE
    if os.path.lexists(path):
        _refuse_odd(path, stat.S_IFREG)
    return path


@dataclass(frozen=True)
class Begun:
    """Training that is about to begin or to go on: the folder that it works in, none where another process writes it,
    and the state to go on from."""

    folder: Path | None
    state: TrainingState | None = None


@contextmanager
def training_in(
    folder: Path, run: Run, resume: bool = False, overwrite: bool = False, settle: Settle = lambda recipe: recipe
) -> Iterator[Begun]:
    """Hold a run directory for training.

    Training that replaces a finished run works in a folder inside it until it is done, so that the finished run stays
    usable.

    Args:
        folder: The run directory.
        run: What is going to be trained.
        resume: Continue training that was interrupted.
        overwrite: Replace the run that is there.
        settle: Chooses by the data what the recipe of a run by an older version leaves open.

    Raises:
        ProtGNNError: The folder holds something else, or another process writes it.
    """
    _refuse_other_folders(folder, resume, overwrite)
    with locked(folder):
        _refuse_odd_entries(folder)
        _sweep(folder)  # under the lock: what another process is writing is not left over
        _clean_up(folder)
        begun = _resumed(folder, run, settle) if resume else None
        yield begun or _begun(folder, run)


def finish(folder: Path, run: Run, model: GraphClassifier, state: TrainingState) -> None:
    """Seal trained weights as the run of a folder, in the place of the one that was there."""
    write_run(folder, run, model, state)
    _clean_up(folder)


def _clean_up(folder: Path) -> None:
    """Remove the folder of a replacement that has become the run; its process may have been killed before it did."""
    work = folder / REPLACEMENT
    try:
        sealed = read_plain(work / SEALED_FILE).decode()
        if json.loads(read_plain(folder / RUN_FILE))["checksum"] != sealed:
            return
    except (OSError, ValueError, KeyError, TypeError, RecursionError, ProtGNNError):
        return
    (folder / REPORT_FILE).unlink(missing_ok=True)
    if (work / TENSORBOARD).is_dir():
        shutil.rmtree(folder / TENSORBOARD, ignore_errors=True)
        (work / TENSORBOARD).rename(folder / TENSORBOARD)
    shutil.rmtree(work, ignore_errors=True)


def _refuse_other_folders(folder: Path, resume: bool, overwrite: bool) -> None:
    refuse_taken(folder, resume, overwrite)
    refuse_other_files(folder)


def _resumed(folder: Path, run: Run, settle: Settle) -> Begun | None:
    """Where interrupted training stands; nothing where none was begun."""
    work = folder / REPLACEMENT if (folder / REPLACEMENT / RUN_FILE).exists() else folder
    _sweep(work)
    if not (work / RUN_FILE).exists():
        return None
    before = read_run(work)
    if before.finished:
        raise RunError(f"{folder} is finished: nothing to resume")
    _refuse_another(folder, before, run, settle)
    return Begun(work, TrainingState.load(work))


def _refuse_another(folder: Path, before: Run, run: Run, settle: Settle) -> None:
    """Refuse to go on with a run of another recipe, other data or another split."""
    changed = differences(settle(before.recipe), run.recipe)
    if changed:
        raise ProtGNNError(f"Cannot resume {folder} with another recipe: {changed}")
    if before.data is not None and run.data is not None and before.data.fingerprint != run.data.fingerprint:
        raise ProtGNNError(f"Cannot resume {folder}: the data has changed since it was begun")
    if not _same_split(before.split, run.split):
        raise ProtGNNError(f"Cannot resume {folder}: the split of the data has changed since it was begun")


def finished_run(folder: Path, run: Run, settle: Settle = lambda recipe: recipe) -> Run | None:
    """The finished run of a folder; nothing where there is none, or one that is being replaced.

    Raises:
        ProtGNNError: It is of another recipe, other data or another split than ``run``.
    """
    if not (folder / RUN_FILE).exists() or (folder / REPLACEMENT / RUN_FILE).exists():
        return None
    before = read_run(folder)
    if not before.finished:
        return None
    _refuse_another(folder, before, run, settle)
    return before


def _begun(folder: Path, run: Run) -> Begun:
    shutil.rmtree(folder / REPLACEMENT, ignore_errors=True)
    if _named_files(folder):
        write_run(folder / REPLACEMENT, run)
        return Begun(folder / REPLACEMENT)
    (folder / STATE_FILE).unlink(missing_ok=True)
    shutil.rmtree(folder / TENSORBOARD, ignore_errors=True)
    write_run(folder, run)
    # What is left of a run that is replaced and was not whole.
    for name in (MODEL_FILE, PROTOTYPE_FILE, LOG_FILE, REPORT_FILE):
        (folder / name).unlink(missing_ok=True)
    return Begun(folder)


def differences(recipe: Recipe, other: Recipe) -> str:
    """The keys in which two recipes differ, in words."""
    mine, theirs = recipe.model_dump(), other.model_dump()
    return ", ".join(f"{key} was {mine[key]} and is now {theirs[key]}" for key in mine if mine[key] != theirs[key])


def _same_split(one: Split | None, other: Split | None) -> bool:
    if one is None or other is None:
        return one is other
    return all(getattr(one, part).tolist() == getattr(other, part).tolist() for part in ("train", "valid", "test"))


def _sweep(folder: Path) -> None:
    """Remove what a killed process was just writing."""
    for path in folder.iterdir() if folder.is_dir() else ():
        name = unfinished_name(path.name)
        if name in (RUN_FILE, STATE_FILE, REPORT_FILE) or (name and re.fullmatch(FILE_NAME, name)):
            remove_unfinished(path.with_name(name))


def _tensors(graphs: GraphSet) -> dict[str, Tensor]:
    return {name: value.contiguous() for name, value in vars(graphs).items() if isinstance(value, Tensor)}
