"""Keeping the memory engine's copy of a user's facts equal to SQL's."""

import asyncio
from collections import defaultdict

from agent.facts import FactStore
from memory_engine.memory import Memory
from memory_engine.types import MemoryFact


class Holding:
    """Which version of each user's facts the memory engine holds.

    `preceding_turns` is how many dialogue turns go along with a fact, for `turns:N` windows.
    """

    def __init__(self, facts: FactStore, memory: Memory, preceding_turns: int = 0) -> None:
        self._facts = facts
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
            held = [MemoryFact(f.id, f.text, f.when, turns.get(f.id, ())) for f in facts]
            await self._memory.sync(owner, held)
            self._versions[owner] = version
