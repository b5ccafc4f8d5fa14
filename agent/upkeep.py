"""What is seen to every minute: facts that expired, and what another program changed."""

import asyncio
import logging

from agent.database import Database
from agent.expiry import sweep
from agent.holding import Holding

EVERY_S = 60.0

log = logging.getLogger(__name__)


class Upkeep:
    """Ends expired facts, and brings the memory up to date with SQL for users who do not ask.

    So what another program forgot leaves index, KV and snapshots although nobody writes.
    """

    def __init__(self, database: Database, holding: Holding, every_s: float = EVERY_S) -> None:
        self._database = database
        self._holding = holding
        self._every_s = every_s
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start; once is enough."""
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="upkeep")

    async def once(self) -> None:
        """Do it now."""
        await sweep(self._database)
        for owner in self._holding.owners:
            await self._holding.ensure(owner)

    async def aclose(self) -> None:
        """Do it a last time, so that no snapshot keeps what is forgotten, and stop."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.wait([self._task])
        self._task = None
        await self._attempt()

    async def _work(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            await self._attempt()

    async def _attempt(self) -> None:
        try:
            await self.once()
        except Exception:
            log.exception("upkeep failed; it is tried again later")
