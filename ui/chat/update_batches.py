"""Batches of updates: many small events in, few updates out."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import TypeVar

Item = TypeVar("Item")

INTERVAL = 0.05  # seconds: the browser is sent at most twenty updates a second


async def batches(
    source: AsyncGenerator[Item, None],
    *,
    urgent: Callable[[Item], bool],
    stop: asyncio.Event,
    interval: float = INTERVAL,
) -> AsyncGenerator[list[Item], None]:
    """Group what `source` yields so that a group leaves at most every `interval` seconds.

    An urgent item leaves with the one after it, as soon as that comes, and so do the last
    ones. `source` is iterated in one task of its own; when `stop` is set or this generator is
    closed, that task is cancelled, and this generator ends when `source` is closed. An error
    of `source` is raised here, after the items before it.
    """
    queue: asyncio.Queue[Item | None] = asyncio.Queue()
    pump = asyncio.create_task(_pump(source, queue))
    stopping = asyncio.create_task(_stop(stop, queue))
    try:
        due = time.monotonic()
        ended = False
        while not ended and (item := await queue.get()) is not None:
            batch = [item]
            ended = await _fill(batch, queue, due, urgent)
            due = time.monotonic() + interval
            yield batch
        if not stop.is_set():
            await pump
    finally:
        stopping.cancel()
        pump.cancel()
        with suppress(asyncio.CancelledError):
            await pump


async def _fill(
    batch: list[Item],
    queue: asyncio.Queue[Item | None],
    due: float,
    urgent: Callable[[Item], bool],
) -> bool:
    """Add to `batch` until it is `due` or may not wait; whether the queue has ended."""
    while not any(map(urgent, batch[:-1])):
        left = None if urgent(batch[-1]) else max(due - time.monotonic(), 0)
        try:
            more = await asyncio.wait_for(queue.get(), left)
        except TimeoutError:
            return False
        if more is None:
            return True
        batch.append(more)
    return False


async def _pump(source: AsyncGenerator[Item, None], queue: asyncio.Queue[Item | None]) -> None:
    try:
        async with aclosing(source) as items:
            async for item in items:
                queue.put_nowait(item)
    finally:
        queue.put_nowait(None)


async def _stop(stop: asyncio.Event, queue: asyncio.Queue[Item | None]) -> None:
    await stop.wait()
    queue.put_nowait(None)
