"""Who may use the engine: replies at once, encoding in what they leave."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

# A reply that comes during an encode waits for the engine step in flight. While people
# chat, one prefill at a time keeps that step short.
_CHAT_LASTS = 2.0  # seconds after a first token


class Turns:
    """Lets `most` encodes run at once, one while somebody chats, none before a first token.

    Safe on one event loop.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._running = 0
        self._replies = 0
        self._chat_until = 0.0
        self._changed = asyncio.Event()

    def reply(self) -> Callable[[], None]:
        """A reply begins to wait for its first token; call the result when it came or never will.

        The result may be called again without effect.
        """
        self._replies += 1
        waiting = True

        def end() -> None:
            nonlocal waiting
            if waiting:
                waiting = False
                self._replies -= 1
                self._chat_until = time.monotonic() + _CHAT_LASTS
                self._notify()

        return end

    @asynccontextmanager
    async def encode(self) -> AsyncIterator[None]:
        """Around an encode; waits until it may run."""
        while not self._may_encode():
            # Nobody tells when a chat has ended.
            pause = max(0.0, self._chat_until - time.monotonic()) or None
            try:
                await asyncio.wait_for(self._changed.wait(), pause)
            except TimeoutError:
                continue
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            self._notify()

    def _may_encode(self) -> bool:
        chatting = time.monotonic() < self._chat_until
        return not self._replies and self._running < (1 if chatting else self._most)

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
