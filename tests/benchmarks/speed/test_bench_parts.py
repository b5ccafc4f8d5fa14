"""All parts of the benchmark on an engine without a model: report, sizes, refusals."""

import pytest

from app.composition import silent
from benchmarks.speed.bench_parts import measure
from benchmarks.speed.prompt_material import random_tokens
from benchmarks.speed.workload import PREFIX_TOKENS, QUESTION_TOKENS, Workload
from memory_engine.engines.base import EncodeJob
from memory_engine.engines.fake import FakeEngine
from memory_engine.errors import EngineStoppedError, SettingsError, UnsupportedModelError
from tests.benchmarks.speed.fake_tiered_engine import FakeTieredEngine, started

WORKLOAD = Workload(ks=(0, 3), fact_tokens=5, repeats=2)
SMALL = Workload(
    ks=(0, 2),
    fact_tokens=5,
    repeats=1,
    host_mib=None,
    fact_lengths=(4, 8),
    concurrency=(2,),
    requests=4,
    output_tokens=(1, 2),
    load_k=2,
    encode_facts=20,
    encode_in_flight=(1,),
    chat_requests=2,
)


def tokens(workload: Workload = WORKLOAD) -> list[int]:
    return random_tokens(5000, workload.tokens_needed)


async def test_a_row_has_the_agreed_fields_and_counts() -> None:
    report = await measure(await started(), WORKLOAD, tokens(), silent)
    assert [row["k"] for row in report["rows"]] == [0, 3]
    row = report["rows"][1]
    assert row["prompt_tokens"] == PREFIX_TOKENS + 15 + QUESTION_TOKENS
    assert row["injected_tokens"] == PREFIX_TOKENS + 15
    assert row["missing_segments"] == 0
    assert set(row["text_ttft_ms"]) == set(row["kv_ttft_ms"]) == {"median", "p90"}
    assert row["speedup"] > 0
    assert report["n"] == 2


async def test_what_was_not_asked_for_is_null() -> None:
    report = await measure(await started(), WORKLOAD, tokens(), silent)
    assert report["fact_lengths"] is report["throughput"] is report["encoding"] is None
    assert report["errors"] == report["seconds"] == {}


async def test_everything_at_once_has_every_part() -> None:
    engine = await started()
    report = await measure(engine, SMALL, tokens(SMALL), silent)
    assert report["errors"] == {}
    assert [row["fact_tokens"] for row in report["fact_lengths"]] == [4, 8]
    assert [row["k"] for row in report["fact_lengths"]] == [2, 2]
    assert [row["output_tokens"] for row in report["throughput"]] == [1, 2]
    assert report["encoding"]["facts"] == 20
    assert set(report["seconds"]) == {"fact_lengths", "throughput", "encoding"}
    assert set(report["bytes_held"]) == {"facts", "a_token", "a_fact", "device", "host"}
    assert (await engine.arena()).segments == 0


async def test_the_arena_is_left_empty() -> None:
    engine = await started()
    await measure(engine, WORKLOAD, tokens(), silent)
    assert (await engine.arena()).segments == 0


async def test_a_part_that_fails_does_not_lose_the_others() -> None:
    class Stops(FakeTieredEngine):
        async def encode(self, job: EncodeJob) -> tuple[str, ...]:
            if job.owner == "bench-4":
                raise EngineStoppedError("gone")
            return await super().encode(job)

    report = await measure(await started(Stops()), SMALL, tokens(SMALL), silent)
    assert report["errors"] == {"fact_lengths": "gone"}
    assert report["fact_lengths"] is None
    assert report["throughput"]


async def test_a_refused_model_is_not_measured() -> None:
    engine = FakeEngine(supported=False)
    await engine.start()
    with pytest.raises(UnsupportedModelError, match="told to refuse"):
        await measure(engine, WORKLOAD, tokens(), silent)


async def test_more_tokens_than_the_engine_takes_is_the_users_error() -> None:
    engine = await started(FakeTieredEngine(max_model_len=60))
    with pytest.raises(SettingsError, match="k=3 with 5 tokens a fact needs 68 tokens"):
        await measure(engine, WORKLOAD, tokens(), silent)
