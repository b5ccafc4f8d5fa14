"""The service that page, API and command line call: checks input, then asks the agent."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import date
from typing import Self, Unpack

from agent.agent import Agent
from agent.conversations.stored_traces import stored_traces
from agent.db.database import Database
from agent.entities import Conversation, Fact, FactEvent
from agent.extraction.candidate import Candidate
from agent.facts.erasure_audit import Finding, audit_stored
from agent.facts.manual_facts import manual_candidate
from agent.facts.transfer.export_schema import Document, FactDocument
from agent.facts.transfer.exporter import export_fact, export_facts
from agent.facts.transfer.importer import Imported
from agent.owner import agent_name, owner_name
from agent.reply_events import Reply, ReplyEvent
from agent.request import ReplyOptions
from agent.text import storable
from app.checked_input import message_text, reply_request
from app.metrics import measured
from memory_engine.encoding.residency import Residency
from memory_engine.errors import (
    NotFoundError,
    UnsupportedModelError,
    UserError,
)
from memory_engine.protocols import MemoryEngine
from memory_engine.types import EVERYWHERE, Conformance, Message, Mode, Scope

__all__ = ["ChatService", "Conversation", "Fact", "FactEvent", "Scope"]


class ChatService:
    """One instance per process; safe to call concurrently from one event loop.

    It owns `memory` and `database`: `aclose` closes them. `kv_refusal` is the reason why
    the conformance gate refused the model, or empty; `recall_k` how many facts a reply
    recalls where it is not told.
    """

    def __init__(
        self, agent: Agent, memory: MemoryEngine, database: Database, conformance: Conformance
    ) -> None:
        self._agent = agent
        self._memory = memory
        self._database = database
        self.recall_k = agent.recall_k
        self.kv_available = conformance.supported
        self.kv_refusal = conformance.reason

    async def start(self) -> Self:
        """Start remembering what an earlier process was told and did not get to.

        Without it that happens at the first reply.
        """
        await self._agent.start()
        return self

    async def reply(
        self, *, user: str, message: str, mode: Mode, **options: Unpack[ReplyOptions]
    ) -> AsyncGenerator[ReplyEvent, None]:
        """Stream a FirstToken, TextDeltas and last a Reply. Closing it aborts the generation.

        The user's turn is on disk before the engine is asked, the reply (or what was shown
        of it) when it ends. Without `conversation_id` a new conversation begins.

        Raises EmptyMessageError, MessageTooLongError and NotFoundError before anything is
        stored, UnsupportedModelError for KV where it is not available, and EngineError.
        """
        if mode is Mode.KV and not self.kv_available:
            raise UnsupportedModelError(
                f"KV injection is not available with this model: {self.kv_refusal} Use text mode."
            )
        request = reply_request(user, message, (mode,), mode, options)
        await self._agent.start()
        async with aclosing(measured(self._agent.replies.reply(request))) as events:
            async for _, event in events:
                yield event

    async def compare(
        self,
        *,
        user: str,
        message: str,
        order: tuple[Mode, ...] = (Mode.TEXT, Mode.KV),
        at_once: bool = False,
        **options: Unpack[ReplyOptions],
    ) -> AsyncGenerator[tuple[Mode, ReplyEvent], None]:
        """Reply in every mode of `order` on identical token ids, one after the other.

        With `at_once` they run together, share the engine, and slow each other down.

        The conversation keeps the KV reply. Where KV is not available only text replies.
        """
        modes = tuple(mode for mode in order if self.kv_available or mode is Mode.TEXT)
        keep = Mode.KV if Mode.KV in modes else Mode.TEXT
        request = reply_request(user, message, modes, keep, options, at_once=at_once)
        await self._agent.start()
        async with aclosing(measured(self._agent.replies.reply(request))) as events:
            async for event in events:
                yield event

    async def check(self, user: str, message: str) -> None:
        """Raise the error that would keep `message` from being answered, before room is made.

        Raises EmptyMessageError, MessageTooLongError, and EngineError if the engine is gone.
        """
        await self._agent.check(owner_name(user), message_text(message))

    async def last_message(self, user: str, conversation_id: str) -> str:
        """The user's last message in a conversation. Raises NotFoundError."""
        return (
            await self._agent.conversations.last_message(owner_name(user), conversation_id)
        ).text

    async def undo_exchange(self, user: str, conversation_id: str) -> str:
        """Remove the last message of a conversation and the replies to it; the message.

        What only it taught is forgotten, and what that took the place of holds again.
        Raises NotFoundError.
        """
        return await self._agent.fact_manager.undo_exchange(owner_name(user), conversation_id)

    async def new_conversation(self, user: str) -> str:
        """Start a conversation and return its id."""
        return await self._agent.conversations.new_conversation(owner_name(user))

    async def conversations(self, user: str, search: str = "") -> list[Conversation]:
        """The conversations of `user`, newest first; those in which `search` was said."""
        return await self._agent.conversations.conversations(owner_name(user), storable(search))

    async def rename_conversation(self, user: str, conversation_id: str, title: str) -> None:
        """Give a conversation another title. Raises NotFoundError, and UserError for none."""
        title = storable(title)
        if not title.strip():
            raise UserError("A conversation needs a title. Write one first.")
        await self._agent.conversations.rename(owner_name(user), conversation_id, title)

    async def set_memory(self, user: str, conversation_id: str, *, memory: bool) -> None:
        """Switch recalling and remembering on or off in a conversation. Raises NotFoundError."""
        await self._agent.conversations.set_memory(owner_name(user), conversation_id, memory=memory)

    async def messages(self, user: str, conversation_id: str) -> list[Message]:
        """A conversation's turns, exactly as they were said. Raises NotFoundError."""
        return await self._agent.conversations.messages(owner_name(user), conversation_id)

    async def traces(self, user: str, conversation_id: str) -> dict[int, Reply]:
        """The replies of a conversation that have a trace, by their number in `messages`.

        A fact that was forgotten since has an empty text. Raises NotFoundError.
        """
        return await stored_traces(self._database, owner_name(user), conversation_id)

    async def cut_off(self, user: str, conversation_id: str) -> bool:
        """True if the last reply was stopped or failed before its end. Raises NotFoundError."""
        status = await self._agent.conversations.last_status(owner_name(user), conversation_id)
        return status in ("stopped", "failed")

    async def facts(self, user: str) -> list[Fact]:
        """The active facts of `user`, in time order."""
        return await self._agent.facts.active(owner_name(user))

    async def add_fact(self, user: str, text: str, scope: Scope = EVERYWHERE) -> Fact:
        """Remember `text`; returns the fact that says it, which may have been known before.

        Raises UserError for a secret and for text too long to be a fact, and NotFoundError for
        a scope in a conversation that is not the user's.
        """
        return (await self.add_facts(user, [text], scope))[0]

    async def add_facts(
        self, user: str, texts: Sequence[str], scope: Scope = EVERYWHERE
    ) -> list[Fact]:
        """`add_fact` for many texts, all or none of them."""
        candidates: list[Candidate] = [manual_candidate(message_text(text)) for text in texts]
        if scope.agent is not None:
            scope = replace(scope, agent=agent_name(scope.agent))
        return await self._agent.fact_manager.add(owner_name(user), candidates, scope)

    async def edit_fact(self, user: str, fact_id: str, text: str) -> Fact:
        """Change what a fact says; the old text stays in the history, as superseded.

        Raises what `add_fact` raises, NotFoundError, and UserError for a fact that has ended.
        """
        return await self._agent.fact_manager.edit(
            owner_name(user), fact_id, manual_candidate(message_text(text))
        )

    async def teach(
        self, user: str, message: str, reply: str, facts: Sequence[tuple[str, date | None]]
    ) -> str:
        """Add dated facts as said by one message of a new conversation; the conversation's id.

        They go when it is forgotten.
        """
        candidates = [
            manual_candidate(message_text(text)).dated(when, None) for text, when in facts
        ]
        return await self._agent.fact_manager.teach(owner_name(user), message, reply, candidates)

    async def fact(self, user: str, fact_id: str) -> FactDocument:
        """One fact, with who said it and what happened to it. NotFoundError if forgotten."""
        return await export_fact(self._database, owner_name(user), fact_id)

    async def residency(self, user: str) -> Residency:
        """The tiers that hold the KV of the user's facts."""
        return await self._agent.fact_manager.residency(owner_name(user))

    async def search(self, user: str, query: str, k: int) -> list[tuple[Fact, float]]:
        """The `k` facts most relevant to `query` with their scores, best first."""
        return await self._agent.fact_manager.search(owner_name(user), message_text(query), k)

    async def forget_fact(self, user: str, fact_id: str) -> None:
        """Forget a fact; returns when SQL, index and KV are rid of it. Raises NotFoundError."""
        failed = await self.forget_facts(user, [fact_id])
        if failed:
            raise NotFoundError(failed[fact_id])

    async def forget_facts(self, user: str, fact_ids: Sequence[str]) -> dict[str, str]:
        """`forget_fact` for many; the reasons for those that could not be, by id."""
        return await self._agent.fact_manager.forget(owner_name(user), fact_ids)

    async def forget_conversation(self, user: str, conversation_id: str) -> int:
        """Delete a conversation and the facts that were said in no other; how many facts.

        Raises NotFoundError.
        """
        return await self._agent.fact_manager.forget_conversation(owner_name(user), conversation_id)

    async def forget_everything(self, user: str) -> int:
        """Delete a user with all that is known, said and computed; how many facts.

        Raises EngineError when SQL is rid of it and the engine failed at the KV.
        """
        return await self._agent.fact_manager.forget_everything(owner_name(user))

    async def undo(self, user: str, fact_id: str) -> list[Fact]:
        """Undo the last change of a fact; returns the facts that hold again.

        Raises NotFoundError, and UserError where there is nothing that can be undone.
        """
        return await self._agent.fact_manager.undo(owner_name(user), fact_id)

    async def export_facts(self, user: str) -> Document:
        """All facts of `user`, active and ended, but for forgotten ones, as a document."""
        return await export_facts(self._database, owner_name(user))

    async def import_facts(self, user: str, document: str) -> Imported:
        """Add the facts of an export; twice changes nothing. Raises UserError."""
        return await self._agent.fact_manager.import_facts(owner_name(user), document)

    async def audit(self, user: str) -> list[Finding]:
        """The findings of an audit of index and KV: what they hold of `user` without a fact."""
        await self._agent.start()
        return await self._agent.fact_manager.audit(owner_name(user))

    async def full_audit(self, user: str) -> list[Finding]:
        """The findings of an audit of tables and SQLite file, then those of `audit`."""
        found = await audit_stored(self._database, owner_name(user))
        return found + await self.audit(user)

    async def history(self, user: str, fact_id: str | None = None) -> list[FactEvent]:
        """The events of one fact, or of all of the user's, oldest first."""
        return await self._agent.facts.history(owner_name(user), fact_id)

    @property
    def database(self) -> Database:
        """The database; the service closes it."""
        return self._database

    @property
    def to_remember(self) -> int:
        """The number of messages, of all users, that wait to be remembered."""
        return self._agent.to_remember

    async def settle(self, user: str | None = None) -> None:
        """Wait until remembering and encoding (of `user`, or of all) are done."""
        await self._agent.start()
        await self._agent.settle(user if user is None else owner_name(user))

    async def aclose(self) -> None:
        """Remember what was said, then close memory, engine and database."""
        try:
            await self._agent.aclose()
        finally:
            try:
                await self._memory.aclose()
            finally:
                await self._database.aclose()
