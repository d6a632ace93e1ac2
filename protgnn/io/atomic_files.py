"""Files that are either whole or not there: written beside, flushed, then renamed into place."""

from __future__ import annotations

import contextlib
import csv
import glob
import hashlib
import io
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from protgnn.errors import ProtGNNError

_UNFINISHED = ".unfinished"
_FORMULA = ("=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠")  # how a cell begins that a spreadsheet would run
_NUMBER_OR_DASH = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|-")


def write_bytes(path: Path, content: bytes) -> None:
    """Write atomically: a reader sees the old file or the new one, never half of one.

    A link is followed; a pipe or a device, which cannot be replaced, is written to.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(content)
            return
        path = Path(os.path.realpath(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_UNFINISHED)
    except OSError as error:
        raise ProtGNNError(f"Cannot write {path}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
        sync_folder(path.parent)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise ProtGNNError(f"Cannot write {path}: {error.strerror}") from None
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Make a rename outlast a loss of power, where the platform lets folders be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    """What a user does not want others to be allowed; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def unfinished_name(name: str) -> str | None:
    """The name of the file that is being written, or was when its process was killed, under this other name."""
    if name.startswith(".") and name.endswith(_UNFINISHED):
        return name[1 : -len(_UNFINISHED)].rpartition(".")[0] or None
    return None


def remove_unfinished(path: Path) -> None:
    """Remove what processes that were killed while writing this file have left beside it."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*{_UNFINISHED}"):
        with contextlib.suppress(OSError):  # a folder of that name is not ours
            left.unlink(missing_ok=True)


def write_text(path: Path, content: str) -> None:
    """Write text atomically, as UTF-8."""
    write_bytes(path, content.encode("utf-8"))


def write_json(path: Path, content: Any) -> None:
    """Write JSON atomically; NaN and infinity are not JSON and are refused."""
    write_text(path, json.dumps(content, indent=2, allow_nan=False) + "\n")


def csv_text(rows: list[dict[str, Any]]) -> str:
    """Rows of the same keys as CSV with a header; the empty text for no rows.

    Numbers stay numbers. A text that a spreadsheet would run as a formula, because it begins with ``=``, ``+``, ``-``,
    ``@``, a tab or a line end, gets a ``'`` before it, by which spreadsheets know text. A text that is a number,
    such as the class ``-1``, and a lone ``-`` are no formulas and stay; no SMILES that RDKit reads begins so.
    """
    text = io.StringIO()
    if rows:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(spreadsheet_cell, rows[0]))
        writer.writerows([spreadsheet_cell(row[key]) for key in rows[0]] for row in rows)
    return text.getvalue()


def spreadsheet_cell(cell: Any) -> Any:
    """A cell that no spreadsheet runs, and whose line ends a CSV can quote."""
    if isinstance(cell, str):
        cell = cell.replace("\r\n", "\n").replace("\r", "\n")
    if isinstance(cell, str) and cell.startswith(_FORMULA) and not _NUMBER_OR_DASH.fullmatch(cell):
        return f"'{cell}"
    return cell


def sha256(path: Path) -> str:
    """The checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
