"""An answer's likelihood, token by token, on real vLLM with the bundled model."""

import uuid
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from benchmarks.quality.arms.scoring import ScoredAnswer, score
from memory_engine.engines.base import EncodeJob
from memory_engine.engines.embedded import EmbeddedEngine
from memory_engine.types import Mode, Prompt, Sampling, Span
from tests.memory_engine.engines.test_embedded import words

pytestmark = pytest.mark.asyncio(loop_scope="session")

OWNER = "scored"
ANSWER = words(5, seed=9)


@pytest_asyncio.fixture(loop_scope="session")
async def prompt(real_engine: EmbeddedEngine) -> AsyncIterator[Prompt]:
    """90 of 100 tokens are resident, encoded where they stand."""
    ids = words(100, seed=8)
    spans = (Span(uuid.uuid4().hex, 0, 33), Span(uuid.uuid4().hex, 33, 90))
    assert len(await real_engine.encode(EncodeJob(OWNER, ids, spans))) == 2
    yield Prompt(OWNER, ids, spans)
    await real_engine.drop(OWNER)


async def by_prompt_logprobs(engine: EmbeddedEngine, prompt: Prompt) -> float:
    """Loss of the answer by vLLM itself, as the end of a prompt that it prefills."""
    ids = [*prompt.token_ids, *ANSWER]
    async for output in engine.outputs(
        ids, uuid.uuid4().hex, None, Sampling(max_tokens=1), prompt_logprobs=0
    ):
        if output.prompt_logprobs:
            found = output.prompt_logprobs[len(prompt.token_ids) :]
    said = [float(step[token].logprob) for step, token in zip(found, ANSWER, strict=True)]
    return -sum(said) / len(said)


async def scored(engine: EmbeddedEngine, prompt: Prompt, mode: Mode) -> ScoredAnswer:
    return await score(engine, prompt, mode, ANSWER, most_tokens=6)


async def test_forced_tokens_are_as_likely_as_vllm_finds_them_in_a_prompt(
    real_engine: EmbeddedEngine, prompt: Prompt
) -> None:
    found = await scored(real_engine, prompt, Mode.TEXT)
    expected = await by_prompt_logprobs(real_engine, prompt)
    assert expected > 5, "an answer that the model does not expect"
    assert found.nll == pytest.approx(expected, abs=1e-3)


async def test_kv_in_its_place_makes_an_answer_as_likely_as_text(
    real_engine: EmbeddedEngine, prompt: Prompt
) -> None:
    text = await scored(real_engine, prompt, Mode.TEXT)
    kv = await scored(real_engine, prompt, Mode.KV)
    assert kv.reply.usage.injected_tokens == 90
    assert kv.nll == pytest.approx(text.nll, abs=1e-3)
    assert kv.reply.token_ids == text.reply.token_ids
    assert kv.likeliest == text.likeliest


async def test_kv_of_other_tokens_makes_it_another_likelihood(
    real_engine: EmbeddedEngine, prompt: Prompt
) -> None:
    """So the forced requests are injected too, not only the reply."""
    text = await scored(real_engine, prompt, Mode.TEXT)
    spans = tuple(Span(uuid.uuid4().hex, span.start, span.end) for span in prompt.spans)
    await real_engine.encode(EncodeJob(OWNER, words(100, seed=7), spans))
    kv = await scored(real_engine, Prompt(OWNER, prompt.token_ids, spans), Mode.KV)
    assert abs(kv.nll - text.nll) > 0.01


async def test_the_likeliest_first_token_is_the_replys(
    real_engine: EmbeddedEngine, prompt: Prompt
) -> None:
    """Although another one was forced in its place."""
    found = await scored(real_engine, prompt, Mode.TEXT)
    assert len(found.reply.token_ids) == 6
    assert found.likeliest[0] == found.reply.token_ids[0]
    assert max(found.first, key=found.first.__getitem__) == found.reply.token_ids[0]
    assert len(found.first.keys() - {ANSWER[0]}) == 20
