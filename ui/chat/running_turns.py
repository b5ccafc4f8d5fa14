"""Turns in progress by browser tab, so that the tab that began one can end it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic

# A browser that has not begun the turn it was promised after so many seconds does not.
PROMISED_S = 10.0


@dataclass
class Progress:
    """One turn in progress. `left` says that its tab shows something else by now."""

    stop: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    left: bool = False


class RunningTurns:
    """Turns in progress, at most one a tab. A tab is Gradio's session hash."""

    def __init__(self) -> None:
        self._turns: dict[str, Progress] = {}
        self._promised: dict[str, float] = {}  # when, by tab

    @asynccontextmanager
    async def turn(self, tab: str) -> AsyncIterator[Progress]:
        """Run the block as the turn of `tab`, when the one before has ended."""
        while tab in self._turns:
            await self._turns[tab].ended.wait()
        self._promised.pop(tab, None)
        progress = self._turns[tab] = Progress()
        try:
            yield progress
        finally:
            del self._turns[tab]
            progress.ended.set()

    async def promise(self, tab: str, within: float = 1.0) -> bool:
        """Promise `tab` the next turn, which is then its to begin.

        False if it has a turn that does not end within so many seconds, or was promised one.
        """
        if tab in self._turns:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._turns[tab].ended.wait(), within)
        now = monotonic()
        self._promised = {t: at for t, at in self._promised.items() if at > now - PROMISED_S}
        if tab in self._turns or tab in self._promised:
            return False
        self._promised[tab] = now
        return True

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
