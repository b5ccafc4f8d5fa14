"""The Biscuit story on real vLLM: told, a restart, asked in a new conversation, injected."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from agent.reply_events import Reply
from app.composition import migrate_database, running_service
from app.service import ChatService
from app.settings import Settings
from memory_engine.engines.base import ArenaStats, EncodeJob, Engine
from memory_engine.types import Chunk, Mode, Prompt, Sampling

pytestmark = pytest.mark.asyncio(loop_scope="session")


class Kept(Engine):
    """The session's engine, which outlives the services over it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.info, self.conformance = engine.info, engine.conformance

    async def start(self) -> None:
        """It runs already."""

    async def generate(
        self, prompt: Prompt, mode: Mode, sampling: Sampling
    ) -> AsyncGenerator[Chunk, None]:
        generating = self._engine.generate(prompt, mode, sampling)
        try:
            async for chunk in generating:
                yield chunk
        finally:
            await generating.aclose()

    async def encode(self, job: EncodeJob) -> tuple[str, ...]:
        return await self._engine.encode(job)

    async def drop(self, owner: str, segment_ids: Sequence[str] | None = None) -> int:
        return await self._engine.drop(owner, segment_ids)

    async def demote(self, owner: str) -> int:
        return await self._engine.demote(owner)

    async def prefetch(self, owner: str) -> int:
        return await self._engine.prefetch(owner)

    async def snapshot(self, owner: str) -> None:
        await self._engine.snapshot(owner)

    async def restore(self, owner: str) -> tuple[str, ...]:
        return await self._engine.restore(owner)

    async def owned(self, owner: str) -> tuple[str, ...]:
        return await self._engine.owned(owner)

    async def arena(self) -> ArenaStats:
        return await self._engine.arena()

    async def aclose(self) -> None:
        """The session closes it."""


async def say(service: ChatService, message: str, mode: Mode = Mode.KV) -> Reply:
    events = [event async for event in service.reply(user="ann", message=message, mode=mode)]
    assert isinstance(events[-1], Reply)
    return events[-1]


async def test_biscuit_is_remembered_over_a_restart_and_injected_then_forgotten(
    real_engine: Engine, bundled_llm: Path, data_dir: Path
) -> None:
    settings = Settings(data_dir=data_dir, model=str(bundled_llm), extractor="rules", max_tokens=24)
    await migrate_database(settings)
    async with running_service(settings, engine=Kept(real_engine)) as service:
        await say(service, "My dog is called Biscuit")
        await service.settle("ann")
        assert [fact.text for fact in await service.facts("ann")] == ["My dog is called Biscuit."]

    await real_engine.drop("ann")
    async with running_service(settings, engine=Kept(real_engine)) as service:
        await service.settle("ann")
        kv = await say(service, "What is my dog's name?")
        assert "Biscuit" in kv.reply
        assert [(fact.text, fact.injected) for fact in kv.facts] == [
            ("My dog is called Biscuit.", True)
        ]
        assert kv.injected_tokens > 0
        assert kv.prefilled_tokens < kv.prompt_tokens
        text = await say(service, "What is my dog's name?", Mode.TEXT)
        assert text.injected_tokens == 0
        assert text.reply == kv.reply

        (fact,) = await service.facts("ann")
        await service.forget_fact("ann", fact.id)
        assert "Biscuit" not in (await say(service, "What is my dog's name?")).reply
