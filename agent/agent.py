"""The agent: replies with what it knows, and remembers what it is told."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, tzinfo
from functools import partial
from time import monotonic, perf_counter
from typing import cast

from agent.conversations.client_resolver import ClientResolver
from agent.conversations.conversation_store import ConversationStore
from agent.conversations.stored_traces import trace_to_json
from agent.db.database import Database
from agent.db.utc import utc_now
from agent.entities import UserTurn
from agent.extraction.english.periods import periods
from agent.extraction.extractor import Extractor
from agent.facts.fact_embeddings import FactEmbeddings
from agent.facts.fact_manager import FactManager
from agent.facts.fact_store import FactStore
from agent.facts.memory_sync import MemorySync
from agent.graph_context import RememberContext, ReplyContext
from agent.graph_state import ReplyState
from agent.maintenance import Maintenance
from agent.remember.decider import Decider, apply_decisions
from agent.remember.remember_graph import RECURSION_LIMIT as REMEMBER_LIMIT
from agent.remember.remember_graph import remember_graph
from agent.remember.remember_worker import RememberWorker
from agent.reply.accumulator import ReplyAccumulator
from agent.reply.reply_graph import RECURSION_LIMIT as REPLY_LIMIT
from agent.reply.reply_graph import reply_graph
from agent.reply_events import ReplyEvent
from agent.request import Request
from memory_engine.errors import DatabaseLockedError, DatabaseUnavailableError
from memory_engine.memory import Memory
from memory_engine.types import Mode, Sampling

# How long a reply waits at most for what was said just before to become recallable. Only a
# quick extractor is waited for: a model's must not hold up the first token.
CATCH_UP_S = 2.0
# Whose facts are encoded at start: a private assistant's user is among them, and a server of
# many does not encode everybody's.
WARM_OWNERS = 4
# How long a reply that was shown waits at most for a database that does not answer.
KEEP_S = 10.0
KEEP_AGAIN_S = 0.3


log = logging.getLogger(__name__)


class Agent:
    """Runs the two graphs over one memory and one database.

    `recall_k` is how many facts a reply recalls where it is not told.
    `conversations` and `facts` are for reading and listing; changes of facts go through
    `fact_manager`, because the memory has to follow; `maintenance` runs in the background.
    `zone` is the users' time zone. Call `start` once before the first reply.
    """

    def __init__(
        self,
        memory: Memory,
        database: Database,
        extractor: Extractor,
        *,
        decider: Decider | None = None,
        sampling: Sampling | None = None,
        recall_k: int = 50,
        preceding_turns: int = 0,
        zone: tzinfo = UTC,
    ) -> None:
        self.conversations = ConversationStore(database)
        self.facts = FactStore(database)
        self._clients = ClientResolver(database, self.conversations)
        # An SQLite file is one machine's: there, what a second program was just told may wait.
        self._shared = not database.is_sqlite
        self._memory = memory
        self._memory_sync = MemorySync(
            self.facts, FactEmbeddings(database), memory, preceding_turns
        )
        self._sampling = sampling or Sampling()
        self.recall_k = recall_k
        self._zone = zone
        self._reply_graph = reply_graph()
        self._remember_graph = remember_graph()
        self.fact_manager = FactManager(database, self.facts, memory, self._memory_sync)
        decide = partial(apply_decisions, near=self._near, decider=decider) if decider else None
        self._remember_context = RememberContext(
            extractor, self.facts, self._memory_sync, decide, zone
        )
        self._remember_worker = RememberWorker(self.conversations, self._remember, database.claim)
        self.maintenance = Maintenance(database, self._memory_sync, self._remember_worker)
        self._warming: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start remembering, first what an earlier process was told and did not get to.

        In the background the facts of the latest users are handed to the memory, so that
        their first reply finds them encoded. Calling it again does nothing.
        """
        await self._remember_worker.start()
        self.maintenance.start()
        if self._warming is None:
            self._warming = asyncio.create_task(self._warm(), name="warming")

    async def reply(self, request: Request) -> AsyncGenerator[tuple[Mode, ReplyEvent], None]:
        """Reply in each mode of `request` from one prompt, one after the other.

        Closing the iterator aborts the engine's request and keeps what was shown.
        """
        started = perf_counter()
        request = await self._with_memory_as_set(await self._clients.resolve(request))
        await self._catch_up(request.owner)
        context = ReplyContext(
            memory=self._memory,
            memory_sync=self._memory_sync,
            conversations=self.conversations,
            sampling=request.sampling or self._sampling,
            recall_k=self.recall_k,
            started=started,
            zone=self._zone,
        )
        shown = ReplyAccumulator(request.keep)
        try:
            async with aclosing(self._run(request, context, shown)) as events:
                async for event in events:
                    yield event
        except Exception:
            shown.failed = True
            raise
        finally:
            # Also when the caller was cancelled: what was shown is kept.
            await asyncio.shield(self._finish(shown, request))

    async def check(self, owner: str, message: str) -> None:
        """Raise what keeps `message` from being answered: MessageTooLongError, EngineError."""
        self._memory.plan(owner, (), (), message, self._sampling.max_tokens)
        # Only an engine that runs can tell.
        await self._memory.residency(owner)

    @property
    def to_remember(self) -> int:
        """How many turns wait to be remembered."""
        return self._remember_worker.waiting

    async def settle(self, owner: str | None = None) -> None:
        """Wait until remembering and encoding (of `owner`, or of all) are done.

        After a start the memory holds nobody's facts: those of a named `owner` are handed over.
        """
        await self._remember_worker.settle(owner)
        if owner is not None:
            await self._memory_sync.ensure(owner)
        await self._memory.settle(owner)

    async def aclose(self) -> None:
        """Remember what is queued, then stop."""
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.wait([self._warming])
        await self._remember_worker.aclose()
        await self.maintenance.aclose()

    async def _run(
        self, request: Request, context: ReplyContext, shown: ReplyAccumulator
    ) -> AsyncGenerator[tuple[Mode, ReplyEvent], None]:
        stream = self._reply_graph.astream(
            ReplyState(request=request),
            {"recursion_limit": REPLY_LIMIT},
            context=context,
            stream_mode="custom",
        )
        parts = cast(AsyncGenerator[UserTurn | tuple[Mode, ReplyEvent], None], stream)
        async with aclosing(parts):
            async for part in parts:
                if isinstance(part, UserTurn):
                    shown.turn = part
                    continue
                mode, event = part
                shown.see(mode, event)
                yield mode, event

    async def _with_memory_as_set(self, request: Request) -> Request:
        conversation = request.conversation_id
        if conversation is None or await self.conversations.has_memory(request.owner, conversation):
            return request
        return replace(request, k=0, remember=False)

    async def _near(
        self, owner: str, texts: Sequence[str], count: int
    ) -> list[list[tuple[str, float]]]:
        await self._memory_sync.ensure(owner)
        found = await self._memory.nearest(owner, texts, count)
        return [[(near.fact.id, near.score) for near in each] for each in found]

    async def _finish(self, shown: ReplyAccumulator, request: Request) -> None:
        if shown.turn is None:
            return
        try:
            await self._keep(shown, shown.turn, replacing=request.again)
        finally:
            if request.remember and not request.again:
                self._remember_worker.put(shown.turn)

    async def _keep(self, shown: ReplyAccumulator, turn: UserTurn, *, replacing: bool) -> None:
        """Store what was shown. A database that is being restarted is waited for."""
        deadline = monotonic() + KEEP_S
        trace = trace_to_json(shown.reply) if shown.reply else None
        while True:
            try:
                await self.conversations.add_reply(
                    turn, shown.text, shown.status, trace=trace, replacing=replacing
                )
                return
            except (DatabaseLockedError, DatabaseUnavailableError):
                if monotonic() > deadline:
                    raise
                await asyncio.sleep(KEEP_AGAIN_S)
                # The connection may have broken when the reply was stored already.
                replacing = True

    async def _warm(self) -> None:
        try:
            # Loads what dates are read with, which the first question would wait for.
            await asyncio.to_thread(periods, "yesterday", utc_now(), self._zone)
            for owner in await self.facts.latest_owners(WARM_OWNERS):
                await self._memory_sync.ensure(owner)
        except Exception:
            # The first reply does the same, and raises to whoever asked.
            log.exception("facts could not be prepared")

    async def _catch_up(self, owner: str) -> None:
        if not self._remember_context.extractor.quick:
            return
        try:
            async with asyncio.timeout(CATCH_UP_S):
                if self._shared:
                    await self._remember_worker.take_over(owner)
                await self._remember_worker.settle(owner)
        except TimeoutError:
            log.warning("a reply did not wait any longer for what was said before it")

    async def _remember(self, turn: UserTurn) -> None:
        await self._remember_graph.ainvoke(
            {"turn": turn},
            {"recursion_limit": REMEMBER_LIMIT},
            context=self._remember_context,
        )
