"""The queue in front of the model ends somewhere, and nobody waits for ever."""

import asyncio
import threading

import pytest
from anyio.from_thread import start_blocking_portal

from protgnn.web.server_limits import RefusedError
from protgnn.web.work import Worker


def test_too_many_are_turned_away_and_the_next_are_served_again():
    worker, gate = Worker("test", waiting=2, seconds=30), threading.Event()

    async def visit() -> list[object]:
        first = [asyncio.create_task(worker.run(gate.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(RefusedError) as refused:
            await worker.run(gate.wait)
        gate.set()
        done = await asyncio.gather(*first)
        await asyncio.sleep(0)
        return [refused.value.status, *done, await worker.run(lambda: "served")]

    with start_blocking_portal() as portal:  # a loop in a thread of its own: a browser of other tests may have one here
        assert portal.call(visit) == [503, True, True, "served"]
    worker.close()


def test_who_waits_too_long_gets_an_apology():
    worker, gate = Worker("test", waiting=2, seconds=0.05), threading.Event()

    async def visit() -> None:
        with pytest.raises(RefusedError, match="ask for less"):
            await worker.run(gate.wait)
        gate.set()

    with start_blocking_portal() as portal:
        portal.call(visit)
    worker.close()
