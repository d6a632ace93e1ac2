"""Who computes: one thread for the model, one for what is long, and never more waiting than there is patience for.

Models keep what they have cut out, and RDKit's molecules are shared, so the model is used from one thread alone. Long
work comes to it in small pieces, between which those who ask have their turn.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from protgnn.web.server_limits import RefusedError, ServerLimits

P = ParamSpec("P")
T = TypeVar("T")

BUSY = "Too many are asking at the moment: try again in a few seconds"
SLOW = "This takes longer than the explorer waits: ask for less at once"


class Worker:
    """One thread, a queue in front of it that ends somewhere, and a time after which nobody waits any more."""

    def __init__(self, name: str, waiting: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=f"protgnn-{name}")
        self._most, self._seconds = waiting, seconds
        self._waiting = 0

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call ``work`` in the thread.

        Raises:
            RefusedError: Too many wait already, or it takes too long. What runs already goes on to its end.
        """
        if self._waiting >= self._most:
            raise RefusedError(503, BUSY)
        self._waiting += 1
        future = self._pool.submit(work, *args, **kwargs)
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: self._count_down(loop))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except TimeoutError:
            raise RefusedError(503, SLOW) from None

    def _count_down(self, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(self._one_less)

    def _one_less(self) -> None:
        self._waiting -= 1

    def close(self) -> None:
        """Forget what waits; what runs goes on to its end."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class Workers:
    """``model`` for everything that uses a model, RDKit or a picture, ``long`` for what does not and takes seconds."""

    def __init__(self, limits: ServerLimits) -> None:
        self.model = Worker("model", limits.waiting, limits.seconds)
        self.long = Worker("long", 8, limits.seconds)

    def close(self) -> None:
        self.model.close()
        self.long.close()
