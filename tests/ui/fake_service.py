"""A chat service whose replies and times are written down, for what the page shows of them."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, date, datetime
from typing import Any

from agent.agent import Agent
from agent.conversations.conversation_store import UNTITLED
from agent.db.database import Database
from agent.entities import Conversation, Fact
from agent.extraction.rule_extractor import RuleExtractor
from agent.reply_events import FirstToken, Reply, ReplyEvent, TextDelta, Timings, UsedFact
from app.service import ChatService
from memory_engine.engines.fake import FakeEngine
from memory_engine.errors import EmptyMessageError, NotFoundError
from memory_engine.types import EVERYWHERE, Conformance, Message, Mode, Scope
from tests.agent.fake_memory import FakeMemory

TTFT = {Mode.TEXT: 259.0, Mode.KV: 41.0}


class FakeService(ChatService):
    """Answers `answers[mode]` word by word; `closed` counts the replies that were cut off."""

    def __init__(self, *, kv_available: bool = True, delay: float = 0.0) -> None:
        # An agent over fakes, and a database in memory that is never opened.
        memory, database = FakeMemory(FakeEngine()), Database("sqlite+aiosqlite://")
        refusal = "" if kv_available else "its attention is not supported"
        agent = Agent(memory, database, RuleExtractor())
        super().__init__(agent, memory, database, Conformance(kv_available, refusal))
        self.answers = {Mode.TEXT: "Your dog is Biscuit.", Mode.KV: "Your dog is Biscuit."}
        self.delay = delay
        self.left_out = 0
        self.fails_with: Exception | None = None
        self.refuses_with: Exception | None = None
        self.cut_off_at = ""  # the conversation whose last reply was stopped
        self.closed = 0
        self.asked: list[tuple[str, Any]] = []
        self.known: dict[str, Fact] = {}
        self.kept: dict[str, list[Message]] = {}
        self.kept_traces: dict[str, dict[int, Reply]] = {}  # what `traces` finds
        self.options: list[dict[str, Any]] = []  # what else each reply was asked with

    async def reply(
        self,
        *,
        user: str,
        message: str,
        mode: Mode,
        conversation_id: str | None = None,
        **more: Any,
    ) -> AsyncGenerator[ReplyEvent, None]:
        if not message.strip():
            raise EmptyMessageError("The message is empty. Write something first.")
        self.asked.append((message, mode))
        self.options.append(more)
        self._said(message, conversation_id, again=more.get("again", False))
        finished = False
        try:
            async for event in self._events(mode, conversation_id):
                yield event
            finished = True
        finally:
            self.closed += not finished
        self.kept[conversation_id or "new"].append(Message("assistant", self.answers[mode]))

    async def compare(
        self,
        *,
        user: str,
        message: str,
        conversation_id: str | None = None,
        order: tuple[Mode, ...] = (Mode.TEXT, Mode.KV),
        **more: Any,
    ) -> AsyncGenerator[tuple[Mode, ReplyEvent], None]:
        self.asked.append((message, order))
        self.options.append(more)
        self._said(message, conversation_id, again=more.get("again", False))
        if more.get("at_once"):
            streams = [[event async for event in self._events(m, conversation_id)] for m in order]
            for pair in zip(*streams, strict=True):
                for mode, event in zip(order, pair, strict=True):
                    yield mode, event
        else:
            for mode in order:
                async for event in self._events(mode, conversation_id):
                    yield mode, event
        self.kept[conversation_id or "new"].append(Message("assistant", self.answers[Mode.KV]))

    def _said(self, message: str, conversation_id: str | None, *, again: bool) -> None:
        kept = self.kept.setdefault(conversation_id or "new", [])
        if again:
            del kept[-2:]
        kept.append(Message("user", message))

    async def check(self, user: str, message: str) -> None:
        if not message.strip():
            raise EmptyMessageError("The message is empty. Write something first.")
        if self.refuses_with:
            raise self.refuses_with

    async def last_message(self, user: str, conversation_id: str) -> str:
        said = [m.content for m in self.kept.get(conversation_id, []) if m.role == "user"]
        if not said:
            raise NotFoundError("Nothing was said in this conversation yet.")
        return said[-1]

    async def undo_exchange(self, user: str, conversation_id: str) -> str:
        message = await self.last_message(user, conversation_id)
        del self.kept[conversation_id][-2:]
        return message

    async def _events(
        self, mode: Mode, conversation_id: str | None
    ) -> AsyncGenerator[ReplyEvent, None]:
        await asyncio.sleep(self.delay)
        yield FirstToken(TTFT[mode], TTFT[mode] + 13)
        for number, word in enumerate(self.answers[mode].split(" ")):
            await asyncio.sleep(self.delay)
            yield TextDelta(f" {word}" if number else word)
            if self.fails_with:
                raise self.fails_with
        yield self._reply(mode, conversation_id)

    def _reply(self, mode: Mode, conversation_id: str | None) -> Reply:
        injected = 1240 if mode is Mode.KV else 0
        facts = tuple(
            UsedFact(fact.id, fact.text, fact.when, 0.5, mode is Mode.KV and number > 0)
            for number, fact in enumerate(self.known.values())
        )
        return Reply(
            reply=self.answers[mode], mode=mode, conversation_id=conversation_id,
            finish_reason="stop", ttft_ms=TTFT[mode], e2e_ttft_ms=TTFT[mode] + 13,
            timings=Timings(12, 1, 0.4, TTFT[mode] - 0.4), prompt_tokens=1400,
            injected_tokens=injected, cached_tokens=16, prefilled_tokens=1384 - injected,
            output_tokens=6, facts=facts, left_out=self.left_out,
        )  # fmt: skip

    async def new_conversation(self, user: str) -> str:
        name = f"c{len(self.kept)}"
        self.kept[name] = []
        return name

    async def conversations(self, user: str, search: str = "") -> list[Conversation]:
        when = datetime(2026, 5, 3, 10, tzinfo=UTC)
        return [
            Conversation(name, said[0].content if said else UNTITLED, when)
            for name, said in reversed(self.kept.items())
            if any(search in message.content for message in said) or not search
        ]

    async def messages(self, user: str, conversation_id: str) -> list[Message]:
        return list(self.kept[conversation_id])

    async def traces(self, user: str, conversation_id: str) -> dict[int, Reply]:
        return self.kept_traces.get(conversation_id, {})

    async def cut_off(self, user: str, conversation_id: str) -> bool:
        return self.cut_off_at == conversation_id

    async def facts(self, user: str) -> list[Fact]:
        return list(self.known.values())

    async def add_fact(self, user: str, text: str, scope: Scope = EVERYWHERE) -> Fact:
        if not text.strip():
            raise EmptyMessageError("The message is empty. Write something first.")
        fact = Fact(f"f{len(self.known)}", text, date(2026, 5, 3), datetime.now(UTC))
        return self.known.setdefault(fact.id, fact)

    async def forget_fact(self, user: str, fact_id: str) -> None:
        if self.known.pop(fact_id, None) is None:
            raise NotFoundError("There is no such fact.")

    async def settle(self, user: str | None = None) -> None:
        await asyncio.sleep(self.delay)
