"""Two real engines behind vLLM's router, one of which is killed in the middle of a reply."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from memory_engine.engines.fleet import Fleet
from memory_engine.engines.remote import RemoteEngine
from memory_engine.errors import EngineError, EngineStoppedError
from memory_engine.memory import Memory
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.retrieval.embedder import Embedder
from memory_engine.types import Chunk, MemoryFact, Mode, Sampling, Usage
from tests.memory_engine.engines.engine_servers import ServedEngine
from tests.memory_engine.engines.fake_vllm_server import KEY
from tests.memory_engine.engines.router_server import routed

pytestmark = pytest.mark.asyncio(loop_scope="session")
OWNERS = [f"user {number}" for number in range(12)]  # so that each engine has some
TEXTS = ("keeps a dog.", "lives in Bern.")


async def asked(memory: Memory, owner: str, mode: Mode, tokens: int = 6) -> tuple[list[int], Usage]:
    plan = memory.layout.plan(
        owner, await memory.retriever.recall(owner, "Who am I?", 9), [], "Who am I?", 6
    )
    ids: list[int] = []
    async for chunk in memory.generator.stream(
        plan, mode, Sampling(max_tokens=tokens, ignore_eos=True)
    ):
        ids += chunk.token_ids
        if chunk.usage is not None:
            return ids, chunk.usage
    raise AssertionError("a reply without usage")


async def url_of(memory_home: str, engines: tuple[ServedEngine, ServedEngine]) -> ServedEngine:
    """The engine whose running start is `memory_home`."""
    for engine in engines:
        line = RemoteEngine(engine.url, KEY)
        start = (await line.fetch_description())["start"]
        await line.aclose()
        if start == memory_home:
            return engine
    raise AssertionError("the answer came from no engine")


async def test_a_program_with_another_key_gets_nothing(
    served_engines: tuple[ServedEngine, ServedEngine],
) -> None:
    line = RemoteEngine(served_engines[0].url, "another" * 8)
    assert await line.healthy()
    with pytest.raises(EngineError, match="INFERSCALE_SIGNING_KEY"):
        await line.start()
    await line.aclose()


async def test_the_secret_is_in_no_list_of_processes(
    served_engines: tuple[ServedEngine, ServedEngine],
) -> None:
    root = psutil.Process(served_engines[0].process.pid)
    lines = [" ".join(process.cmdline()) for process in (root, *root.children(recursive=True))]
    assert any("--kv-transfer-config" in line for line in lines)
    assert not any(KEY in line for line in lines)


async def remembered(memory: Memory) -> dict[str, list[int]]:
    """Tell the memory all owners' facts; the tokens of each one's reply, as KV and as text."""
    for owner in OWNERS:
        facts = [MemoryFact(f"{owner} {text}", f"My friend {owner} {text}") for text in TEXTS]
        await memory.sync(owner, facts)
    await memory.settle()
    expected = {}
    for owner in OWNERS:
        expected[owner], usage = await asked(memory, owner, Mode.KV)
        assert usage.missing == ()
        assert usage.injected_tokens > 0
        assert (await asked(memory, owner, Mode.TEXT))[0] == expected[owner]
    return expected


async def listen(reply: AsyncIterator[Chunk], came: list[int]) -> None:
    """Take in the tokens of the rest of a reply."""
    async for chunk in reply:
        came.extend(chunk.token_ids)


async def test_when_an_engine_is_killed_its_users_are_served_by_the_other(
    served_engines: tuple[ServedEngine, ServedEngine], talking_llama: Path, bundled_embedder: Path
) -> None:
    urls = [engine.url for engine in served_engines]
    async with routed(urls) as router:
        fleet = Fleet([RemoteEngine(url, KEY) for url in urls], RemoteEngine(router, KEY))
        await fleet.start()
        memory = Memory(fleet, Embedder(bundled_embedder), ChatTokenizer(talking_llama), tail=0)
        expected = await remembered(memory)

        victim = served_engines[1]
        unlucky = [
            owner
            for owner in OWNERS
            if (await url_of(fleet.home(owner), served_engines)).url == victim.url
        ]
        recalled = await memory.retriever.recall(unlucky[0], "Who?", 9)
        plan = memory.layout.plan(unlucky[0], recalled, [], "Who?", 900)
        reply = memory.generator.stream(plan, Mode.KV, Sampling(max_tokens=900, ignore_eos=True))
        came = [*(await anext(reply)).token_ids, *(await anext(reply)).token_ids]
        os.kill(victim.process.pid, signal.SIGKILL)
        with pytest.raises(EngineStoppedError, match="middle of the reply"):
            await listen(reply, came)
        assert 2 <= len(came) < 900

        for owner in OWNERS:
            ids, usage = await asked(memory, owner, Mode.KV)
            assert ids == expected[owner]
            assert owner not in unlucky or usage.injected_tokens == 0
        await memory.settle()
        for owner in unlucky:
            ids, usage = await asked(memory, owner, Mode.KV)
            assert ids == expected[owner]
            assert usage.missing == ()
            assert usage.injected_tokens > 0
        for owner in OWNERS:
            await memory.forget(owner)
        await memory.aclose()
