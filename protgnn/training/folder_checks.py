"""Whether a folder may be written to or holds a run, as far as its files' names tell. Needs no PyTorch, so that a
mistake is told at once."""

from __future__ import annotations

import re
from pathlib import Path

from protgnn.errors import ProtGNNError, RunError
from protgnn.io.atomic_files import unfinished_name
from protgnn.io.lock import LOCK_FILE

RUN_FILE, FOLDS_FILE = "run.json", "folds.json"


def refuse_taken(folder: Path, resume: bool, overwrite: bool) -> None:
    """Refuse a folder for a new run that holds something that must not be replaced."""
    try:
        taken = folder.exists()
    except OSError as error:
        raise ProtGNNError(f"Cannot write {folder}: {error.strerror}") from None
    if taken and not folder.is_dir():
        raise ProtGNNError(f"{folder} is a file: choose another --out")
    if (folder / RUN_FILE).exists() and not (resume or overwrite):
        raise ProtGNNError(f"{folder} holds a run already: --resume continues it, --overwrite replaces it")


def refuse_other_files(folder: Path) -> None:
    """Refuse a folder that is not empty and holds no run."""
    others = [path.name for path in folder.iterdir() if not _passing(path.name)] if folder.exists() else []
    if others and not (folder / RUN_FILE).exists():
        raise ProtGNNError(f"{folder} is not empty and not a run: choose another --out")


def _passing(name: str) -> bool:
    """Whether a name is that of a lock or of a file that is being written."""
    return name == LOCK_FILE or unfinished_name(name) is not None


def require_run(folder: Path) -> None:
    """Refuse what is no run directory."""
    if not _is_directory(folder):
        raise RunError(f"There is no run directory {folder}: make one with `protgnn train … --out {folder}`")
    if not (folder / RUN_FILE).exists():
        raise RunError(f"{folder} is not a run directory: it has no {RUN_FILE}")


def _is_directory(folder: Path) -> bool:
    """Whether there is such a folder; its name may be too long or too strange to be one."""
    try:
        return folder.is_dir()
    except (OSError, ValueError):
        return False


def fold_folder(folder: Path, number: int) -> Path:
    """Where the run of a fold, counted from 1, is."""
    return folder / f"fold-{number}"


def refuse_other_folds(folder: Path, count: int, resume: bool, overwrite: bool) -> None:
    """Refuse a folder for so many folds that holds something else, or folds that must not be replaced."""
    try:
        names = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    except OSError as error:
        raise ProtGNNError(f"Cannot write {folder}: {error.strerror}") from None
    if RUN_FILE in names:
        raise ProtGNNError(f"{folder} holds a run: choose another --out for folds")
    own = {fold_folder(folder, number).name for number in range(1, count + 1)}
    for name in names:
        if name in own and not (resume or overwrite):
            raise ProtGNNError(f"{folder} holds folds already: --resume continues them, --overwrite replaces them")
        if name in own or FOLDS_FILE in (name, unfinished_name(name)):
            continue
        if re.fullmatch(r"fold-\d+", name):
            raise ProtGNNError(f"{folder} holds {name}, and {count} folds are asked for: choose another --out")
        raise ProtGNNError(f"{folder} is not empty and does not hold folds: choose another --out")
