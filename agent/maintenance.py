"""Background maintenance: expired facts, and the changes and leavings of other processes."""

from agent.db.database import Database
from agent.facts.expiry import sweep
from agent.facts.forgetting import clear_forgotten_denials
from agent.facts.memory_sync import MemorySync
from agent.periodic import Periodic, attempt
from agent.remember.remember_worker import RememberWorker

EVERY_S = 60.0
FOLLOW_EVERY_S = 2.0


class Maintenance:
    """Periodic work: expiry, turns that another process left, and memory kept equal to SQL.

    Every minute it ends expired facts, brings the memory up to date with SQL for users who do
    not ask, and takes over turns that nobody remembers.

    So what another program forgot leaves index, KV and snapshots although nobody writes. The
    facts of users who asked lately are brought up to date every two seconds, so that their next
    reply need not wait for it.
    """

    def __init__(
        self,
        database: Database,
        memory_sync: MemorySync,
        remember_worker: RememberWorker,
        *,
        every_s: float = EVERY_S,
        follow_every_s: float = FOLLOW_EVERY_S,
    ) -> None:
        self._database = database
        self._memory_sync = memory_sync
        self._remember_worker = remember_worker
        self._minutely = Periodic("upkeep", self.once, every_s)
        self._following = Periodic("following other processes", memory_sync.follow, follow_every_s)

    def start(self) -> None:
        """Start; once is enough."""
        self._minutely.start()
        self._following.start()

    async def once(self) -> None:
        """Do a minute's work now."""
        await self._remember_worker.resume()
        await self._catch_up()

    async def aclose(self) -> None:
        """Stop, and catch up a last time, so that no snapshot keeps what is forgotten."""
        started = self._minutely.started
        await self._following.aclose()
        await self._minutely.aclose()
        if started:
            await attempt("upkeep", self._catch_up)

    async def _catch_up(self) -> None:
        await sweep(self._database)
        await clear_forgotten_denials(self._database)
        for owner in self._memory_sync.owners:
            await self._memory_sync.ensure(owner)
