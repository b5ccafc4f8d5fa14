"""A remote engine over a scripted server: what it sends, and what it makes of each answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from memory_engine.engines.base import EncodeJob
from memory_engine.engines.remote import RemoteEngine
from memory_engine.errors import EngineError, EngineStoppedError
from memory_engine.types import Chunk, Mode, Prompt, Sampling, Span
from tests.memory_engine.engines.fake_vllm_server import KEY, FakeServe, serving

IDS = list(range(100, 140))
SPANS = (Span("a", 0, 10), Span("b", 10, 22))
PROMPT = Prompt("anna", IDS, SPANS)


@asynccontextmanager
async def line(
    served: FakeServe, key: str = KEY, timeout: float = 5.0
) -> AsyncIterator[RemoteEngine]:
    engine = RemoteEngine(served.url, key, timeout=timeout)
    try:
        yield engine
    finally:
        await engine.aclose()


@asynccontextmanager
async def started() -> AsyncIterator[tuple[FakeServe, RemoteEngine]]:
    async with serving(FakeServe()) as served, line(served) as engine:
        await engine.start()
        served.bodies.clear()
        yield served, engine


async def said(engine: RemoteEngine, mode: Mode = Mode.KV, **sampling: object) -> list[Chunk]:
    options = {"max_tokens": 5} | sampling
    return [chunk async for chunk in engine.generate(PROMPT, mode, Sampling(**options))]  # type: ignore[arg-type]


async def test_it_learns_what_the_engine_is_from_the_connector() -> None:
    async with started() as (_, engine):
        assert engine.conformance.supported, engine.conformance.reason
        assert (engine.info.model, engine.info.max_model_len) == ("fake", 1000)
        assert (engine.info.arena_tokens, engine.info.kv_bytes_per_token) == (400, 10)


async def test_what_was_encoded_is_injected_and_the_last_chunk_says_so() -> None:
    async with started() as (_, engine):
        assert await engine.encode(EncodeJob("anna", IDS, SPANS)) == ("a", "b")
        *pieces, last = await said(engine)
        assert [token for piece in pieces for token in piece.token_ids] == [140, 141, 142, 143, 144]
        assert last.usage is not None
        assert (last.usage.prompt_tokens, last.usage.injected_tokens) == (40, 22)
        assert (last.usage.output_tokens, last.usage.missing) == (5, ())
        assert last.finish_reason == "length"


async def test_a_reply_of_one_token_has_its_account_without_a_second_request() -> None:
    async with started() as (served, engine):
        await engine.encode(EncodeJob("anna", IDS, SPANS))
        served.bodies.clear()
        (only,) = await said(engine, max_tokens=1)
        assert only.token_ids == (140,)
        assert only.usage is not None
        assert only.usage.injected_tokens == 22
        assert [body["stream"] for body in served.bodies] == [False]


async def test_what_is_not_resident_is_missing_and_another_owners_stays_out_of_reach() -> None:
    async with started() as (_, engine):
        await engine.encode(EncodeJob("ben", IDS, SPANS))
        usage = (await said(engine))[-1].usage
        assert usage is not None
        assert (usage.injected_tokens, usage.missing) == (0, ("a", "b"))
        assert await engine.owned("anna") == ()
        assert await engine.drop("anna") == 0
        assert await engine.owned("ben") == ("a", "b")


async def test_an_engine_without_snapshots_is_asked_what_it_still_has() -> None:
    async with started() as (_, engine):
        await engine.encode(EncodeJob("anna", IDS, SPANS))
        assert await engine.restore("anna") == ("a", "b")
        await engine.snapshot("anna")
        assert await engine.drop("anna", ["a"]) == 1
        assert await engine.restore("anna") == ("b",)
        assert (await engine.arena()).segments == 1


async def test_all_that_decides_a_reply_is_in_the_request() -> None:
    async with started() as (served, engine):
        schema: dict[str, object] = {"type": "object"}
        chunks = await said(
            engine,
            Mode.TEXT,
            stop=("x",),
            seed=3,
            json_schema=schema,
            logprobs=2,
            allowed_tokens=(7, 8),
            ignore_eos=True,
            temperature=0.5,
            top_p=0.9,
        )
        assert chunks[0].logprobs == ({140: -0.5},)
        (body,) = served.bodies
        assert body["prompt"] == IDS
        assert "kv_transfer_params" not in body
        assert body["structured_outputs"] == {"json": schema}
        assert (body["stop"], body["seed"], body["ignore_eos"]) == (["x"], 3, True)
        assert (body["allowed_token_ids"], body["logprobs"]) == ([7, 8], 2)
        assert (body["temperature"], body["top_p"], body["top_k"]) == (0.5, 0.9, 0)
        assert len(body["cache_salt"]) == 64


async def test_text_and_kv_never_share_a_salt() -> None:
    async with started() as (served, engine):
        for mode in Mode:
            await said(engine, mode)
        salts = {body["cache_salt"] for body in served.bodies if body["stream"]}
        assert len(salts) == 2


async def test_closing_a_reply_aborts_it_in_the_engine() -> None:
    async with started() as (served, engine):
        chunks = engine.generate(PROMPT, Mode.TEXT, Sampling(max_tokens=500))
        await anext(chunks)
        await chunks.aclose()
        async with asyncio.timeout(5):
            await served.aborted.wait()


async def test_another_key_is_refused_with_what_to_do() -> None:
    async with serving(FakeServe()) as served, line(served, "x" * 32) as engine:
        with pytest.raises(EngineError, match="INFERSCALE_SIGNING_KEY"):
            await engine.start()


async def test_an_engine_that_is_not_there_is_named() -> None:
    async with serving(FakeServe()) as served:
        url = served.url
    engine = RemoteEngine(url, KEY)
    assert not await engine.healthy()
    with pytest.raises(EngineStoppedError, match=url):
        await engine.start()
    await engine.aclose()


async def test_a_prompt_that_is_too_long_is_the_callers_fault_and_not_a_stop() -> None:
    async with started() as (_, engine):
        with pytest.raises(EngineError, match="longer than 1000") as caught:
            await engine.encode(EncodeJob("anna", IDS * 30, SPANS))
        assert not isinstance(caught.value, EngineStoppedError)


@pytest.mark.parametrize("mishap", ["refuse", "break before", "break after", "hang"])
async def test_an_engine_that_fails_counts_as_stopped(mishap: str) -> None:
    async with serving(FakeServe()) as served, line(served, timeout=0.5) as engine:
        await engine.start()
        served.script.append(mishap)  # type: ignore[arg-type]
        with pytest.raises(EngineStoppedError):
            await said(engine)


async def test_a_model_that_the_gate_refuses_is_served_as_text() -> None:
    async with serving(FakeServe(supported=False)) as served, line(served) as engine:
        await engine.start()
        assert engine.conformance.reason == "its RoPE is not understood"
        usage = (await said(engine))[-1].usage
        assert usage is not None
        assert usage.injected_tokens == 0


async def test_every_answer_tells_which_start_of_the_engine_gave_it() -> None:
    async with started() as (served, engine):
        assert engine.home("anna") == ""
        await said(engine)
        first = engine.home("anna")
        served.restart()
        usage = (await said(engine))[-1].usage
        assert usage is not None
        assert usage.missing == ("a", "b")
        assert engine.home("anna") not in ("", first)
