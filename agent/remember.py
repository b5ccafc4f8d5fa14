"""The background worker that remembers turns, one after the other, in the order they were said."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable

from agent.records import UserTurn
from agent.transcript import Transcript
from memory_engine.errors import InferScaleError

ATTEMPTS = 3
PAUSE_S = 0.2
LIMIT_S = 120.0
DRAIN_S = 10.0

log = logging.getLogger(__name__)


class Remembering:
    """A queue of turns and the task that works it off with `remember`.

    A turn stays `pending` in SQL until its facts are saved in the same transaction, so a
    kill loses nothing: the next start picks it up. A turn that fails is tried again at
    once, then marked `failed` with the reason, and never holds up the turns behind it.
    """

    def __init__(
        self,
        transcript: Transcript,
        remember: Callable[[UserTurn], Awaitable[None]],
        *,
        pause_s: float = PAUSE_S,
    ) -> None:
        self._transcript = transcript
        self._remember = remember
        self._pause_s = pause_s
        self._queue: asyncio.Queue[UserTurn | None] = asyncio.Queue()
        self._waiting: Counter[str] = Counter()
        self._queued: set[int] = set()
        self._changed = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """How many turns are queued or being worked on."""
        return self._waiting.total()

    async def start(self) -> None:
        """Start the worker with the turns that an earlier process left; once is enough."""
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="remembering")
            for turn in await self._transcript.unremembered():
                self.put(turn)

    def put(self, turn: UserTurn) -> None:
        """Remember `turn` after those before it. A turn that is queued already is not twice."""
        if turn.id not in self._queued:
            self._queued.add(turn.id)
            self._waiting[turn.owner] += 1
            self._queue.put_nowait(turn)

    async def settle(self, owner: str | None = None) -> None:
        """Wait until nothing of `owner`, or of anybody, waits to be remembered."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._open(owner))

    async def aclose(self, drain_s: float = DRAIN_S) -> None:
        """Work off the queue for up to `drain_s` seconds, then stop; the rest stays pending."""
        if self._task is None:
            return
        self._queue.put_nowait(None)
        done, _ = await asyncio.wait([self._task], timeout=drain_s)
        if not done:
            log.warning("%d turns will be remembered at the next start", len(self._queued))
            self._task.cancel()
            await asyncio.wait([self._task])
        self._task = None

    def _open(self, owner: str | None) -> int:
        return self._waiting.total() if owner is None else self._waiting[owner]

    async def _work(self) -> None:
        while (turn := await self._queue.get()) is not None:
            try:
                await self._remember_one(turn)
            finally:
                await self._finished(turn)

    async def _finished(self, turn: UserTurn) -> None:
        async with self._changed:
            self._queued.discard(turn.id)
            self._waiting[turn.owner] -= 1
            if not self._waiting[turn.owner]:
                del self._waiting[turn.owner]
            self._changed.notify_all()

    async def _remember_one(self, turn: UserTurn) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            if attempt > 1:
                await asyncio.sleep(self._pause_s)
            try:
                async with asyncio.timeout(LIMIT_S):
                    await self._remember(turn)
                return
            except Exception as error:
                log.exception("turn %d was not remembered, attempt %d", turn.id, attempt)
                await self._note(turn, error, final=attempt == ATTEMPTS)

    async def _note(self, turn: UserTurn, error: Exception, *, final: bool) -> None:
        # The class and our own message; another library's message may quote what was said.
        reason = type(error).__name__
        if isinstance(error, InferScaleError):
            reason = f"{reason}: {error}"
        try:
            await self._transcript.note_failure(turn, reason, final=final)
        except Exception:
            log.exception("the failure of turn %d could not be noted", turn.id)
