"""Being told to stop from outside: the end of a session or a scheduler's time limit is treated as Ctrl-C is."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_TOLD_TO_STOP = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Stopped(KeyboardInterrupt):
    """A signal that asks to stop came; ``status`` is what the process should end with."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.status = 128 + number


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Raise :class:`Stopped` where SIGTERM or SIGHUP comes; one that is ignored, as under ``nohup``, stays ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped(number)

    before = {number: signal.getsignal(number) for number in _TOLD_TO_STOP}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextmanager
def stoppable() -> Iterator[None]:
    """Work that a signal may stop: what it leaves behind was said, and the process ends."""
    try:
        with stopped_by_signals():
            yield
    except KeyboardInterrupt as stop:
        raise SystemExit(stop.status if isinstance(stop, Stopped) else 130) from None
