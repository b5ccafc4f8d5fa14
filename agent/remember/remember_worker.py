"""Background worker that remembers turns one after the other, in the order they were said.

Several processes may work on one database: whoever has claimed a user remembers what that user
said, oldest first, whichever process was told it.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

from agent.conversations.conversation_store import ConversationStore
from agent.db.utc import utc_now
from agent.entities import UserTurn
from memory_engine.errors import DatabaseError, EngineStoppedError, InferScaleError

ATTEMPTS = 3
PAUSE_S = 0.2
CLAIM_AGAIN_S = 0.05
LIMIT_S = 120.0
DRAIN_S = 10.0
# What is pending for so long was left by a process that ended, or while the database was away.
LEFT_AFTER = timedelta(seconds=60)
# Not the turn's fault: it stays pending, however often it is tried.
OUTAGES = (DatabaseError, EngineStoppedError)

Claim = Callable[[str], AbstractAsyncContextManager[bool]]

log = logging.getLogger(__name__)


class RememberWorker:
    """A queue of turns and the task that works it off with `remember`.

    A turn stays `pending` in SQL until its facts are saved in the same transaction, so a
    kill loses nothing: the next start picks it up, or another process. A turn that fails is
    tried again at once, then marked `failed` with the reason, and never holds up the turns
    behind it. `claim` says whether this process may remember for a user.
    """

    def __init__(
        self,
        conversations: ConversationStore,
        remember: Callable[[UserTurn], Awaitable[None]],
        claim: Claim,
        *,
        pause_s: float = PAUSE_S,
    ) -> None:
        self._conversations = conversations
        self._remember = remember
        self._claim = claim
        self._pause_s = pause_s
        self._queue: asyncio.Queue[UserTurn | None] = asyncio.Queue()
        self._waiting: Counter[str] = Counter()
        self._queued: set[int] = set()
        self._changed = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """The number of turns that are queued or being worked on."""
        return self._waiting.total()

    async def start(self) -> None:
        """Start the worker with the turns that an earlier process left; once is enough."""
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="remembering")
            for turn in await self._conversations.unremembered():
                self.put(turn)

    async def take_over(self, owner: str) -> None:
        """Remember what `owner` said to any process."""
        for turn in await self._conversations.pending(owner):
            self.put(turn)

    async def resume(self) -> None:
        """Remember what another process left, or this one when the database was away."""
        for turn in await self._conversations.left_pending(utc_now() - LEFT_AFTER):
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
            done = True
            try:
                done = await self._remember_up_to(turn)
            except Exception:
                log.exception("turn %d is remembered later", turn.id)
            finally:
                if done:
                    await self._finished(turn)
            if not done:
                loop = asyncio.get_running_loop()
                loop.call_later(CLAIM_AGAIN_S, self._queue.put_nowait, turn)

    async def _remember_up_to(self, turn: UserTurn) -> bool:
        """Remember what the user said up to `turn`; False while another process is at it."""
        async with self._claim(turn.owner) as mine:
            if mine:
                for each in await self._conversations.unremembered_until(turn):
                    await self._remember_one(each)
        return mine

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
            except OUTAGES:
                if attempt == ATTEMPTS:
                    raise
            except Exception as error:
                log.exception("turn %d was not remembered, attempt %d", turn.id, attempt)
                await self._note(turn, error, final=attempt == ATTEMPTS)

    async def _note(self, turn: UserTurn, error: Exception, *, final: bool) -> None:
        # The class and our own message; another library's message may quote what was said.
        reason = type(error).__name__
        if isinstance(error, InferScaleError):
            reason = f"{reason}: {error}"
        try:
            await self._conversations.note_failure(turn, reason, final=final)
        except Exception:
            log.exception("the failure of turn %d could not be noted", turn.id)
