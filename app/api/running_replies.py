"""Replies in progress, each in a task of its own: begun, limited, stopped and waited for."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Self

from agent.reply_events import Reply, ReplyEvent
from app.metrics import WAITING
from memory_engine.errors import BusyError, EngineStoppedError

Item = ReplyEvent | Exception | None


class Running:
    """One reply in progress. An own task reads the engine, so that whatever happens to the
    request's task ends it in one way: `aclose` aborts the generation and waits for that.
    """

    def __init__(self, replies: "RunningReplies", events: AsyncGenerator[ReplyEvent, None]) -> None:
        self._replies = replies
        self._queue: asyncio.Queue[Item] = asyncio.Queue()
        self._began = False
        self.task = asyncio.create_task(self._read(events), name="api reply")
        self.task.add_done_callback(self._ended)

    async def next(self) -> ReplyEvent | None:
        """The next event, or None after the last; raises what the reply ended with."""
        item = await self._queue.get()
        if isinstance(item, Exception):
            raise item
        return item

    async def aclose(self) -> None:
        """Abort the reply, if it has not ended; returns when it has."""
        self.task.cancel()
        await asyncio.wait([self.task])

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _read(self, events: AsyncGenerator[ReplyEvent, None]) -> None:
        try:
            async with aclosing(events):
                async for event in events:
                    self._begin()
                    self._queue.put_nowait(event)
        except Exception as error:
            self._queue.put_nowait(error)
        else:
            self._queue.put_nowait(None)

    def _ended(self, task: asyncio.Task[None]) -> None:
        # Also of a task that was cancelled before it ran at all.
        self._begin()
        if task.cancelled():
            self._queue.put_nowait(EngineStoppedError("The reply was stopped."))

    def _begin(self) -> None:
        if not self._began:
            self._began = True
            self._replies.began()


class RunningReplies:
    """All replies of the API. At most `most_waiting` may have no first token yet."""

    def __init__(self, most_waiting: int) -> None:
        self._most_waiting = most_waiting
        self._waiting = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False

    def __len__(self) -> int:
        return len(self._tasks)

    def admit(self) -> None:
        """Raise BusyError, or EngineStoppedError at the end, where no reply may begin."""
        if self._stopping:
            raise EngineStoppedError("The server is shutting down. Send the request again.")
        if self._waiting >= self._most_waiting:
            raise BusyError(
                f"{self._waiting} requests wait already. Send the request again in a moment."
            )

    def begin(self, events: AsyncGenerator[ReplyEvent, None]) -> Running:
        """Begin a reply. Raises as `admit` does."""
        self.admit()
        self._waiting += 1
        WAITING.set(self._waiting)
        running = Running(self, events)
        self._tasks.add(running.task)
        running.task.add_done_callback(self._tasks.discard)
        return running

    def began(self) -> None:
        """A reply has its first token, or ended without one."""
        self._waiting -= 1
        WAITING.set(self._waiting)

    async def ended(self) -> None:
        """Wait until no reply is in progress."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def drain(self, seconds: float) -> None:
        """Begin no reply any more; let those in progress end for so long, then abort them."""
        self._stopping = True
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=seconds)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)


async def whole(running: Running) -> Reply:
    """Wait for a reply to end and be stored; returns it with its trace."""
    reply = None
    while (event := await running.next()) is not None:
        if isinstance(event, Reply):
            reply = event
    assert reply is not None, "a reply that does not fail ends with its trace"
    return reply
