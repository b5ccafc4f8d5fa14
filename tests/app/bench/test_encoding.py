"""The rate of encoding, and a chat meanwhile: new owners, nothing left, both ways in turn."""

import pytest

from app.bench.encoding import measure_encoding
from app.bench.material import Material, random_tokens
from app.bench.plan import Bench
from memory_engine.engines.base import EncodeJob
from memory_engine.errors import EngineError
from tests.app.bench.tiered import TieredEngine, silent, started

FACTS = Material.cut_from(random_tokens(5000, 300), 40, 5)
CHATTING = Material.cut_from(random_tokens(5000, 300), 3, 5)
BENCH = Bench(fact_tokens=5, load_k=3, encode_facts=40, encode_in_flight=(1, 2), chat_requests=4)


async def with_chat(engine: TieredEngine | None = None) -> TieredEngine:
    engine = await started(engine or TieredEngine(delay=0.001))
    for run in CHATTING.runs():
        await engine.encode(run)
    return engine


async def test_rate_and_chat_are_measured_for_every_number_in_flight() -> None:
    engine = await with_chat()
    report = await measure_encoding(engine, BENCH, FACTS, CHATTING.prompt(range(3)), silent)
    assert report["facts"] == 40
    assert [rate["in_flight"] for rate in report["rates"]] == [1, 2]
    assert all(rate["facts_per_s"] > 0 for rate in report["rates"])
    for chat in report["chat_while_encoding"]:
        assert chat["n"] == 8
        assert chat["k"] == 3
        assert chat["facts_per_s"] > 0
        assert set(chat["idle_ttft_ms"]) == {"mean", "median", "p90", "p99"}


async def test_no_owner_is_encoded_twice_and_only_the_chat_is_left() -> None:
    engine = await with_chat()
    await measure_encoding(engine, BENCH, FACTS, CHATTING.prompt(range(3)), silent)
    kept = [(job.owner, span.segment_id) for job in engine.encoded for span in job.spans[1:]]
    assert len(set(kept)) == len(kept)
    assert (await engine.arena()).segments == 4


async def test_a_full_arena_is_not_a_fast_one() -> None:
    class Full(TieredEngine):
        async def encode(self, job: EncodeJob) -> tuple[str, ...]:
            saved = await super().encode(job)
            return saved if job.owner == CHATTING.owner else saved[:1]

    engine = await with_chat(Full())
    with pytest.raises(EngineError, match="no room"):
        await measure_encoding(engine, BENCH, FACTS, CHATTING.prompt(range(3)), silent)
