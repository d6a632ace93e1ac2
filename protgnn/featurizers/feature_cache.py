"""Rows of features that take long to compute, kept on disk: half floats that are mapped into memory, not read.

An entry of the cache is a folder named by a key. While it is being computed it holds ``rows.part`` and how many steps
of it are done; when the last is, the file is renamed to ``rows.f16``. Killed at any moment, the next run goes on with
the step that was not done. Every entry may be removed at any time: it will be computed again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sized
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from protgnn.errors import DataError
from protgnn.io.atomic_files import write_text
from protgnn.io.lock import locked
from protgnn.io.progress import ProgressBar

CACHE_VARIABLE = "PROTGNN_CACHE"
_ROWS, _UNFINISHED, _STEPS = "rows.f16", "rows.part", "steps"

FillStep = Callable[[int, np.ndarray], None]
"""Computes the rows of one step and writes them into ``[N, F]``."""


def cache_folder() -> Path:
    """Where what takes long to compute is kept: the folder that ``PROTGNN_CACHE`` names, or that of the user's
    caches."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").expanduser() / "protgnn"


def cached_rows(key: str, shape: tuple[int, int], steps: Sized, fill: FillStep, title: str) -> Tensor:
    """The rows of a key, ``[N, F]`` in half precision, mapped from disk; steps that were never done are done now.

    Args:
        key: A digest of everything that the rows depend on.
        shape: Rows and columns.
        steps: As long as there are steps; it is asked only where some have to be done.
        fill: Fills the rows of a step; those that no step fills are zeros.
        title: What the progress bar says.

    Raises:
        DataError: The cache cannot be written.
        RunError: Another process computes the same rows just now.
    """
    folder = cache_folder() / "words" / key
    done = folder / _ROWS
    if not _is_whole(done, shape):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with locked(folder):
                if not _is_whole(done, shape):  # or another process has done it by now
                    _compute(folder, shape, len(steps), fill, title)
        except OSError as error:
            raise DataError(
                f"Cannot write {folder} ({error.strerror}): set {CACHE_VARIABLE} to a folder with room for it"
            ) from None
    # A private mapping: what anyone does to the tensor never reaches the file.
    rows = torch.from_file(str(done), shared=False, size=shape[0] * shape[1], dtype=torch.float16)
    return rows.view(shape)


def _is_whole(path: Path, shape: tuple[int, int]) -> bool:
    return path.is_file() and path.stat().st_size == 2 * shape[0] * shape[1]


def _compute(folder: Path, shape: tuple[int, int], steps: int, fill: FillStep, title: str) -> None:
    path, counted = folder / _UNFINISHED, folder / _STEPS
    start = _steps_done(counted) if _is_whole(path, shape) else 0
    if not start:
        with path.open("wb") as file:
            file.truncate(2 * shape[0] * shape[1])
    rows = np.memmap(path, np.float16, "r+", shape=shape)
    with ProgressBar(title, steps - start) as bar:  # what is left, so that the time left is right
        for step in range(start, steps):
            fill(step, rows)
            rows.flush()  # before the step counts as done
            write_text(counted, str(step + 1))
            bar.update(step + 1 - start, "")
    del rows
    os.replace(path, folder / _ROWS)
    counted.unlink(missing_ok=True)


def _steps_done(path: Path) -> int:
    try:
        text = path.read_text()
    except OSError:
        return 0
    return int(text) if text.isdecimal() else 0
