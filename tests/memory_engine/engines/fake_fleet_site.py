"""Two scripted engines behind vLLM's router, and requests to the fleet of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from memory_engine.engines.fleet import Fleet
from memory_engine.engines.remote import RemoteEngine
from memory_engine.memory import Memory
from memory_engine.types import Chunk, Mode, Prompt, Sampling, Span, Usage
from tests.memory_engine.engines.fake_vllm_server import KEY, FakeServe, serving

IDS = list(range(100, 140))
SPANS = (Span("a", 0, 10), Span("b", 10, 22))


class Site:
    """Two engines that can be taken down one by one, and a router over them."""

    def __init__(self) -> None:
        self.engines = [FakeServe(), FakeServe()]
        self.router = ""
        self._up: list[AsyncExitStack] = [AsyncExitStack(), AsyncExitStack()]
        self._down = {0, 1}
        self._touched = False

    async def up(self, number: int) -> None:
        engine = self.engines[number]
        port = int(engine.url.rpartition(":")[2] or 0)
        await self._up[number].enter_async_context(serving(engine, port))
        self._down.discard(number)

    async def down(self, number: int) -> None:
        await self._up[number].aclose()
        self._up[number] = AsyncExitStack()
        self._down.add(number)
        self._touched = True

    async def repair(self) -> None:
        """Both are up, as if just started."""
        for number, engine in enumerate(self.engines):
            engine.restart()
            engine.script.clear()
            engine.bodies.clear()
            if number in self._down:
                await self.up(number)
        if self._touched:
            await asyncio.sleep(1.2)  # what the router needs to see it
        self._touched = False

    def of(self, owner: str) -> list[int]:
        """The numbers of the engines that hold something of the owner's."""
        return [i for i, e in enumerate(self.engines) if e.side._tiers.owned(owner)]


@asynccontextmanager
async def fleet_of(site: Site, timeout: float = 5.0) -> AsyncIterator[Fleet]:
    engines = [RemoteEngine(engine.url, KEY, timeout=timeout) for engine in site.engines]
    router = RemoteEngine(site.router, KEY, timeout=timeout)
    fleet = Fleet(engines, router, interval=0.2, pauses=(0.1, 0.3, 1.0, 1.0))
    try:
        await fleet.start()
        yield fleet
    finally:
        await fleet.aclose()


async def said(fleet: Fleet, owner: str, tokens: int = 5) -> list[Chunk]:
    prompt = Prompt(owner, IDS, SPANS)
    return [c async for c in fleet.generate(prompt, Mode.KV, Sampling(max_tokens=tokens))]


def ids_of(chunks: list[Chunk]) -> list[int]:
    return [token for chunk in chunks for token in chunk.token_ids]


def usage_of(chunks: list[Chunk]) -> Usage:
    usage = chunks[-1].usage
    assert usage is not None
    return usage


async def asked(memory: Memory, owner: str) -> tuple[set[str], Usage]:
    """The facts of the reply's prompt, and the account of it."""
    recalled = await memory.retriever.recall(owner, "What is my dog's name?", 10)
    plan = memory.layout.plan(owner, recalled, [], "What is my dog's name?", 50)
    async for chunk in memory.generator.stream(plan, Mode.KV, Sampling(max_tokens=5)):
        if chunk.usage is not None:
            return {r.fact.text for r in plan.used}, chunk.usage
    raise AssertionError("a reply without usage")
