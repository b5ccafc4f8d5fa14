"""A fleet of two scripted engines behind vLLM's router: who is asked, and what goes wrong."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from memory_engine.engines.base import EncodeJob
from memory_engine.engines.remote import RemoteEngine
from memory_engine.errors import EngineError, EngineStoppedError
from memory_engine.memory import Memory
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.retrieval.embedder import Embedder
from memory_engine.types import MemoryFact, Mode, Prompt, Sampling, Span, Usage
from tests.memory_engine.engines.fake_fleet_site import (
    IDS,
    SPANS,
    Site,
    asked,
    fleet_of,
    ids_of,
    said,
    usage_of,
)
from tests.memory_engine.engines.fake_vllm_server import KEY
from tests.memory_engine.engines.router_server import routed

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def built() -> AsyncIterator[Site]:
    site = Site()
    for number in (0, 1):
        await site.up(number)
    async with routed([engine.url for engine in site.engines]) as site.router:
        yield site
    for number in (0, 1):
        await site.down(number)


@pytest_asyncio.fixture(loop_scope="module")
async def site(built: Site) -> Site:
    await built.repair()
    return built


async def test_all_requests_of_a_user_reach_the_one_engine_that_has_their_kv(site: Site) -> None:
    async with fleet_of(site) as fleet:
        owners = [f"user{n}" for n in range(12)]
        for owner in owners:
            spans = tuple(Span(f"{owner}-{s.segment_id}", s.start, s.end) for s in SPANS)
            await fleet.encode(EncodeJob(owner, IDS, spans))
            prompt = Prompt(owner, IDS, spans)
            chunks = [c async for c in fleet.generate(prompt, Mode.KV, Sampling(max_tokens=3))]
            assert usage_of(chunks).injected_tokens == 22
        homes = [site.of(owner) for owner in owners]
        assert all(len(home) == 1 for home in homes)
        assert {home[0] for home in homes} == {0, 1}


async def test_both_engines_count_and_forgetting_reaches_both(site: Site) -> None:
    async with fleet_of(site) as fleet:
        assert fleet.info.arena_tokens == 2 * 400
        for served in site.engines:
            line = RemoteEngine(served.url, KEY)
            await line.encode(EncodeJob("anna", IDS, SPANS))
            await line.aclose()
        assert (await fleet.arena()).segments == 4
        assert await fleet.owned("anna") == ("a", "b")
        assert await fleet.drop("anna", ["a"]) == 2
        assert await fleet.drop("anna") == 2
        assert await fleet.owned("anna") == ()


async def test_a_drop_that_an_engine_misses_is_done_when_it_is_back(site: Site) -> None:
    async with fleet_of(site) as fleet:
        await fleet.encode(EncodeJob("anna", IDS, SPANS))
        (home,) = site.of("anna")
        await site.down(home)
        await fleet.drop("anna", ["a"])
        await fleet.drop("anna")
        assert site.of("anna") == [home]
        with pytest.raises(EngineStoppedError):
            await fleet.owned("anna")
        await site.up(home)
        async with asyncio.timeout(10):
            while site.of("anna"):  # noqa: ASYNC110
                await asyncio.sleep(0.05)


async def test_a_stream_that_breaks_before_its_first_token_is_tried_again(site: Site) -> None:
    async with fleet_of(site) as fleet:
        for engine in site.engines:
            engine.script.append("break before")
        assert ids_of(await said(fleet, "anna")) == [140, 141, 142, 143, 144]
        streams = [b for e in site.engines for b in e.bodies if b["max_tokens"] == 5]
        assert len(streams) == 2


async def test_a_stream_that_breaks_after_a_token_says_so_and_keeps_what_came(site: Site) -> None:
    async with fleet_of(site) as fleet:
        for engine in site.engines:
            engine.script.append("break after")
        came: list[int] = []
        reply = fleet.generate(Prompt("anna", IDS, SPANS), Mode.KV, Sampling(max_tokens=5))

        async def listen() -> None:
            async for chunk in reply:
                came.extend(chunk.token_ids)

        with pytest.raises(EngineStoppedError, match="middle of the reply"):
            await listen()
        assert came == [140, 141]


async def test_an_engine_that_hangs_is_not_waited_for(site: Site) -> None:
    async with fleet_of(site, timeout=0.5) as fleet:
        for engine in site.engines:
            engine.script.append("hang")
        assert ids_of(await said(fleet, "anna")) == [140, 141, 142, 143, 144]


async def test_a_hundred_users_chat_while_an_engine_restarts(site: Site) -> None:
    async with fleet_of(site) as fleet:
        replies: list[tuple[str, list[int], Usage]] = []
        failures: list[str] = []

        async def chat(owner: str, first: int) -> None:
            ids = list(range(first, first + 30))
            spans = (Span(f"{owner}-a", 0, 1), Span(f"{owner}-b", 1, 2))
            for _ in range(3):
                try:
                    await fleet.encode(EncodeJob(owner, ids, spans))
                    reply = fleet.generate(Prompt(owner, ids, spans), Mode.KV, Sampling(3))
                    chunks = [chunk async for chunk in reply]
                    replies.append((owner, ids_of(chunks), usage_of(chunks)))
                except EngineStoppedError as error:
                    failures.append(str(error))
                await asyncio.sleep(0.3)

        async def restart() -> None:
            await asyncio.sleep(0.5)
            await site.down(0)
            site.engines[0].restart()
            await asyncio.sleep(0.5)
            await site.up(0)

        owners = {f"user{n}": 10 * n for n in range(100)}
        await asyncio.gather(restart(), *(chat(owner, at) for owner, at in owners.items()))
        assert len(replies) + len(failures) == 300
        for owner, ids, usage in replies:
            at = owners[owner] + 30
            assert ids == [at, at + 1, at + 2]
            assert usage.injected_tokens in (0, 2)
            assert set(usage.missing) <= {f"{owner}-a", f"{owner}-b"}
        for told in failures:
            assert "middle of the reply" in told or "does not answer" in told
        assert len(failures) <= 100


async def test_when_no_try_helps_the_user_is_told_to_come_back(site: Site) -> None:
    async with fleet_of(site) as fleet:
        for number in (0, 1):
            await site.down(number)
        with pytest.raises(EngineStoppedError, match="Send the message again"):
            await said(fleet, "anna")


async def test_an_engine_of_another_model_is_not_used(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    site.engines[1]._fingerprint = "other"
    site.engines[1].restart()
    try:
        with caplog.at_level(logging.ERROR):
            async with fleet_of(site) as fleet:
                assert fleet.info.arena_tokens == 400
                await asyncio.sleep(0.6)
        refusals = [r for r in caplog.records if "cannot be used" in r.getMessage()]
        assert len(refusals) == 1
        assert site.engines[1].url in refusals[0].getMessage()
    finally:
        site.engines[1]._fingerprint = "same"


async def test_no_engine_at_all_is_an_error_that_names_them(site: Site) -> None:
    for number in (0, 1):
        await site.down(number)
    with pytest.raises(EngineStoppedError, match=site.engines[1].url):
        async with fleet_of(site):
            pass


async def test_an_engine_that_started_anew_unnoticed_is_checked_and_used(site: Site) -> None:
    async with fleet_of(site) as fleet:
        await fleet.encode(EncodeJob("anna", IDS, SPANS))
        (home,) = site.of("anna")
        site.engines[home].restart()
        assert usage_of(await said(fleet, "anna")).missing == ("a", "b")
        await fleet.encode(EncodeJob("anna", IDS, SPANS))
        assert usage_of(await said(fleet, "anna")).injected_tokens == 22


TEXTS = ["My dog is called Biscuit.", "I work as a baker.", "I live in Bern.", "I play the cello."]


async def test_a_user_whose_engine_dies_is_served_as_text_and_encoded_elsewhere(
    site: Site, bundled_llm: Path, bundled_embedder: Path
) -> None:
    async with fleet_of(site) as fleet:
        memory = Memory(fleet, Embedder(bundled_embedder), ChatTokenizer(bundled_llm), tail=0)
        for owner, texts in (("anna", TEXTS), ("ben", ["I keep bees."])):
            await memory.sync(owner, [MemoryFact(f"{owner} {t}", t) for t in texts])
        await memory.settle()
        _, warm = await asked(memory, "anna")
        assert warm.injected_tokens > 0
        assert warm.missing == ()
        (home,) = site.of("anna")
        await site.down(home)

        facts, moved = await asked(memory, "anna")
        assert facts == set(TEXTS)
        assert moved.injected_tokens == 0
        await memory.settle("anna")
        facts, again = await asked(memory, "anna")
        assert (facts, again.injected_tokens) == (set(TEXTS), warm.injected_tokens)

        site.engines[home].restart()
        await site.up(home)
        await asyncio.sleep(1.5)
        facts, back = await asked(memory, "anna")
        assert (facts, back.injected_tokens) == (set(TEXTS), 0)
        await memory.settle("anna")
        assert (await asked(memory, "anna"))[1].injected_tokens == warm.injected_tokens
        assert (await asked(memory, "ben"))[0] == {"I keep bees."}

        await memory.forget("anna")
        assert site.of("anna") == []
        assert await memory.astray("ben") == []


async def test_an_error_that_another_try_does_not_mend_is_told_at_once(site: Site) -> None:
    async with fleet_of(site) as fleet:
        with pytest.raises(EngineError, match="longer than 1000"):
            await fleet.encode(EncodeJob("anna", IDS * 30, SPANS))
