"""Cross-validation: a run for each fold, in folders of their own, and what they have in common.

======================  =====================================================================================
``fold-1/``, …          ordinary run directories, each tested on another fold and validated on the one after it
``folds.json``          every score of every fold, their mean and standard deviation; written when all are done
======================  =====================================================================================

Killed at any moment, it goes on where it stopped: finished folds stay, the one that was interrupted is resumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from protgnn.errors import ProtGNNError
from protgnn.io.atomic_files import write_json
from protgnn.io.torchrun import launched_rank
from protgnn.training.checkpoint import OnEpoch
from protgnn.training.folder_checks import FOLDS_FILE, fold_folder, refuse_other_folds
from protgnn.training.resolve import resolve
from protgnn.training.run import Run
from protgnn.training.run_folder import finished_run
from protgnn.training.train import SplitData, train_in

FOLDS_VERSION = 1
SCORES = (
    "accuracy",
    "majority_baseline",
    "balanced_accuracy",
    "roc_auc",
    "average_precision",
    "mcc",
    "brier",
    "ece",
    "loss",
)
"""Which scores of the test sets are summed up."""


@dataclass(frozen=True)
class Fold:
    """What one fold trains, validates and tests on, and what its run directory will say of it."""

    parts: SplitData
    run: Run


def train_folds(
    folder: Path, folds: Sequence[Fold], on_epoch: OnEpoch | None = None, resume: bool = False, overwrite: bool = False
) -> Iterator[Run]:
    """Train every fold into a run directory of its own, and give each finished run as soon as it is done.

    Args:
        folder: Where the run directories are written.
        folds: What to train.
        on_epoch: Is called after every epoch of every fold.
        resume: Go on with folds that were interrupted; those that are finished stay.
        overwrite: Replace the folds that are there.

    Raises:
        ProtGNNError: The folder holds something else, or folds of another recipe, data or split.
    """
    if launched_rank()[1] > 1:
        raise ProtGNNError("Folds are trained one after another by one process: start it without torchrun")
    refuse_other_folds(folder, len(folds), resume, overwrite)
    for number, fold in enumerate(folds, 1):
        own, train = fold_folder(folder, number), fold.parts.train
        settled = replace(fold.run, recipe=resolve(fold.run.recipe, train))
        done = finished_run(own, settled, partial(resolve, train=train)) if resume else None
        yield done or train_in(own, fold.parts, fold.run, None, on_epoch, resume, overwrite)[1]


def summary_of(runs: Sequence[Run]) -> dict[str, Any]:
    """Every score of the test set of every fold, their mean and standard deviation (n - 1), ready for JSON."""
    tests = [run.scores["test"] for run in runs]
    found: dict[str, Any] = {}
    for name in SCORES:
        values = [test.get(name) for test in tests]
        known = [value for value in values if value is not None]
        if known:
            found[name] = {"mean": fmean(known), "std": stdev(known) if len(known) > 1 else 0.0, "folds": values}
    return {"schema_version": FOLDS_VERSION, "folds": len(runs), "n": [test["n"] for test in tests], "scores": found}


def write_summary(folder: Path, runs: Sequence[Run]) -> dict[str, Any]:
    """Write ``folds.json``, and return what is in it."""
    summary = summary_of(runs)
    write_json(folder / FOLDS_FILE, summary)
    return summary
