"""The rate of encoding: new owners, nothing left."""

import pytest

from app.composition import silent
from benchmarks.speed.encoding_rate import measure_encoding
from benchmarks.speed.prompt_material import PromptMaterial, random_tokens
from benchmarks.speed.workload import Workload
from memory_engine.engines.base import EncodeJob
from memory_engine.errors import EngineError
from tests.benchmarks.speed.fake_tiered_engine import FakeTieredEngine, started

FACTS = PromptMaterial.cut_from(random_tokens(5000, 300), 40, 5)
WORKLOAD = Workload(fact_tokens=5, encode_facts=40, encode_in_flight=(1, 2))


async def test_the_rate_is_measured_for_every_number_in_flight() -> None:
    engine = await started(FakeTieredEngine(delay=0.001))
    report = await measure_encoding(engine, WORKLOAD, FACTS, silent)
    assert report["facts"] == 40
    assert [rate["in_flight"] for rate in report["rates"]] == [1, 2]
    assert all(rate["facts_per_s"] > 0 for rate in report["rates"])


async def test_no_owner_is_encoded_twice_and_nothing_is_left() -> None:
    engine = await started()
    await measure_encoding(engine, WORKLOAD, FACTS, silent)
    kept = [(job.owner, span.segment_id) for job in engine.encoded for span in job.spans[1:]]
    assert len(set(kept)) == len(kept)
    assert (await engine.arena()).segments == 0


async def test_a_full_arena_is_not_a_fast_one() -> None:
    class Full(FakeTieredEngine):
        async def encode(self, job: EncodeJob) -> tuple[str, ...]:
            return (await super().encode(job))[:1]

    with pytest.raises(EngineError, match="no room"):
        await measure_encoding(await started(Full()), WORKLOAD, FACTS, silent)
