"""The turns in progress, so that the browser tab that began one can end it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class Progress:
    """One turn. `left` says that its tab shows something else by now."""

    stop: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    left: bool = False


class Running:
    """At most one turn a tab. A tab is Gradio's session hash."""

    def __init__(self) -> None:
        self._turns: dict[str, Progress] = {}

    @asynccontextmanager
    async def turn(self, tab: str) -> AsyncIterator[Progress]:
        """The block is the turn of `tab`; it begins when the one before has ended."""
        while tab in self._turns:
            await self._turns[tab].ended.wait()
        progress = self._turns[tab] = Progress()
        try:
            yield progress
        finally:
            del self._turns[tab]
            progress.ended.set()

    async def free(self, tab: str, within: float = 1.0) -> bool:
        """Whether `tab` has no turn, or one that ends within so many seconds."""
        if tab in self._turns:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._turns[tab].ended.wait(), within)
        return tab not in self._turns

    async def stop(self, tab: str, *, leave: bool = False) -> None:
        """End the turn of `tab`, if there is one; returns when it has ended."""
        if tab in self._turns:
            progress = self._turns[tab]
            progress.left = leave
            progress.stop.set()
            await progress.ended.wait()

    async def close(self) -> None:
        """End every turn; returns when what was said in them is stored."""
        for tab in list(self._turns):
            await self.stop(tab)
