"""Keeping the memory engine's copy of a user's facts equal to SQL's."""

import asyncio
import logging
from collections import defaultdict

from agent.facts import FactStore
from agent.vectors import VectorStore
from memory_engine.errors import DatabaseError
from memory_engine.memory import Memory
from memory_engine.types import MemoryFact

log = logging.getLogger(__name__)


class Holding:
    """Which version of each user's facts the memory engine holds.

    `preceding_turns` is how many dialogue turns go along with a fact, for `turns:N` windows.
    """

    def __init__(
        self, facts: FactStore, vectors: VectorStore, memory: Memory, preceding_turns: int = 0
    ) -> None:
        self._facts = facts
        self._vectors = vectors
        self._memory = memory
        self._preceding_turns = preceding_turns
        self._versions: dict[str, int] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def ensure(self, owner: str) -> None:
        """Bring the memory up to date if it never held `owner` or SQL has changed since."""
        version = await self._facts.version(owner)
        if not self._memory.holds(owner) or self._versions.get(owner) != version:
            await self.refresh(owner)

    async def refresh(self, owner: str) -> None:
        """Hand all active facts of `owner` to the memory, in time order.

        One at a time for each user: an older reading must not arrive last.
        """
        async with self._locks[owner]:
            version, facts = await self._facts.snapshot(owner)
            turns: dict[str, tuple[str, ...]] = {}
            if self._preceding_turns:
                turns = await self._facts.preceding_turns(owner, self._preceding_turns)
            sources = await self._facts.sources(owner)
            held = [
                MemoryFact(f.id, f.text, f.when, turns.get(f.id, ()), sources.get(f.id, ""))
                for f in facts
            ]
            await self._hold(owner, held)
            self._versions[owner] = version

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
