"""Requests that a served engine preempts, because its cache holds too few at once, resume."""

import asyncio

import httpx
import pytest

from memory_engine.engines.remote import RemoteEngine
from memory_engine.types import Mode
from tests.memory_engine.engines.engine_servers import ServedEngine
from tests.memory_engine.engines.test_embedded import cut, encoded, reply, words

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def preemptions(url: str) -> float:
    """The number of preemptions since the engine started, by its own count."""
    async with httpx.AsyncClient() as client:
        metrics = (await client.get(f"{url}/metrics")).text
    name = "vllm:num_preemptions_total"
    return sum(float(line.split()[-1]) for line in metrics.splitlines() if line.startswith(name))


async def test_preempted_requests_resume_with_their_memories(
    remote_engine: RemoteEngine, served_engines: tuple[ServedEngine, ServedEngine]
) -> None:
    prompts = []
    for number in range(7):
        ids = words(180, seed=30 + number)
        prompts.append(await encoded(remote_engine, "anna", ids, cut(ids, [60, 50])))
    # Together they need 7 x 220 tokens of a paged cache of 1,344.
    alone = [(await reply(remote_engine, p, Mode.TEXT, tokens=40))[0] for p in prompts]
    before = await preemptions(served_engines[0].url)
    together = await asyncio.gather(*(reply(remote_engine, p, Mode.KV, tokens=40) for p in prompts))
    assert [ids for ids, _ in together] == alone
    assert await preemptions(served_engines[0].url) > before
    assert (await remote_engine.arena()).pinned_segments == 0
    await remote_engine.drop("anna")
