"""Synchronisation of the memory engine's facts with those in SQL."""

import asyncio
import logging
from collections import defaultdict
from datetime import datetime
from time import monotonic

from agent.db.utc import utc_now
from agent.entities import Fact
from agent.facts.fact_embeddings import FactEmbeddings
from agent.facts.fact_store import FactStore
from memory_engine.errors import DatabaseError
from memory_engine.protocols import MemoryEngine
from memory_engine.types import MemoryFact

# Who asked within so many seconds is followed, and of those at most so many.
LATELY_S = 600.0
LATEST = 1000

log = logging.getLogger(__name__)


class MemorySync:
    """Keeps the memory engine's copy of each user's facts equal to the version in SQL.

    `preceding_turns` is how many dialogue turns go along with a fact, for `turns:N` windows.
    """

    def __init__(
        self,
        facts: FactStore,
        vectors: FactEmbeddings,
        memory: MemoryEngine,
        preceding_turns: int = 0,
    ) -> None:
        self._facts = facts
        self._vectors = vectors
        self._memory = memory
        self._preceding_turns = preceding_turns
        self._versions: dict[str, int] = {}
        self._expiries: dict[str, datetime] = {}
        # When each user asked last, in that order.
        self._asked: dict[str, float] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def owners(self) -> list[str]:
        """The users whose facts are held."""
        return list(self._versions)

    async def ensure(self, owner: str) -> None:
        """Bring the memory up to date if it never held `owner`, SQL has changed since, or a
        fact has expired.

        What any process has committed before the call is obeyed when it returns.
        """
        self._asked.pop(owner, None)
        self._asked[owner] = monotonic()
        await self._bring_to(owner, await self._facts.version(owner))

    async def follow(self) -> None:
        """Bring up to date those who asked lately and whose facts another process changed."""
        since = monotonic() - LATELY_S
        self._asked = {owner: at for owner, at in self._asked.items() if at > since}
        owners = list(self._asked)[-LATEST:]
        versions = await self._facts.versions(owners) if owners else {}
        for owner in owners:
            await self._bring_to(owner, versions.get(owner, 0))

    async def refresh(self, owner: str) -> None:
        """Hand all active facts of `owner` to the memory, in time order."""
        async with self._locks[owner]:
            await self._refresh(owner)

    async def forget(self, owner: str) -> None:
        """Let the memory forget everything of `owner`, who is gone from SQL."""
        async with self._locks[owner]:
            await self._memory.forget(owner)
            self._versions.pop(owner, None)
            self._expiries.pop(owner, None)
            self._asked.pop(owner, None)

    async def _bring_to(self, owner: str, version: int) -> None:
        if self._is_current(owner, version):
            return
        async with self._locks[owner]:
            # Another call may have done it meanwhile.
            if not self._is_current(owner, version):
                await self._refresh(owner)

    def _is_current(self, owner: str, version: int) -> bool:
        expired = owner in self._expiries and self._expiries[owner] <= utc_now()
        held = self._memory.holds(owner) and self._versions.get(owner) == version
        return held and not expired

    async def _refresh(self, owner: str) -> None:
        # The caller has the user's lock: an older reading must not arrive last.
        version, facts = await self._facts.snapshot(owner)
        turns: dict[str, tuple[str, ...]] = {}
        if self._preceding_turns:
            turns = await self._facts.preceding_turns(owner, self._preceding_turns)
        sources = await self._facts.sources(owner)
        held = [_held(f, turns.get(f.id, ()), sources.get(f.id, "")) for f in facts]
        await self._hold(owner, held)
        self._versions[owner] = version
        self._expiries.pop(owner, None)
        if ends := [fact.valid_to for fact in facts if fact.valid_to is not None]:
            self._expiries[owner] = min(ends)

    async def _hold(self, owner: str, facts: list[MemoryFact]) -> None:
        """Hand over `facts`; vectors come from SQL, and those that were not there go to it."""
        model = self._memory.embedding_model
        known = {}
        if facts and not self._memory.holds(owner):
            known = await self._vectors.load(owner, model)
        computed = await self._memory.sync(owner, facts, known)
        try:
            await self._vectors.save(owner, model, computed)
        except DatabaseError:
            # A cache: recall works without it, and the next start computes them again.
            log.exception("the vectors of %d facts could not be kept", len(computed))


def _held(fact: Fact, turns: tuple[str, ...], source: str) -> MemoryFact:
    return MemoryFact(
        id=fact.id,
        text=fact.text,
        when=fact.when,
        turns=turns,
        source=source,
        scope=fact.scope,
    )
