"""Long output in pieces: a file that is whole or not there, and after a kill goes on where it was.

Rows are appended to ``NAME.partial`` beside the file. Whenever more are to come, ``NAME.partial.json`` is written: how
many bytes are sure, what the writer wants to remember, and a *key*. A partial file belongs to whoever comes with the
same key; it is then cut back to the sure bytes and continued. With any other key it is begun anew. The finished file is
renamed into place.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from protgnn.errors import ProtGNNError
from protgnn.io.atomic_files import remove_unfinished, sync_folder, write_json
from protgnn.io.row_formats import Chunk, RowFormat, to_parquet

try:
    import fcntl
except ImportError:  # not on Windows, where there is no lock
    fcntl = None  # type: ignore[assignment]

PARTIAL = ".partial"
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_TRIES, _PAUSE = 20, 0.1  # seconds: workers of a process that was killed hold its lock until they have ended too


class PartialOutput:
    """A file that is being written; see the module. ``state`` is what was remembered, nothing where it begins anew.

    Args:
        path: The file; a link is followed.
        key: Whom a partial file belongs to.
        finish: Makes the file of what was appended, given both paths; without it, what was appended is the file.

    Raises:
        ProtGNNError: The file cannot be written, or another process is writing it.
    """

    def __init__(self, path: Path, key: str, finish: Callable[[Path, Path], None] | None = None) -> None:
        self.path = Path(os.path.realpath(path))
        self._key, self._finish = key, finish
        self._staged = self.path.with_name(self.path.name + PARTIAL)
        self._journal = self._staged.with_name(self._staged.name + ".json")
        with self._writing():
            if self.path.is_dir():
                raise IsADirectoryError(21, "Is a directory")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = os.fdopen(os.open(self._staged, _FLAGS, 0o666), "ab")
        self._lock()
        self.state: dict[str, Any] = {}
        sure = self._sure_bytes()
        self.began_anew = bool(self._file.tell()) and not sure
        self._committed = bool(sure)
        with self._writing():
            self._file.truncate(sure)
            self._file.seek(sure)

    def append(self, content: bytes) -> None:
        """Write rows, which are not sure yet."""
        with self._writing():
            self._file.write(content)

    def commit(self, state: dict[str, Any]) -> None:
        """Make sure of all that was appended, and remember ``state`` with it."""
        with self._writing():
            self._file.flush()
            os.fsync(self._file.fileno())
            size = self._file.tell()
        write_json(self._journal, {"key": self._key, "bytes": size, "state": state})
        self._committed = True

    def finish(self) -> None:
        """Put the file into its place."""
        with self._writing():
            self._file.flush()
            os.fsync(self._file.fileno())
            if self._finish is None:
                os.replace(self._staged, self.path)
            else:
                made = self._staged.with_name(self._staged.name + ".made")
                self._finish(self._staged, made)
                os.replace(made, self.path)
            sync_folder(self.path.parent)
        self.discard()

    def leave(self) -> bool:
        """Stop writing. What is sure stays, to be continued; returns whether there is any."""
        if not self._committed:
            self.discard()
        self._file.close()
        return self._committed

    def discard(self) -> None:
        """Remove all but the finished file."""
        with contextlib.suppress(OSError):
            self._journal.unlink(missing_ok=True)
            remove_unfinished(self._journal)
            self._staged.unlink(missing_ok=True)
        self._file.close()
        self._committed = False

    def _sure_bytes(self) -> int:
        """How much of the partial file belongs to us."""
        try:
            known = json.loads(self._journal.read_bytes())
            sure = int(known["bytes"])
            if known["key"] == self._key and isinstance(known["state"], dict) and 0 < sure <= self._file.tell():
                self.state = known["state"]
                return sure
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return 0

    def _lock(self) -> None:
        if fcntl is None:
            return
        for _ in range(_TRIES):
            try:
                return fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                time.sleep(_PAUSE)
        self._file.close()
        raise ProtGNNError(f"{self.path} is being written by another process: wait for it")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if hasattr(self, "_file") and not getattr(self, "_committed", False):
                self.discard()
            raise ProtGNNError(f"Cannot write {self.path}: {error.strerror or error}") from None


class SpooledOutput:
    """Output for what cannot be renamed, such as a terminal or a pipe: kept aside until all of it is there.

    Args:
        show: Called with all of it, as a binary file, at the end.
    """

    def __init__(self, show: Callable[[IO[bytes]], None]) -> None:
        self._show = show
        self.state: dict[str, Any] = {}
        self.began_anew = False
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(2**24)  # type: ignore[assignment] # noqa: SIM115

    def append(self, content: bytes) -> None:
        self._file.write(content)

    def commit(self, state: dict[str, Any]) -> None:
        """Nothing is sure until the end."""

    def finish(self) -> None:
        self._file.seek(0)
        self._show(self._file)
        self._file.close()

    def leave(self) -> bool:
        self._file.close()
        return False

    discard = leave


def copy_to(path: Path) -> Callable[[IO[bytes]], None]:
    """Show output by writing it to a pipe or device."""

    def show(file: IO[bytes]) -> None:
        try:
            with open(path, "wb") as target:
                shutil.copyfileobj(file, target)
        except OSError as error:
            raise ProtGNNError(f"Cannot write {path}: {error.strerror or error}") from None

    return show


def is_special(path: Path) -> bool:
    """Whether a path is a pipe or a device, which is written to as it is."""
    return path.exists() and not path.is_file() and not path.is_dir()


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows of the same keys in one go, in the format that the name of the file asks for."""
    form = RowFormat.of(path)
    columns: Chunk = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    finish = to_parquet if form.name == "parquet" else None
    output = SpooledOutput(copy_to(path)) if is_special(path) else PartialOutput(path, "", finish)
    output.append((form.head(list(columns)) if columns else b"") + form.encode(columns))
    output.finish()
