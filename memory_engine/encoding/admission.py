"""Admission control: replies pre-empt background encoding."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

# While people chat, facts are encoded a few at a time, so that the engine step in flight is
# over before the next message has been recalled for. It cannot be interrupted.
_CHAT_LASTS = 2.0  # seconds after a first token
_CHAT_FACTS = 2  # facts an encode, meanwhile
# From a message to the request for its reply: recalling, laying out the prompt.
_REPLY_FOLLOWS = 0.25  # seconds


class Clock:
    """Monotonic time, in seconds."""

    def now(self) -> float:
        """The present time; only differences mean anything."""
        return time.monotonic()

    async def wait(self, event: asyncio.Event, seconds: float | None) -> None:
        """Return when `event` is set, at the latest after `seconds` (None: however long)."""
        with suppress(TimeoutError):
            await asyncio.wait_for(event.wait(), seconds)


class Admission:
    """Admits `most` encodes at once, a short one while somebody chats, none before a first token.

    Safe on one event loop.
    """

    def __init__(self, most: int, clock: Clock | None = None) -> None:
        self._most = most
        self._clock = clock or Clock()
        self._running = 0
        self._replies = 0
        self._expected: dict[str, float] = {}  # owner -> until when a reply is expected
        self._chat_until = self._clock.now()
        self._changed = asyncio.Event()

    def message(self, owner: str) -> None:
        """Expect the `reply` of an owner whose message came: no encode begins in between."""
        now = self._clock.now()
        self._expected[owner] = now + _REPLY_FOLLOWS
        self._chat_until = max(self._chat_until, now + _CHAT_LASTS)

    def reply(self, owner: str) -> Callable[[], None]:
        """Begin to wait for a first token; call the result when it came or never will.

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
                self._chat_until = self._clock.now() + _CHAT_LASTS
                self._notify()

        return end

    @asynccontextmanager
    async def encode(self) -> AsyncIterator[int | None]:
        """Wait until an encode may run, and count it while it does.

        Yields how many facts it may have, None for any number.
        """
        while not self._may_encode():
            await self._clock.wait(self._changed, self._pause())
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
        return self._replies > 0 or self._clock.now() < self._chat_until

    def _may_encode(self) -> bool:
        now = self._clock.now()
        self._expected = {owner: until for owner, until in self._expected.items() if until > now}
        if self._replies or self._expected:
            return False
        return self._running < (1 if self.chatting else self._most)

    def _pause(self) -> float | None:
        """Seconds until time alone changes something; None where it will not."""
        now = self._clock.now()
        times = (*self._expected.values(), self._chat_until)
        return min((t - now for t in times if t > now), default=None)

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
