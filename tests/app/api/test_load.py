"""Many at a time: none fails, none is left, and more than there is room for are told so."""

import asyncio
import os
from pathlib import Path
from time import monotonic
from typing import Any

import psutil
import pytest
from openai import APIError, InternalServerError, RateLimitError

from tests.app.api.api_server import Api, api, served

STREAMS = 50
SECONDS = float(os.environ.get("INFERSCALE_TEST_LOAD_SECONDS", "2"))
# Of the second half alone: in the first one caches fill.
MOST_GROWTH = 48 << 20


def hi(number: int = 0) -> dict[str, Any]:
    message = {"role": "user", "content": f"I have {number} plums."}
    return {"model": ("inferscale-kv", "inferscale-text")[number % 2], "messages": [message]}


async def test_fifty_streams_at_a_time_have_no_error_and_leave_nothing(tmp_path: Path) -> None:
    replies = 0
    memory = []

    async def chat(at: Api, number: int, until: float) -> None:
        nonlocal replies
        async with at.openai() as client:
            while monotonic() < until:
                stream = await client.chat.completions.create(
                    **hi(number), user=f"user {number}", stream=True
                )
                words = [c.choices[0].delta.content or "" async for c in stream]
                assert "".join(words) == "All right then."
                replies += 1

    async def weigh() -> None:
        for _ in range(2):
            await asyncio.sleep(SECONDS / 2)
            memory.append(psutil.Process().memory_info().rss)

    before = asyncio.all_tasks()
    async with served(tmp_path, delay=0.01) as at:
        until = monotonic() + SECONDS
        async with asyncio.TaskGroup() as group:
            for number in range(STREAMS):
                group.create_task(chat(at, number, until))
            group.create_task(weigh())
        assert len(at.context.replies) == 0
        assert at.parts.engine.aborted == 0
        await at.parts.service.settle()
        assert await at.parts.known("user 7") == ["I have 7 plums."]
    assert replies >= STREAMS
    assert memory[1] - memory[0] < MOST_GROWTH
    assert asyncio.all_tasks() == before


async def test_who_finds_too_many_waiting_is_told_when_to_come_back(tmp_path: Path) -> None:
    async with api(tmp_path, {"max_waiting": 2}, delay=0.3) as at, at.openai() as client:
        first = [asyncio.create_task(client.chat.completions.create(**hi(n))) for n in range(2)]
        async with asyncio.timeout(10):
            while len(at.context.replies) < 2:  # noqa: ASYNC110 - two tasks of others
                await asyncio.sleep(0.005)
        with pytest.raises(RateLimitError) as caught:
            await client.chat.completions.create(**hi(), user="bob")
        assert caught.value.response.headers["retry-after"] == "1"
        for reply in await asyncio.gather(*first):
            assert reply.choices[0].message.content == "All right then."
        await client.chat.completions.create(**hi(), user="bob")


async def test_a_user_over_the_limit_does_not_use_up_anothers(tmp_path: Path) -> None:
    settings = {"auth": "keys", "rate_limit": "2/hour"}
    async with api(tmp_path, settings) as at:
        ann, bob = await at.keys.add("ann"), await at.keys.add("bob")
        async with at.openai(ann) as client:
            for _ in range(2):
                await client.chat.completions.create(**hi())
            with pytest.raises(RateLimitError, match="2 per 1 hour") as caught:
                await client.chat.completions.create(**hi(), user="another")
            assert 0 < int(caught.value.response.headers["retry-after"]) <= 3600
        async with at.openai(bob) as client:
            await client.chat.completions.create(**hi())


async def test_at_the_end_streams_finish_and_nothing_begins(tmp_path: Path) -> None:
    async with served(tmp_path, reply=lambda _: "a b c d", delay=0.05) as at, at.openai() as client:
        stream = await client.chat.completions.create(**hi(), stream=True, user="ann")
        draining = asyncio.create_task(at.context.replies.drain(5))
        await asyncio.sleep(0)
        with pytest.raises(InternalServerError) as caught:
            await client.chat.completions.create(**hi())
        assert caught.value.status_code == 503
        words = [c.choices[0].delta.content or "" async for c in stream]
        await draining
    assert "".join(words) == "a b c d"


async def test_a_stream_that_goes_on_too_long_is_ended_and_says_so(tmp_path: Path) -> None:
    async def read(stream: Any) -> None:
        async for _ in stream:
            pass

    async with (
        served(tmp_path, reply=lambda _: "a " * 1000, delay=0.05) as at,
        at.openai() as client,
    ):
        stream = await client.chat.completions.create(**hi(), stream=True, max_tokens=1000)
        draining = asyncio.create_task(at.context.replies.drain(0.1))
        with pytest.raises(APIError, match="stopped"):
            await read(stream)
        await draining
        assert at.parts.engine.aborted == 1
