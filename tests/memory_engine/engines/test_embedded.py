"""KV injection on real vLLM, embedded and over HTTP: right, whatever the scheduler does.

Most tests use that a prompt whose front is encoded and injected in place must give the
reply of its prefill. To tell injected KV from prefilled, some encode other tokens under
the ids they inject.
"""

import asyncio
import random
import uuid

import pytest
import pytest_asyncio

from memory_engine.engines.base import EncodeJob
from memory_engine.engines.vllm_engine import VllmEngine
from memory_engine.errors import EngineError
from memory_engine.types import Mode, Prompt, Sampling, Span, Usage

pytestmark = pytest.mark.asyncio(loop_scope="session")


def words(count: int, seed: int) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(200, 40000) for _ in range(count)]


def cut(token_ids: list[int], lengths: list[int]) -> tuple[Span, ...]:
    """Consecutive spans of these lengths under ids of their own."""
    spans, at = [], 0
    for length in lengths:
        spans.append(Span(uuid.uuid4().hex, at, at + length))
        at += length
    assert at < len(token_ids)
    return tuple(spans)


async def reply(
    engine: VllmEngine, prompt: Prompt, mode: Mode, tokens: int = 6, salt: str | None = None
) -> tuple[list[int], Usage]:
    sampling = Sampling(max_tokens=tokens, cache_salt=uuid.uuid4().hex if salt is None else salt)
    ids: list[int] = []
    async for chunk in engine.generate(prompt, mode, sampling):
        ids += chunk.token_ids
        if chunk.usage is not None:
            return ids, chunk.usage
    raise AssertionError("a reply without usage")


async def encoded(
    engine: VllmEngine, owner: str, ids: list[int], spans: tuple[Span, ...]
) -> Prompt:
    assert set(await engine.encode(EncodeJob(owner, ids, spans))) == {s.segment_id for s in spans}
    return Prompt(owner, ids, spans)


@pytest.fixture(params=["real_engine", "remote_engine"])
def engine(request: pytest.FixtureRequest) -> VllmEngine:
    """The embedded engine with the bundled model; one in another process with a tiny model."""
    engine: VllmEngine = request.getfixturevalue(request.param)
    return engine


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def clean(engine: VllmEngine) -> None:
    """Every test starts with an empty arena for its owners, and no pin from the one before."""
    for owner in ("anna", "ben"):
        await engine.drop(owner)
    assert (await engine.arena()).pinned_segments == 0


@pytest.mark.parametrize("lengths", [[1], [31], [32], [33, 1], [20, 44, 7], [63, 65, 2], [96]])
async def test_injection_in_place_gives_the_reply_of_a_prefill(
    engine: VllmEngine, lengths: list[int]
) -> None:
    ids = words(sum(lengths) + 9, seed=sum(lengths))
    prompt = await encoded(engine, "anna", ids, cut(ids, lengths))
    expected, _ = await reply(engine, prompt, Mode.TEXT)
    got, usage = await reply(engine, prompt, Mode.KV)
    assert got == expected
    assert usage.injected_tokens == sum(lengths)
    assert usage.prefilled_tokens == 9
    assert usage.missing == ()


async def test_a_prompt_that_is_injected_whole_still_computes_its_last_token(
    engine: VllmEngine,
) -> None:
    ids = words(64, seed=7)
    prompt = await encoded(engine, "anna", ids, (Span("whole", 0, 64),))
    expected, _ = await reply(engine, prompt, Mode.TEXT)
    got, usage = await reply(engine, prompt, Mode.KV)
    assert got == expected
    assert usage.injected_tokens == 63


async def test_the_same_segments_serve_in_any_order(engine: VllmEngine) -> None:
    token = words(1, seed=8)[0]
    ids = [token] * 70
    a, b, c = (Span(uuid.uuid4().hex, s, e) for s, e in ((0, 17), (17, 47), (47, 67)))
    await encoded(engine, "anna", ids, (a, b, c))
    expected, _ = await reply(engine, Prompt("anna", ids), Mode.TEXT)
    for order in ((c, a, b), (b, c, a), (c, b, a)):
        at, spans = 0, []
        for span in order:
            spans.append(Span(span.segment_id, at, at + span.length))
            at += span.length
        got, usage = await reply(engine, Prompt("anna", ids, tuple(spans)), Mode.KV)
        assert usage.injected_tokens == 67
        assert got == expected


async def test_chunked_prefill_before_and_after_the_injected_part_changes_nothing(
    engine: VllmEngine,
) -> None:
    ids = words(900, seed=9)
    prompt = await encoded(engine, "anna", ids, cut(ids, [290, 270]))
    expected, _ = await reply(engine, prompt, Mode.TEXT)
    got, usage = await reply(engine, prompt, Mode.KV)
    assert usage.injected_tokens == 560
    assert got == expected


async def test_several_injected_requests_at_once_get_their_own_memories(
    engine: VllmEngine,
) -> None:
    prompts = []
    for number in range(4):
        ids = words(100 + number, seed=20 + number)
        prompts.append(await encoded(engine, "anna", ids, cut(ids, [40, 50 + number])))
    alone = [(await reply(engine, p, Mode.TEXT))[0] for p in prompts]
    together = await asyncio.gather(*(reply(engine, p, Mode.KV) for p in prompts))
    assert [ids for ids, _ in together] == alone
    assert all(usage.injected_tokens >= 90 for _, usage in together)


async def test_text_never_gets_what_kv_left_in_the_prefix_cache(
    engine: VllmEngine,
) -> None:
    ids = words(100, seed=40)
    prompt, truth = Prompt("anna", ids, (Span("lie", 0, 96),)), Prompt("anna", ids)
    expected, _ = await reply(engine, truth, Mode.TEXT, salt="")
    await engine.encode(EncodeJob("anna", words(100, seed=41), prompt.spans))
    lied, usage = await reply(engine, prompt, Mode.KV, salt="")
    assert usage.injected_tokens == 96
    assert lied != expected
    for mode, asked in ((Mode.TEXT, prompt), (Mode.TEXT, truth), (Mode.KV, truth)):
        assert (await reply(engine, asked, mode, salt=""))[0] == expected


async def test_another_owner_never_gets_kv(engine: VllmEngine) -> None:
    ids = words(100, seed=42)
    spans = (Span("annas", 0, 96),)
    await engine.encode(EncodeJob("anna", words(100, seed=43), spans))
    await reply(engine, Prompt("anna", ids, spans), Mode.KV, salt="")
    expected, _ = await reply(engine, Prompt("ben", ids), Mode.TEXT, salt="")
    got, usage = await reply(engine, Prompt("ben", ids, spans), Mode.KV, salt="")
    assert got == expected
    assert usage.injected_tokens == 0
    assert usage.missing == ("annas",)


async def test_the_same_kv_request_twice_hits_the_cache_and_replies_alike(
    engine: VllmEngine,
) -> None:
    ids = words(110, seed=44)
    prompt = await encoded(engine, "anna", ids, cut(ids, [50, 50]))
    first, cold = await reply(engine, prompt, Mode.KV, salt="twice")
    again, warm = await reply(engine, prompt, Mode.KV, salt="twice")
    assert first == again
    assert cold.cached_tokens == 0
    assert warm.cached_tokens == 96
    assert warm.injected_tokens == 4


async def test_evicted_segments_are_prefilled_as_text(engine: VllmEngine) -> None:
    ids = words(120, seed=50)
    prompt = await encoded(engine, "anna", ids, cut(ids, [60, 50]))
    for number in range(4):
        other = words(260, seed=51 + number)
        await encoded(engine, "ben", other, cut(other, [250]))
    expected, _ = await reply(engine, prompt, Mode.TEXT)
    got, usage = await reply(engine, prompt, Mode.KV)
    assert got == expected
    assert usage.injected_tokens == 0
    assert set(usage.missing) == {span.segment_id for span in prompt.spans}


async def test_dropped_segments_are_prefilled_as_text(engine: VllmEngine) -> None:
    ids = words(80, seed=60)
    prompt = await encoded(engine, "anna", ids, cut(ids, [30, 40]))
    assert await engine.drop("anna", [prompt.spans[1].segment_id]) == 1
    _, usage = await reply(engine, prompt, Mode.KV)
    assert usage.injected_tokens == 30
    assert usage.missing == (prompt.spans[1].segment_id,)


async def test_closing_a_reply_aborts_it_and_leaves_nothing_pinned(
    engine: VllmEngine,
) -> None:
    ids = words(80, seed=61)
    prompt = await encoded(engine, "anna", ids, cut(ids, [30, 40]))
    for wanted in (0, 1, 3):
        chunks = engine.generate(prompt, Mode.KV, Sampling(max_tokens=200))
        for _ in range(wanted):
            await anext(chunks)
        await chunks.aclose()
    assert (await engine.arena()).pinned_segments == 0
    expected, _ = await reply(engine, prompt, Mode.TEXT)
    assert (await reply(engine, prompt, Mode.KV))[0] == expected


async def test_a_prompt_longer_than_the_context_is_refused_by_name(
    engine: VllmEngine,
) -> None:
    with pytest.raises(EngineError, match="1024"):
        await reply(engine, Prompt("anna", words(1100, seed=62)), Mode.TEXT)


async def test_every_mode_of_choosing_tokens_is_obeyed(engine: VllmEngine) -> None:
    prompt = Prompt("anna", words(30, seed=66))
    schema: dict[str, object] = {"type": "boolean"}
    for sampling, expected in (
        (Sampling(max_tokens=3, allowed_tokens=(321,), ignore_eos=True), [321, 321, 321]),
        (Sampling(max_tokens=4, temperature=1.0, seed=5), None),
        (Sampling(max_tokens=4, json_schema=schema), None),
    ):
        said = []
        for _ in range(2):
            chunks = [c async for c in engine.generate(prompt, Mode.TEXT, sampling)]
            said.append([token for chunk in chunks for token in chunk.token_ids])
        assert said[0] == (expected or said[1])
        if sampling.json_schema:
            assert "".join(chunk.text for chunk in chunks) in ("true", "false")


async def test_a_reply_ends_where_the_context_does(engine: VllmEngine) -> None:
    sampling = Sampling(max_tokens=100, ignore_eos=True)
    prompt = Prompt("anna", words(1000, seed=68))
    chunks = [c async for c in engine.generate(prompt, Mode.TEXT, sampling)]
    assert sum(len(chunk.token_ids) for chunk in chunks) == 24
    assert chunks[-1].finish_reason == "length"


async def test_each_token_comes_with_its_likelihood(engine: VllmEngine) -> None:
    ids = words(60, seed=67)
    prompt = await encoded(engine, "anna", ids, cut(ids, [50]))
    for mode in Mode:
        sampling = Sampling(max_tokens=4, logprobs=3, ignore_eos=True)
        chunks = [c async for c in engine.generate(prompt, mode, sampling)]
        steps = [step for chunk in chunks for step in chunk.logprobs]
        tokens = [token for chunk in chunks for token in chunk.token_ids]
        assert len(steps) == len(tokens) == 4
        for token, step in zip(tokens, steps, strict=True):
            assert len(step) == 3
            assert step[token] == max(step.values()) < 0


async def test_two_hundred_requests_in_a_row_leak_nothing(engine: VllmEngine) -> None:
    ids = words(70, seed=63)
    prompt = await encoded(engine, "anna", ids, cut(ids, [30, 30]))
    before = await engine.arena()
    for batch in range(10):
        await asyncio.gather(
            *(reply(engine, prompt, Mode.KV, tokens=1, salt=f"{batch}") for _ in range(20))
        )
    assert await engine.arena() == before
