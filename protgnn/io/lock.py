"""A lock on a folder while it is written: a second writer is told who holds it.

The lock is the operating system's (``flock``), so it ends with its process, however that ends: a lock file that a
killed process left behind does not lock.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from protgnn.errors import RunError

try:
    import fcntl
except ImportError:  # not on Windows, where there is no lock
    fcntl = None  # type: ignore[assignment]

LOCK_FILE = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which is made if need be.

    Raises:
        RunError: Another process holds it; the message says which.
    """
    if fcntl is None:
        yield
        return
    path = folder / LOCK_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = _acquire(path)
    except OSError as error:
        raise RunError(f"Cannot write {folder}: {error.strerror}") from None
    try:
        holder = {"process": os.getpid(), "machine": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
        os.ftruncate(handle, 0)
        os.write(handle, json.dumps(holder).encode())
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        os.close(handle)


def _acquire(path: Path) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
        kind = os.fstat(handle)
        if not stat.S_ISREG(kind.st_mode) or kind.st_nlink > 1:
            os.close(handle)
            raise RunError(f"{path} is no plain file of its own: remove it")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(handle, 1000)
            os.close(handle)
            raise RunError(
                f"{path.parent} is being written by {_described(holder)}: wait for it, or choose another folder"
            ) from None
        with contextlib.suppress(FileNotFoundError):
            if os.stat(path).st_ino == os.fstat(handle).st_ino:
                return handle
        os.close(handle)  # its holder removed it between our two steps


def _described(holder: bytes) -> str:
    try:
        known = json.loads(holder)
        return f"process {int(known['process'])} on {str(known['machine'])[:60]!r} since {str(known['since'])[:20]}"
    except (ValueError, KeyError, TypeError):
        return "another process"
