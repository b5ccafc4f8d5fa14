"""Who may use the engine: replies at once, encoding in what they leave."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

# While people chat, facts are encoded a few at a time, so that the engine step in flight is
# over before the next message has been recalled for. It cannot be interrupted.
_CHAT_LASTS = 2.0  # seconds after a first token
_CHAT_FACTS = 2  # facts an encode, meanwhile
# From a message to the request for its reply: recalling, laying out the prompt.
_REPLY_FOLLOWS = 0.25  # seconds


class Admission:
    """Lets `most` encodes run at once, a short one while somebody chats, none before a first token.

    Safe on one event loop.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._running = 0
        self._replies = 0
        self._expected: dict[str, float] = {}  # owner -> until when a reply is expected
        self._chat_until = 0.0
        self._changed = asyncio.Event()

    def message(self, owner: str) -> None:
        """A message came, and its owner's `reply` follows: no encode begins in between."""
        now = time.monotonic()
        self._expected[owner] = now + _REPLY_FOLLOWS
        self._chat_until = max(self._chat_until, now + _CHAT_LASTS)

    def reply(self, owner: str) -> Callable[[], None]:
        """A reply begins to wait for its first token; call the result when it came or never will.

        The result may be called again without effect.
        """
        self._replies += 1
        self._expected.pop(owner, None)
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
    async def encode(self) -> AsyncIterator[int | None]:
        """Around an encode; waits until it may run. The facts it may have, None for any number."""
        while not self._may_encode():
            try:
                await asyncio.wait_for(self._changed.wait(), self._pause())
            except TimeoutError:
                continue
        chatting = self.chatting
        self._running += 1
        try:
            yield _CHAT_FACTS if chatting else None
        finally:
            self._running -= 1
            self._notify()

    @property
    def chatting(self) -> bool:
        """Whether somebody waits for a reply, or has had one just now."""
        return self._replies > 0 or time.monotonic() < self._chat_until

    def _may_encode(self) -> bool:
        now = time.monotonic()
        self._expected = {owner: until for owner, until in self._expected.items() if until > now}
        if self._replies or self._expected:
            return False
        return self._running < (1 if self.chatting else self._most)

    def _pause(self) -> float | None:
        """Seconds until something changes of which nobody tells."""
        now = time.monotonic()
        times = (*self._expected.values(), self._chat_until)
        return min((t - now for t in times if t > now), default=None)

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
