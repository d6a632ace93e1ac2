"""Work on many pieces, by one process or several at once, with the results in the order of the pieces."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from typing import Any, TypeVar

from protgnn.errors import ProtGNNError

Piece = TypeVar("Piece")
Result = TypeVar("Result")
Work = Callable[[Piece], Result]

_AHEAD = 2  # pieces for each process that are handed out before the first of them is done

_work: Callable[[Any], Any] | None = None


def in_order(
    start: Callable[[], Work[Piece, Result]], pieces: Iterable[Piece], workers: int = 1
) -> Generator[Result, None, None]:
    """Do the work of every piece; only a few pieces and results are in memory at once.

    Args:
        start: Makes what does the work, once in each process; it and the pieces must be picklable.
        pieces: What there is to do.
        workers: How many processes; with one, this process does it all.

    Yields:
        The results, in the order of the pieces.

    Raises:
        ProtGNNError: A process ended without a word, such as for lack of memory.
    """
    if workers == 1:
        work = start()
        yield from map(work, pieces)
        return
    # Forking is quick and shares what is imported; where it is unsafe, processes begin anew.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    pool = ProcessPoolExecutor(workers, context, _begin, (start,))
    waiting: deque[Future[Result]] = deque()
    try:
        for piece in pieces:
            waiting.append(pool.submit(_do, piece))
            if len(waiting) > _AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise ProtGNNError(
            "One of the worker processes was ended from outside, perhaps for lack of memory: use fewer --workers"
        ) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _begin(start: Callable[[], Work[Any, Any]]) -> None:
    """Get a worker process ready: it leaves signals to its parent, and ends with it, however that ends."""
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _work = start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _do(piece: Any) -> Any:
    assert _work is not None
    return _work(piece)
