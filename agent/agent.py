"""The agent: the reply graph and the remember graph over one memory and one database."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, tzinfo
from functools import partial

from agent.conversations.client_resolver import ClientResolver
from agent.conversations.conversation_store import ConversationStore
from agent.db.database import Database
from agent.db.utc import utc_now
from agent.entities import UserTurn
from agent.extraction.english.periods import periods
from agent.extraction.extractor import Extractor
from agent.facts.fact_embeddings import FactEmbeddings
from agent.facts.fact_manager import FactManager
from agent.facts.fact_store import FactStore
from agent.facts.memory_sync import MemorySync
from agent.maintenance import Maintenance
from agent.remember.decider import Decider, apply_decisions
from agent.remember.remember_graph import RECURSION_LIMIT, remember_graph
from agent.remember.remember_state import RememberContext
from agent.remember.remember_worker import RememberWorker
from agent.reply.reply_graph import ReplyGraph
from agent.reply.reply_state import ReplyServices
from memory_engine.protocols import MemoryEngine
from memory_engine.types import Sampling

# How long a reply waits at most for what was said just before to become recallable. Only a
# quick extractor is waited for: a model's must not hold up the first token.
CATCH_UP_S = 2.0
# Whose facts are encoded at start: a private assistant's user is among them, and a server of
# many does not encode everybody's.
WARM_OWNERS = 4

log = logging.getLogger(__name__)


class Agent:
    """Runs the two graphs over one memory and one database.

    `replies` answers messages. `recall_k` is how many facts a reply recalls where it is not
    told. `conversations` and `facts` are for reading and listing; changes of facts go through
    `fact_manager`, because the memory has to follow; `maintenance` runs in the background.
    `zone` is the users' time zone. Call `start` once before the first reply.
    """

    def __init__(
        self,
        memory: MemoryEngine,
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
        self.recall_k = recall_k
        # An SQLite file is one machine's: there, what a second program was just told may wait.
        self._shared = not database.is_sqlite
        self._memory = memory
        embeddings = FactEmbeddings(database)
        sync = MemorySync(self.facts, embeddings, memory, preceding_turns)
        self._memory_sync = sync
        self.fact_manager = FactManager(database, self.facts, memory, sync)
        decide = partial(apply_decisions, near=self._near, decider=decider) if decider else None
        self._remember_graph = remember_graph()
        self._remember_context = RememberContext(extractor, self.facts, sync, decide, zone)
        self._remember_worker = RememberWorker(self.conversations, self._remember, database.claim)
        self.maintenance = Maintenance(database, sync, self._remember_worker)
        self._services = ReplyServices(
            memory=memory,
            memory_sync=sync,
            conversations=self.conversations,
            clients=ClientResolver(database, self.conversations),
            catch_up=self._catch_up,
            remember=self._remember_worker.put,
            sampling=sampling or Sampling(),
            recall_k=recall_k,
            zone=zone,
        )
        self.replies = ReplyGraph(self._services)
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

    async def check(self, owner: str, message: str) -> None:
        """Raise what keeps `message` from being answered: MessageTooLongError, EngineError."""
        most = self._services.sampling.max_tokens
        self._memory.layout.plan(owner, (), (), message, most)
        # Only an engine that runs can tell.
        await self._memory.residency(owner)

    @property
    def to_remember(self) -> int:
        """The number of turns that wait to be remembered."""
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

    async def _near(
        self, owner: str, texts: Sequence[str], count: int
    ) -> list[list[tuple[str, float]]]:
        await self._memory_sync.ensure(owner)
        found = await self._memory.retriever.nearest(owner, texts, count)
        return [[(near.fact.id, near.score) for near in each] for each in found]

    async def _warm(self) -> None:
        try:
            # Loads what dates are read with, which the first question would wait for.
            await asyncio.to_thread(periods, "yesterday", utc_now(), self._services.zone)
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
            {"recursion_limit": RECURSION_LIMIT},
            context=self._remember_context,
        )
