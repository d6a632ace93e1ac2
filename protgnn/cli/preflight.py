"""Mistakes that can be told before PyTorch is imported, which takes most of a second: a file that is not there, a wrong
column, an ``--out`` that is taken. The commands find the same mistakes later; here they are only found sooner."""

from __future__ import annotations

import os
from pathlib import Path

from protgnn.datasets.readers.find_columns import find_columns
from protgnn.datasets.readers.open_table import is_table, open_table
from protgnn.datasets.readers.options import SMILES, TEXT, ReadOptions
from protgnn.errors import DataError
from protgnn.io.structure_files import MOLBLOCK
from protgnn.io.tables import Table, named_column, option
from protgnn.io.text import ending, nothing_there
from protgnn.io.text_stream import is_long
from protgnn.training.folder_checks import refuse_other_files, refuse_other_folds, refuse_taken, require_run

_OTHER_ENDINGS = (".jsonl", ".txt", ".conllu", ".conllu.gz")


def check_data(name: str, smiles: str | None, text: str | None, label: str | None, to_learn: bool = True) -> None:
    """Refuse data that is not there or lacks a column; ``to_learn`` needs a label column even if none is named."""
    path = _existing(name)
    if path is None:
        if (os.sep in name or _is_file_name(name)) and not _in_data_folder(name):
            raise DataError(nothing_there(name))
        return
    if not is_table(path) or not path.is_file() or is_long(path):
        return
    table, problems = open_table(path), []
    for column, chosen_by in ((label, "label"), (smiles, "smiles"), (text, "text")):
        if column is not None and MOLBLOCK not in table.header:
            try:
                named_column(path, table.header, column, option(chosen_by))
            except DataError as error:
                problems.append(str(error))
    if problems:
        raise DataError("\n".join(problems))
    if to_learn and (smiles is None or text is None):
        _check_guesses(table, smiles, text, label)


def check_input(run: Path, source: str, smiles: str | None = None, text: str | None = None) -> None:
    """Refuse a run that is none, and input that is the name of a file that is not there, or lacks a column."""
    require_run(run)
    if _existing(source) is None and _is_file_name(source) and not any(map(str.isspace, source)):
        raise DataError(f"{source}: there is no such file")
    if _existing(source) is not None:
        check_data(source, smiles, text, None, to_learn=False)


def check_out(folder: Path, resume: bool, overwrite: bool, folds: int | None = None) -> None:
    """Refuse a run directory, or one for so many folds, that is taken."""
    if folds is not None:
        return refuse_other_folds(folder, folds, resume, overwrite)
    refuse_taken(folder, resume, overwrite)
    if not (resume or overwrite):
        refuse_other_files(folder)


def check_run(folder: Path) -> None:
    """Refuse what is no run directory."""
    require_run(folder)


def _check_guesses(table: Table, smiles: str | None, text: str | None, label: str | None) -> None:
    lower = {name.lower() for name in table.header}
    kind = SMILES if smiles or lower & set(SMILES.columns) or MOLBLOCK in lower else None
    kind = TEXT if text or (kind is None and lower & set(TEXT.columns)) else kind
    if kind is not None:
        find_columns(table, kind, ReadOptions(smiles, text, label), "needed")


def _existing(text: str) -> Path | None:
    try:
        path = Path(text).expanduser()
        return path if path.exists() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _is_file_name(text: str) -> bool:
    path = Path(text)
    return is_table(path) or ending(path) in _OTHER_ENDINGS


def _in_data_folder(name: str) -> bool:
    folder = Path(os.environ.get("PROTGNN_DATA") or "/nowhere").expanduser()
    try:
        return folder.is_dir() and any(path.name.lower() == name.lower() for path in folder.iterdir())
    except OSError:
        return True
