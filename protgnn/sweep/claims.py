"""Who works on which trial: a lock that ends with its process, and a sign of life for machines that do not see locks.

A trial is free where no process holds its lock. The lock is the operating system's, so a killed worker's trial is free
at once on the same machine, and on others as soon as their file system says so. A trial that was last held on another
machine is free only if that one has shown no sign of life for a while, too.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from protgnn.errors import RunError
from protgnn.io.atomic_files import write_json
from protgnn.io.lock import locked

BEAT_SECONDS, GRACE_SECONDS = 20.0, 120.0
"""How often a worker shows a sign of life, and how long without one it counts as dead."""
HOLDER = "holder.json"


class Claims:
    """The trials of a study that somebody works on; taken and asked about while the study is locked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _place(self, number: int) -> Path:
        return self.folder / f"trial-{number:04d}"

    @contextmanager
    def hold(self, number: int) -> Iterator[None]:
        """Hold a trial, and show signs of life until it is let go."""
        place, done = self._place(number), threading.Event()
        with locked(place):
            write_json(place / HOLDER, {"machine": socket.gethostname()})
            thread = threading.Thread(target=_beat, args=(place / HOLDER, done), daemon=True)
            thread.start()
            try:
                yield
            finally:
                done.set()
                thread.join()
                (place / HOLDER).unlink(missing_ok=True)

    def free(self, number: int) -> bool:
        """Whether nobody works on a trial."""
        place = self._place(number)
        try:
            with locked(place):
                pass
        except RunError:
            return False
        try:
            elsewhere = json.loads((place / HOLDER).read_text())["machine"] != socket.gethostname()
            return not elsewhere or _age(place / HOLDER) > GRACE_SECONDS
        except (OSError, ValueError, KeyError, TypeError):
            return True  # let go, or killed before it said who it was


@contextmanager
def study_locked(folder: Path, patience: float = 300.0) -> Iterator[None]:
    """Hold the lock of a study, which others hold for moments only.

    Raises:
        RunError: Somebody has held it for longer than ``patience`` seconds.
    """
    limit = time.monotonic() + patience
    with ExitStack() as held:
        while True:
            try:
                held.enter_context(locked(folder))
                break
            except RunError:
                if time.monotonic() > limit:
                    raise
                time.sleep(0.05)
        yield


def _beat(path: Path, done: threading.Event) -> None:
    while not done.wait(BEAT_SECONDS):
        with suppress(OSError):
            path.touch()


def _age(path: Path) -> float:
    """Seconds since a file was touched, by the clock of its file system."""
    now = path.with_name(".now")
    now.touch()
    return now.stat().st_mtime - path.stat().st_mtime
