"""Accumulates streamed text, so that a reply is stored as it was displayed, however it ended."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from agent.entities import TurnStatus, UserTurn
from agent.reply_events import Reply, ReplyEvent, TextDelta
from memory_engine.types import Mode


class ReplyAccumulator:
    """One reply as it grows: its turn, the text of each mode, and how it came to its end.

    `turn` is the user's stored turn, None until it is stored or where nothing is. `keep` is
    the mode whose text the conversation keeps. `error` is what the generation failed with.
    """

    def __init__(self, keep: Mode) -> None:
        self.turn: UserTurn | None = None
        self.error: BaseException | None = None
        self._keep = keep
        self._texts: dict[Mode, str] = {}
        self._finished: dict[Mode, Reply] = {}
        self._generating: asyncio.Task[None] | None = None
        self._stopped = False

    async def run(self, generating: Coroutine[Any, Any, None]) -> None:
        """Run a generation to its end, to its failure, which `error` keeps, or to `stop`."""
        self._generating = asyncio.create_task(generating)
        if self._stopped:
            self._generating.cancel()
        try:
            await asyncio.wait([self._generating])
        finally:
            self._generating.cancel()
            await asyncio.wait([self._generating])
        if not self._generating.cancelled():
            self.error = self._generating.exception()

    def stop(self) -> None:
        """End the generation as it is now, or before it begins."""
        self._stopped = True
        if self._generating is not None:
            self._generating.cancel()

    def add(self, mode: Mode, event: ReplyEvent) -> None:
        """Take in an event that goes to the user."""
        if isinstance(event, TextDelta):
            self._texts[mode] = self._texts.get(mode, "") + event.text
        elif isinstance(event, Reply):
            self._finished[mode] = event

    @property
    def kept(self) -> Mode:
        """The mode whose text is kept: the wanted one, or the only one that said anything."""
        return self._keep if self._keep in self._texts else next(iter(self._texts), self._keep)

    @property
    def text(self) -> str:
        """The text that was displayed in the kept mode."""
        return self._texts.get(self.kept, "")

    @property
    def reply(self) -> Reply | None:
        """The kept reply with its trace; None for one that was cut off."""
        return self._finished.get(self.kept)

    @property
    def status(self) -> TurnStatus:
        """`complete` with its trace, `failed` by an error, else `stopped`."""
        if self.reply is not None:
            return "complete"
        return "failed" if self.error is not None else "stopped"
