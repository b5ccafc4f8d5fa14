"""Interleavings of vLLM's scheduler, on real vLLM with a tiny model and a tiny cache.

A step takes 48 tokens and the paged cache holds a few prompts, so that prefills come in
chunks and requests preempt each other. After each test nothing may be held.
"""

import random
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from memory_engine.types import Prompt
from tests.memory_engine.engines.real_vllm.tiny_vllm import TinyEngine, outcome, tiny_engine, tokens
from tests.memory_engine.engines.test_embedded import words as any_words

pytestmark = pytest.mark.asyncio(loop_scope="module")

CACHE = 640 << 10  # bytes: 9 blocks of 32 tokens that requests can have
SET_UPS: dict[str, dict[str, Any]] = {
    "first come, first served": {},
    "priorities": {"scheduling_policy": "priority"},
    # Asked for: on a CPU vLLM declines it. On a GPU it is the default.
    "asynchronous": {"async_scheduling": True},
}


def words(count: int, seed: int) -> list[int]:
    return [3 + word % 500 for word in any_words(count, seed)]


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=SET_UPS.values(), ids=SET_UPS.keys()
)
async def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[TinyEngine]:
    options = {"kv_cache_bytes": CACHE, "max_num_batched_tokens": 48, "max_num_seqs": 8}
    folder = tmp_path_factory.mktemp("tiny")
    async with tiny_engine(folder, **(options | request.param)) as started:
        yield started


@pytest.fixture(autouse=True)
def nothing_leaks(engine: TinyEngine) -> Any:
    yield
    engine.require_nothing_leaked()


@pytest_asyncio.fixture(loop_scope="module")
async def prompts(engine: TinyEngine) -> AsyncIterator[list[Prompt]]:
    """Five prompts of 100 tokens and more, 61 to 65 of them in segments."""
    yield [
        await engine.remember("anna", words(100 + number, number), [40, 21 + number])
        for number in range(5)
    ]
    await engine.drop("anna")


async def test_a_suffix_in_chunks_behind_the_injected_part_changes_nothing(
    engine: TinyEngine,
) -> None:
    ids = words(250, 10)
    for lengths in ([1], [33, 31], [100, 7], [150, 51]):
        prompt = await engine.remember("anna", ids, lengths)
        expected = engine.one(prompt, text=True)
        got = engine.one(prompt)
        assert tokens(got) == tokens(expected)
        assert outcome(got)["injected"] == sum(lengths)
        await engine.drop("anna")


async def test_kv_is_on_its_way_before_vllm_prepares_the_step(
    engine: TinyEngine, prompts: list[Prompt], monkeypatch: pytest.MonkeyPatch
) -> None:
    from vllm.distributed.kv_transfer import get_kv_transfer_group

    worker, core = get_kv_transfer_group().worker, engine.vllm.engine_core.engine_core
    happened: list[str] = []
    for part, name in ((worker._copies, "load"), (core.model_executor, "execute_model")):
        monkeypatch.setattr(part, name, noted(happened, name, getattr(part, name)))
    engine.one(prompts[0], tokens=1)
    assert happened[:2] == ["load", "execute_model"]
    assert happened.count("load") == 1


def noted(happened: list[str], name: str, call: Any) -> Any:
    def called(*args: Any, **options: Any) -> Any:
        happened.append(name)
        return call(*args, **options)

    return called


async def test_requests_that_preempt_each_other_reply_as_when_alone(
    engine: TinyEngine, prompts: list[Prompt]
) -> None:
    alone = [tokens(engine.one(prompt, 40, text=True)) for prompt in prompts]
    prioritised = engine.scheduler.policy.value == "priority"
    added = [
        engine.add(prompt, 40, priority=-number if prioritised else 0)
        for number, prompt in enumerate(prompts)
    ]
    preempted = 0
    outputs: dict[str, Any] = {}
    while engine.vllm.has_unfinished_requests():
        outputs |= {output.request_id: output for output in engine.vllm.step()}
        preempted = max(
            [preempted, *(r.num_preemptions for r in engine.scheduler.requests.values())]
        )
    assert preempted > 0
    together = sorted(outputs.values(), key=lambda output: len(output.prompt_token_ids))
    assert len(together) == len(added)
    assert [tokens(output) for output in together] == alone
    for number, output in enumerate(together):
        assert outcome(output)["injected"] == 61 + number
        # vLLM's own count is that of the first admission, too.
        assert output.num_cached_tokens == outcome(output)["injected"]


@pytest.mark.parametrize("steps", range(7))
async def test_a_request_can_be_aborted_at_any_stage(
    engine: TinyEngine, prompts: list[Prompt], steps: int
) -> None:
    """Queued, in the step that loads, in a chunk behind it, while it decodes."""
    for victim in range(3):
        added = [engine.add(prompt, 30) for prompt in prompts[:3]]
        for _ in range(steps):
            engine.vllm.step()
        engine.vllm.abort_request([added[victim]], internal=True)
        engine.planner.check_integrity()
        assert len(engine.drain()) == 2
        engine.require_nothing_leaked()


async def test_encodes_that_are_aborted_leave_whole_segments_or_none(engine: TinyEngine) -> None:
    from vllm import SamplingParams

    from memory_engine.connector.protocol.params import encode_params

    for steps in range(6):
        ids = words(200, 20 + steps)
        prompt = Prompt("anna", ids, (await engine.remember("ben", ids, [30, 60, 55])).spans)
        await engine.drop("ben")
        extra = {"kv_transfer_params": engine.signed(encode_params("anna", prompt.spans))}
        sampling = SamplingParams(max_tokens=1, extra_args=extra)
        inputs = {"prompt_token_ids": ids, "cache_salt": f"aborted after {steps}"}
        added = engine.vllm.add_request(f"encode {steps}", inputs, sampling)
        for _ in range(steps):
            engine.vllm.step()
        engine.vllm.abort_request([added], internal=True)
        expected = engine.one(prompt, text=True)
        got = engine.one(prompt)
        assert tokens(got) == tokens(expected)
        saved = [0, 30, 90, 145][sum(steps * 48 >= end for end in (30, 90, 145))]
        assert outcome(got)["injected"] == saved
        await engine.drop("anna")


async def test_any_mixture_of_requests_replies_as_text_does(
    engine: TinyEngine, prompts: list[Prompt]
) -> None:
    alone = [tokens(engine.one(prompt, 12, text=True)) for prompt in prompts]
    rng = random.Random(7)
    for _ in range(12):
        wanted: dict[str, list[int]] = {}
        for _ in range(rng.randint(2, 6)):
            number = rng.randrange(len(prompts))
            text, salt = rng.random() < 0.3, rng.choice([None, "shared"])
            # Two different prompts never collide: a salt is only shared by equal ones.
            salt = f"{salt} {number} {text}" if salt else None
            added = engine.add(prompts[number], 12, text=text, salt=salt)
            wanted[added.split("-")[0]] = alone[number]
            for _ in range(rng.randint(0, 3)):
                for output in engine.vllm.step():
                    assert not output.finished or tokens(output) == wanted[output.request_id]
            if rng.random() < 0.2:
                engine.vllm.abort_request([added], internal=True)
        for name, output in engine.drain().items():
            assert tokens(output) == wanted[name]
        engine.require_nothing_leaked()
