"""Where trials are recorded: Optuna's journal in the study's folder, or a storage of the user's."""

from __future__ import annotations

import json
import secrets
import warnings
from pathlib import Path
from typing import Any

from protgnn.errors import ProtGNNError
from protgnn.io.atomic_files import write_text
from protgnn.io.seeding import seed_for

JOURNAL, MARK_FILE = "journal.log", "study.id"
STARTUP_TRIALS = 5
"""Trials before which none is pruned."""


def open_study(folder: Path, storage: str | None, terms: dict[str, str], warm_up: int) -> Any:
    """The Optuna study of a folder, made if it is new; call it while the study is locked.

    Args:
        folder: Where the runs are; every worker sees it.
        storage: URL of an Optuna storage (``postgresql://…``, ``sqlite:///…``, ``grpc://host:port``); else the journal
            in the folder.
        terms: What all workers of a study must have in common, by name.
        warm_up: Epochs, or folds, of a trial before which it is not pruned.

    Raises:
        ProtGNNError: The storage cannot be opened, or the study was begun on other terms.
    """
    optuna = _optuna()
    try:
        study = optuna.create_study(
            storage=_storage(optuna, folder, storage),
            study_name=_mark(folder),
            direction="maximize",
            pruner=optuna.pruners.MedianPruner(STARTUP_TRIALS, warm_up),
            load_if_exists=True,
        )
    except ProtGNNError:
        raise
    except Exception as error:  # what a database, its driver or a network raises is of no common kind
        where = folder / JOURNAL if storage is None else "the storage"
        raise ProtGNNError(f"Cannot open {where}: {type(error).__name__}: {_first_line(error)}") from None
    before = study.user_attrs.get("terms")
    if before is None:
        study.set_user_attr("terms", terms)
    elif before != terms:
        other = [name for name in terms if before.get(name) != terms[name]]
        raise ProtGNNError(
            f"The study {folder} was begun with another {' and another '.join(other)}: give the same options, or "
            "choose another --study"
        )
    return study


def sampler_for(seed: int, number: int) -> Any:
    """The sampler of a trial: a stream of its own, so that workers of one seed do not draw the same."""
    optuna = _optuna()
    return optuna.samplers.TPESampler(seed=seed_for(seed, "sweep", number) % 2**32, constant_liar=True)


def space_terms(content: Any) -> str:
    """Anything that JSON can hold as a text to compare."""
    return json.dumps(content, sort_keys=True)


def _mark(folder: Path) -> str:
    """The name of the folder's study: drawn once, so that a storage that many use can tell studies apart, and that
    workers who do not share the folder do not share the study."""
    path = folder / MARK_FILE
    if not path.exists():
        write_text(path, f"protgnn-{secrets.token_hex(8)}\n")
    return path.read_text(encoding="utf-8").strip()


def _storage(optuna: Any, folder: Path, url: str | None) -> Any:
    if url is None:
        from optuna.storages.journal import JournalFileBackend

        return optuna.storages.JournalStorage(JournalFileBackend(str(folder / JOURNAL)))
    if url.startswith("grpc://"):
        host, _, port = url.removeprefix("grpc://").partition(":")
        if not host or not port.isdigit():
            raise ProtGNNError(f"Expected a storage grpc://host:port (got {url!r})")
        return optuna.storages.GrpcStorageProxy(host=host, port=int(port))
    if "://" not in url:
        raise ProtGNNError(f"Expected the URL of an Optuna storage, such as sqlite:///study.db (got {url!r})")
    return optuna.storages.RDBStorage(url)


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise ProtGNNError("Sweeps need Optuna: pip install 'protgnn[sweep]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0][:200] if lines else ""
