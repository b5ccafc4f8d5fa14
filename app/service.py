"""The service: what chat, CLI and API call. Checks what comes in; the agent does the work."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Self

from agent.agent import Agent
from agent.candidate import Candidate
from agent.database import Database
from agent.events import ReplyEvent
from agent.records import Conversation, Fact, FactEvent
from agent.request import Request
from agent.stated import stated
from agent.text import storable
from memory_engine.errors import EmptyMessageError, UnsupportedModelError, UserError
from memory_engine.memory import Memory
from memory_engine.types import Conformance, Message, Mode, Sampling

__all__ = ["ChatService", "Conversation", "Fact", "FactEvent"]


class ChatService:
    """One instance per process; safe to call concurrently from one event loop.

    It owns `memory` and `database`: `aclose` closes them. `kv_refusal` is the reason why
    the conformance gate refused the model, or empty.
    """

    def __init__(
        self, agent: Agent, memory: Memory, database: Database, conformance: Conformance
    ) -> None:
        self._agent = agent
        self._memory = memory
        self._database = database
        self.kv_available = conformance.supported
        self.kv_refusal = conformance.reason

    async def start(self) -> Self:
        """Start remembering what an earlier process was told and did not get to.

        Without it that happens at the first reply.
        """
        await self._agent.start()
        return self

    async def reply(
        self,
        *,
        user: str,
        message: str,
        mode: Mode,
        conversation_id: str | None = None,
        k: int | None = None,
        remember: bool = True,
        sampling: Sampling | None = None,
    ) -> AsyncGenerator[ReplyEvent, None]:
        """Stream a FirstToken, TextDeltas and last a Reply. Closing it aborts the generation.

        The user's turn is on disk before the engine is asked, the reply (or what was shown
        of it) when it ends. Without `conversation_id` a new conversation begins; without
        `remember` as well, nothing is stored.

        Raises EmptyMessageError, MessageTooLongError and NotFoundError before anything is
        stored, UnsupportedModelError for KV where it is not available, and EngineError.
        """
        if mode is Mode.KV and not self.kv_available:
            raise UnsupportedModelError(
                f"KV injection is not available with this model: {self.kv_refusal} Use text mode."
            )
        request = Request(
            _owner(user), _text(message), (mode,), mode, conversation_id, k, remember, sampling
        )
        async with aclosing(self._replies(request)) as events:
            async for _, event in events:
                yield event

    async def compare(
        self,
        *,
        user: str,
        message: str,
        conversation_id: str | None = None,
        k: int | None = None,
        order: tuple[Mode, ...] = (Mode.TEXT, Mode.KV),
        remember: bool = True,
        sampling: Sampling | None = None,
    ) -> AsyncGenerator[tuple[Mode, ReplyEvent], None]:
        """Reply in every mode of `order` on identical token ids, one after the other.

        The transcript keeps the KV reply. Where KV is not available only text replies.
        """
        modes = tuple(mode for mode in order if self.kv_available or mode is Mode.TEXT)
        keep = Mode.KV if Mode.KV in modes else Mode.TEXT
        request = Request(
            _owner(user), _text(message), modes, keep, conversation_id, k, remember, sampling
        )
        async with aclosing(self._replies(request)) as events:
            async for event in events:
                yield event

    async def new_conversation(self, user: str) -> str:
        """Start a conversation and return its id."""
        return await self._agent.transcript.new_conversation(_owner(user))

    async def conversations(self, user: str) -> list[Conversation]:
        """The conversations of `user`, newest first."""
        return await self._agent.transcript.conversations(_owner(user))

    async def messages(self, user: str, conversation_id: str) -> list[Message]:
        """A conversation's turns, exactly as they were said. Raises NotFoundError."""
        return await self._agent.transcript.messages(_owner(user), conversation_id)

    async def facts(self, user: str) -> list[Fact]:
        """What is known about `user` now, in time order."""
        return await self._agent.facts.active(_owner(user))

    async def add_fact(self, user: str, text: str) -> Fact:
        """Remember `text`; returns the fact that says it, which may have been known before.

        Raises UserError for a secret and for text too long to be a fact.
        """
        return (await self.add_facts(user, [text]))[0]

    async def add_facts(self, user: str, texts: Sequence[str]) -> list[Fact]:
        """`add_fact` for many texts, all or none of them."""
        candidates: list[Candidate] = [stated(_text(text)) for text in texts]
        return await self._agent.add(_owner(user), candidates)

    async def forget_fact(self, user: str, fact_id: str) -> None:
        """Forget a fact; returns when SQL, index and KV are rid of it. Raises NotFoundError."""
        await self._agent.forget(_owner(user), fact_id)

    async def history(self, user: str, fact_id: str | None = None) -> list[FactEvent]:
        """What happened to one fact, or to all of the user's, oldest first."""
        return await self._agent.facts.history(_owner(user), fact_id)

    async def settle(self, user: str | None = None) -> None:
        """Wait until remembering and encoding (of `user`, or of all) are done."""
        await self._agent.start()
        await self._agent.settle(user if user is None else _owner(user))

    async def aclose(self) -> None:
        """Remember what was said, then close memory, engine and database."""
        try:
            await self._agent.aclose()
        finally:
            try:
                await self._memory.aclose()
            finally:
                await self._database.aclose()

    async def _replies(self, request: Request) -> AsyncGenerator[tuple[Mode, ReplyEvent], None]:
        await self._agent.start()
        async with aclosing(self._agent.reply(request)) as events:
            async for event in events:
                yield event


def _owner(user: str) -> str:
    owner = storable(user).strip()
    if not owner:
        raise UserError("Name a user: the name may not be blank.")
    return owner


def _text(message: str) -> str:
    text = storable(message)
    if not text.strip():
        raise EmptyMessageError("The message is empty. Write something first.")
    return text
