"""Load: so many in flight, the same cold prompts in both arms, vLLM's definitions."""

import pytest

from app.composition import silent
from benchmarks.speed.measured_request import RequestTimes, measure_request
from benchmarks.speed.prompt_material import PromptMaterial, random_tokens
from benchmarks.speed.throughput import measure_load
from benchmarks.speed.workload import Workload
from memory_engine.errors import EngineError
from memory_engine.types import Mode, Usage
from tests.benchmarks.speed.fake_tiered_engine import FakeTieredEngine, started

WORKLOAD = Workload(
    ks=(0,), fact_tokens=5, concurrency=(4,), requests=8, output_tokens=(1, 3), load_k=3
)


async def with_facts(
    engine: FakeTieredEngine | None = None,
) -> tuple[FakeTieredEngine, PromptMaterial]:
    material = PromptMaterial.cut_from(random_tokens(5000, 200), WORKLOAD.facts, 5)
    engine = await started(engine)
    for run in material.runs():
        await engine.encode(run)
    return engine, material


async def test_a_row_says_what_was_asked_and_how_long_it_took() -> None:
    engine, material = await with_facts(FakeTieredEngine(delay=0.001))
    short, long = await measure_load(engine, WORKLOAD, material, silent)
    assert (short["concurrency"], short["output_tokens"], short["k"]) == (4, 1, 3)
    assert short["requests"] == 8
    for arm in ("text", "kv"):
        assert set(long[arm]["ttft_ms"]) == {"mean", "median", "p90", "p99"}
        assert short[arm]["tpot_ms"] is short[arm]["itl_ms"] is None
        assert long[arm]["tpot_ms"]["median"] > 0
        assert long[arm]["e2el_ms"]["median"] > long[arm]["ttft_ms"]["median"]
        assert long[arm]["requests_per_s"] > 0
        assert len(long[arm]["requests_per_s_of_each_batch"]) == 2
    assert long["kv"]["injected_tokens"] == 32 + 3 * 5
    assert long["text"]["injected_tokens"] == 0


async def test_never_more_than_asked_for_are_in_flight() -> None:
    engine, material = await with_facts(FakeTieredEngine(delay=0.001))
    await measure_load(engine, WORKLOAD, material, silent)
    assert engine.most_in_flight == 4


async def test_both_arms_get_the_same_prompts_with_salts_of_their_own() -> None:
    engine, material = await with_facts()
    await measure_load(engine, WORKLOAD, material, silent)
    salts = [sampling.cache_salt for _, _, sampling in engine.asked]
    assert len(set(salts)) == len(salts)
    asked = {mode: [p.token_ids for m, p, _ in engine.asked if m is mode] for mode in Mode}
    assert sorted(asked[Mode.TEXT]) == sorted(asked[Mode.KV])


async def test_arms_take_turns_and_a_batch_before_them_is_dropped() -> None:
    engine, material = await with_facts()
    await measure_load(engine, WORKLOAD, material, silent)
    modes = [mode for mode, _, _ in engine.asked]
    warm_up, first = modes[:8], modes[8:40]
    assert warm_up == [Mode.TEXT] * 4 + [Mode.KV] * 4
    assert [first[n] for n in (0, 8, 16, 24)] == [Mode.TEXT, Mode.KV, Mode.KV, Mode.TEXT]


async def test_replies_have_the_length_asked_for_whatever_the_model_says() -> None:
    engine, material = await with_facts()
    await measure_load(engine, WORKLOAD, material, silent)
    assert all(sampling.ignore_eos for _, _, sampling in engine.asked)
    with pytest.raises(EngineError, match="ended a reply early"):
        await measure_request(engine, material.prompt([0]), Mode.TEXT, output_tokens=100)


async def test_what_was_not_injected_is_not_measured_as_kv() -> None:
    engine, material = await with_facts()
    await engine.drop(material.owner)
    with pytest.raises(EngineError, match="Is the arena too small"):
        await measure_load(engine, WORKLOAD, material, silent)


def test_tpot_leaves_the_first_token_out() -> None:
    reply = RequestTimes(ttft=100.0, e2el=190.0, usage=Usage(10, output_tokens=10))
    assert reply.tpot == 10.0
    assert RequestTimes(100.0, 100.0, Usage(10, output_tokens=1)).tpot is None
