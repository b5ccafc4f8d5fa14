"""The service over the real memory: the bundled tokenizer and embedder, and the fake engine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.db.database import Database
from agent.extraction.rule_extractor import RuleExtractor
from agent.reply_events import Reply
from app.service import ChatService
from memory_engine.engines.base import EncodeJob
from memory_engine.engines.fake import FakeEngine
from memory_engine.errors import MessageTooLongError
from memory_engine.memory import Memory
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.retrieval.embedder import Embedder
from memory_engine.types import Mode, Prompt, Span
from tests.agent.agent_builder import prepare, url_of


class Opened:
    """A service over the real memory; the engine replies with the prompt it was given."""

    def __init__(self, folder: Path, llm: Path, embedder: Path) -> None:
        prepare(url_of(folder))
        self.tokenizer = ChatTokenizer(llm)
        self.engine = FakeEngine(self._echo, max_model_len=2048)
        self.folder, self.embedder = folder, embedder
        self.service: ChatService

    async def start(self) -> "Opened":
        await self.engine.start()
        memory = Memory(self.engine, Embedder(self.embedder), self.tokenizer)
        database = Database(url_of(self.folder))
        agent = Agent(memory, database, RuleExtractor())
        self.service = ChatService(agent, memory, database, self.engine.conformance)
        return self

    async def say(self, message: str, user: str = "ann", mode: Mode = Mode.KV) -> Reply:
        events = [e async for e in self.service.reply(user=user, message=message, mode=mode)]
        await self.service.settle(user)
        assert isinstance(events[-1], Reply)
        return events[-1]

    def _echo(self, prompt: Prompt) -> str:
        return self.tokenizer.decode(prompt.token_ids)


@asynccontextmanager
async def opened(folder: Path, llm: Path, embedder: Path) -> AsyncIterator[Opened]:
    parts = await Opened(folder, llm, embedder).start()
    try:
        yield parts
    finally:
        await parts.service.aclose()


FACTS = [
    "My dog is called Biscuit.",
    "I live in Bern.",
    "I play the cello.",
    "My sister is called Ingrid.",
    "I am allergic to walnuts.",
    "My favourite film is Amadeus.",
    "I work as an optician.",
    "I drive an old Volvo.",
]


async def test_a_fact_is_told_recalled_superseded_and_forgotten(
    tmp_path: Path, bundled_llm: Path, bundled_embedder: Path
) -> None:
    async with opened(tmp_path, bundled_llm, bundled_embedder) as parts:
        for text in FACTS:
            await parts.say(text)
    async with opened(tmp_path, bundled_llm, bundled_embedder) as parts:
        await parts.service.settle("ann")
        first = await parts.say("What is my dog's name?")
        assert {fact.text for fact in first.facts} == set(FACTS)
        await parts.service.settle("ann")
        second = await parts.say("What is the name of my dog?")
        assert second.injected_tokens > 0
        assert [f.text for f in second.facts if not f.injected][-1] == "My dog is called Biscuit."
        assert sum(fact.injected for fact in second.facts) == len(FACTS) - 2
        plain = await parts.say("What is the name of my dog?", mode=Mode.TEXT)
        assert plain.reply == second.reply

        await parts.say("I moved to Zurich.")
        moved = await parts.say("Where do I live?")
        texts = {fact.text for fact in moved.facts}
        assert "I moved to Zurich." in texts
        assert "I live in Bern." not in texts
        assert "Bern" not in moved.reply

        dog = next(f for f in await parts.service.facts("ann") if "Biscuit" in f.text)
        before = parts.engine.resident("ann")
        await parts.service.forget_fact("ann", dog.id)
        assert [e.text for e in await parts.service.history("ann", dog.id)] == [None, None]
        after = parts.engine.resident("ann")
        assert not after >= before
        gone = await parts.say("What is my dog's name?")
        assert "Biscuit" not in gone.reply


async def test_an_audit_of_index_and_kv_finds_what_no_fact_needs(
    tmp_path: Path, bundled_llm: Path, bundled_embedder: Path
) -> None:
    async with opened(tmp_path, bundled_llm, bundled_embedder) as parts:
        facts = await parts.service.add_facts("ann", FACTS)
        await parts.service.settle("ann")
        await parts.service.forget_fact("ann", facts[0].id)
        assert [f.place for f in await parts.service.audit("ann") if not f.ok] == []
        await parts.engine.encode(EncodeJob("ann", [1], (Span("forgotten", 0, 1),)))
        assert [f.place for f in await parts.service.audit("ann") if not f.ok] == ["KV"]
        await parts.service.forget_everything("ann")
        assert [f.place for f in await parts.service.audit("ann") if not f.ok] == []
        assert parts.engine.resident("ann") == frozenset()


async def test_another_user_gets_neither_facts_nor_segments(
    tmp_path: Path, bundled_llm: Path, bundled_embedder: Path
) -> None:
    async with opened(tmp_path, bundled_llm, bundled_embedder) as parts:
        await parts.service.add_facts("ann", FACTS)
        await parts.service.add_facts("bob", FACTS[:4])
        await parts.service.settle()
        bob = await parts.say("What is my sister called?", "bob")
        assert {fact.text for fact in bob.facts} <= set(FACTS[:4])
        assert not parts.engine.resident("ann") & parts.engine.resident("bob")


async def test_a_message_that_does_not_fit_is_refused_and_nothing_is_stored(
    tmp_path: Path, bundled_llm: Path, bundled_embedder: Path
) -> None:
    async with opened(tmp_path, bundled_llm, bundled_embedder) as parts:
        with pytest.raises(MessageTooLongError, match="tokens"):
            await parts.say("word " * 3000)
        assert await parts.service.conversations("ann") == []


async def test_control_tokens_in_a_message_stay_text(
    tmp_path: Path, bundled_llm: Path, bundled_embedder: Path
) -> None:
    async with opened(tmp_path, bundled_llm, bundled_embedder) as parts:
        plain = await parts.say("Say <|im_end|> please")
        end = parts.tokenizer.frame.user_to_reply[0]
        assert "<|im_end|>" in plain.reply
        assert end not in parts.tokenizer.encode("Say <|im_end|> please")
