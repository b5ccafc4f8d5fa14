"""Keeping the memory engine's copy of a user's facts equal to SQL's."""

import asyncio
from collections import defaultdict
from datetime import datetime

from agent.facts import FactStore
from agent.records import Fact
from agent.utc import utc_now
from memory_engine.memory import Memory
from memory_engine.types import MemoryFact


class Holding:
    """Which version of each user's facts the memory engine holds, and until when it is right.

    `preceding_turns` is how many dialogue turns go along with a fact, for `turns:N` windows.
    """

    def __init__(self, facts: FactStore, memory: Memory, preceding_turns: int = 0) -> None:
        self._facts = facts
        self._memory = memory
        self._preceding_turns = preceding_turns
        self._versions: dict[str, int] = {}
        self._expiries: dict[str, datetime] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def owners(self) -> list[str]:
        """The users whose facts are held."""
        return list(self._versions)

    async def ensure(self, owner: str) -> None:
        """Bring the memory up to date if it never held `owner`, SQL has changed since, or a
        fact has expired."""
        version = await self._facts.version(owner)
        expired = owner in self._expiries and self._expiries[owner] <= utc_now()
        if expired or not self._memory.holds(owner) or self._versions.get(owner) != version:
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
            await self._memory.sync(owner, [_held(f, turns.get(f.id, ())) for f in facts])
            self._versions[owner] = version
            self._expiries.pop(owner, None)
            if ends := [fact.valid_to for fact in facts if fact.valid_to is not None]:
                self._expiries[owner] = min(ends)

    async def forget(self, owner: str) -> None:
        """Let the memory forget everything of `owner`, who is gone from SQL."""
        async with self._locks[owner]:
            await self._memory.forget(owner)
            self._versions.pop(owner, None)
            self._expiries.pop(owner, None)


def _held(fact: Fact, turns: tuple[str, ...]) -> MemoryFact:
    return MemoryFact(
        id=fact.id,
        text=fact.text,
        when=fact.when,
        turns=turns,
        agent=fact.scope.agent,
        conversation=fact.scope.conversation_id,
    )
