"""The whole service over an engine elsewhere: told, injected, broken off, and told so."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.reply_events import Reply, TextDelta
from app.composition import open_service, running_service
from app.service import ChatService
from app.settings import Settings
from memory_engine.errors import EngineError, EngineStoppedError
from memory_engine.types import Message, Mode
from tests.memory_engine.engines.fake_vllm_server import KEY, FakeServe, serving


@asynccontextmanager
async def opened(served: FakeServe, folder: Path, llm: Path) -> AsyncIterator[ChatService]:
    settings = Settings(
        engines=served.url,
        signing_key=KEY,
        model=str(llm),
        extractor="rules",
        data_dir=folder,
        max_tokens=6,
        tail=0,
    )
    async with running_service(settings) as service:
        yield service


async def said(service: ChatService, message: str) -> Reply:
    events = [e async for e in service.reply(user="ann", message=message, mode=Mode.KV)]
    assert isinstance(events[-1], Reply)
    return events[-1]


async def test_what_was_told_is_injected_by_the_engine_elsewhere(
    tmp_path: Path, bundled_llm: Path
) -> None:
    async with serving(FakeServe()) as served:
        async with opened(served, tmp_path, bundled_llm) as service:
            await service.add_fact("ann", "My dog is called Biscuit.")
            await service.settle("ann")
            reply = await said(service, "What is my dog's name?")
            assert reply.injected_tokens > 0
        held = served.side.stats()["segments"]
        assert held == 2  # the prefix and the fact outlive the program
        async with opened(served, tmp_path, bundled_llm) as service:
            served.bodies.clear()
            reply = await said(service, "What is my dog's name?")
            assert reply.injected_tokens > 0
            await service.settle("ann")
        ops = [body["kv_transfer_params"]["inferscale"]["op"] for body in served.bodies]
        assert "encode" not in ops


async def test_a_reply_that_breaks_off_is_an_error_and_its_text_stays(
    tmp_path: Path, bundled_llm: Path
) -> None:
    async with serving(FakeServe()) as served, opened(served, tmp_path, bundled_llm) as service:
        served.script.append("break after")
        shown: list[str] = []

        async def listen() -> None:
            async for event in service.reply(user="ann", message="I ski.", mode=Mode.KV):
                shown.extend([event.text] if isinstance(event, TextDelta) else [])

        with pytest.raises(EngineStoppedError, match="What it said so far is kept"):
            await listen()
        assert len(shown) == 2
        (conversation,) = await service.conversations("ann")
        assert await service.messages("ann", conversation.id) == [
            Message("user", "I ski."),
            Message("assistant", "".join(shown)),
        ]


async def test_an_engine_with_another_key_ends_the_start_with_what_to_do(
    tmp_path: Path, bundled_llm: Path
) -> None:
    async with serving(FakeServe(key="another" * 8)) as served:
        settings = Settings(
            engines=served.url, signing_key=KEY, model=str(bundled_llm), data_dir=tmp_path
        )
        with pytest.raises(EngineError, match="INFERSCALE_SIGNING_KEY") as caught:
            await open_service(settings)
        assert "same secret" in str(caught.value)
