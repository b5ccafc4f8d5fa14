"""Latency: the arms take turns, and an arm that is not what it claims ends the benchmark."""

import pytest

from app.composition import silent
from benchmarks.speed.latency import WARM_UPS, Arm, LatencyRow, measure_row
from benchmarks.speed.prompt_material import PromptMaterial, random_tokens
from benchmarks.speed.workload import Workload
from memory_engine.errors import EngineError
from memory_engine.types import Mode
from tests.benchmarks.speed.fake_tiered_engine import FakeTieredEngine, started

WORKLOAD = Workload(ks=(3,), fact_tokens=5, repeats=3)


async def with_facts(
    engine: FakeTieredEngine | None = None,
) -> tuple[FakeTieredEngine, PromptMaterial]:
    material = PromptMaterial.cut_from(random_tokens(5000, 200), 3, 5)
    engine = await started(engine)
    for run in material.runs():
        await engine.encode(run)
    return engine, material


async def test_text_and_kv_never_share_a_prefix_cache_and_take_turns() -> None:
    engine, material = await with_facts()
    await measure_row(engine, WORKLOAD, material, 3, silent)
    modes = [mode for mode, _, _ in engine.asked]
    salts = [sampling.cache_salt for _, _, sampling in engine.asked]
    turns = WORKLOAD.repeats + WARM_UPS
    assert all(salts)
    warm = salts[0]
    assert salts.count(warm) == 1 + turns, "one filling run, then one a turn"
    assert len(set(salts)) == len(salts) - turns, "everybody else is alone"
    orders = [tuple(modes[1 + 3 * turn : 4 + 3 * turn]) for turn in range(3)]
    assert len(set(orders)) == 3, "another arm is first every turn"
    assert modes.count(Mode.KV) == turns
    assert len({tuple(prompt.token_ids) for _, prompt, _ in engine.asked}) == 1


async def test_the_first_turn_is_dropped() -> None:
    engine, material = await with_facts()
    row = LatencyRow(engine, material.prompt(range(3)), host=True)
    await row.turn(0, kept=False)
    await row.turn(1, kept=True)
    assert {arm: len(replies) for arm, replies in row._replies.items()} == dict.fromkeys(Arm, 1)


async def test_kv_from_host_memory_is_a_fourth_arm() -> None:
    engine, material = await with_facts()
    workload = Workload(ks=(3,), fact_tokens=5, repeats=2, host_mib=None)
    row = await measure_row(engine, workload, material, 3, silent)
    assert set(row["host_ttft_ms"]) == {"median", "p90"}
    assert row["host_speedup"] > 0


async def test_without_it_the_row_says_so() -> None:
    engine, material = await with_facts()
    row = await measure_row(engine, WORKLOAD, material, 3, silent)
    assert row["host_ttft_ms"] is row["host_speedup"] is None
    assert engine.promotions == 0


async def test_segments_that_did_not_come_from_the_host_are_not_measured_as_if() -> None:
    engine, material = await with_facts(FakeTieredEngine(loses=1))
    workload = Workload(ks=(3,), fact_tokens=5, repeats=1, host_mib=None)
    with pytest.raises(EngineError, match="3 segments came from host memory"):
        await measure_row(engine, workload, material, 3, silent)


async def test_a_fact_that_is_not_resident_ends_the_measurement() -> None:
    engine, material = await with_facts()
    await engine.drop(material.owner, ["bench-fact-1"])
    with pytest.raises(EngineError, match="47 tokens were to be injected"):
        await measure_row(engine, WORKLOAD, material, 3, silent)
