"""Repeats work in the background; a failure is logged and does not end it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

log = logging.getLogger(__name__)


async def attempt(name: str, work: Callable[[], Awaitable[None]]) -> None:
    """Do `work` now; what it raises is logged."""
    try:
        await work()
    except Exception:
        log.exception("%s failed; it is tried again later", name)


class Periodic:
    """Repeats `work` every `every_s` seconds from `start` to `aclose`."""

    def __init__(self, name: str, work: Callable[[], Awaitable[None]], every_s: float) -> None:
        self._name = name
        self._do = work
        self._every_s = every_s
        self._ending = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def started(self) -> bool:
        return self._task is not None

    def start(self) -> None:
        """Start; once is enough."""
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name=self._name)

    async def aclose(self) -> None:
        """Stop, and wait for the run in progress."""
        self._ending.set()
        if self._task is not None:
            await self._task
            self._task = None

    async def _work(self) -> None:
        while not await self._ends_within(self._every_s):
            await attempt(self._name, self._do)

    async def _ends_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._ending.wait()
        except TimeoutError:
            return False
        return True
