"""A run directory that the first of several processes holds and writes; the others train along without one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from protgnn.errors import ProtGNNError
from protgnn.io.ranks import Ranks
from protgnn.training.checkpoint import STATE_FILE, TrainingState
from protgnn.training.run_folder import Begun

REFUSED, NEW, STATE = b"refused", b"new", b"state"


@contextmanager
def begun_by_first(ranks: Ranks, begin: Callable[[], AbstractContextManager[Begun]]) -> Iterator[Begun]:
    """What ``begin`` gives on the first rank; the others have no folder, and the state that the first goes on from.

    Raises:
        ProtGNNError: The first rank was refused the folder; it says why, and the others that it was.
    """
    if not ranks.first:
        message = ranks.broadcast(b"")
        if message == REFUSED:
            raise ProtGNNError("The first process could not begin: see its message")
        yield Begun(None, None if message == NEW else _read(message.removeprefix(STATE)))
        return
    with ExitStack() as held:
        message = REFUSED
        try:
            begun = held.enter_context(begin())
            assert begun.folder is not None
            message = NEW if begun.state is None else STATE + (begun.folder / STATE_FILE).read_bytes()
        finally:
            ranks.broadcast(message)
        yield begun


def _read(content: bytes) -> TrainingState | None:
    """The state in the bytes of its file, checked as any state is."""
    with TemporaryDirectory(prefix="protgnn-") as folder:
        (Path(folder) / STATE_FILE).write_bytes(content)
        return TrainingState.load(Path(folder))
