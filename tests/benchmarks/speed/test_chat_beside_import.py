"""A chat beside an import: both go through the product's queue, and nothing of it is left."""

import asyncio
import threading
from collections.abc import AsyncGenerator

import pytest

from benchmarks.speed import chat_beside_import as chatting
from benchmarks.speed.chat_beside_import import measure_chat, segments_of
from benchmarks.speed.prompt_material import PromptMaterial, random_tokens
from benchmarks.speed.workload import Workload
from memory_engine.encoding.windows import FactSegment
from memory_engine.engines.base import EncodeJob
from memory_engine.types import Chunk, Mode, Prompt, Sampling
from tests.benchmarks.speed.fake_tiered_engine import FakeTieredEngine, started

FACTS = PromptMaterial.cut_from(random_tokens(5000, 300), 40, 5)
CHAT_FACTS = PromptMaterial.cut_from(random_tokens(5000, 300), 3, 5)
WORKLOAD = Workload(fact_tokens=5, load_k=3, encode_facts=40, chat_requests=3)


class Watched(FakeTieredEngine):
    """Encoding takes a while; notes whether one began before a first token."""

    def __init__(self) -> None:
        super().__init__(delay=0.001)
        self.waiting = False
        self.began_while_waiting = 0

    async def generate(
        self, prompt: Prompt, mode: Mode, sampling: Sampling
    ) -> AsyncGenerator[Chunk, None]:
        self.waiting = True
        async for chunk in super().generate(prompt, mode, sampling):
            self.waiting = False
            yield chunk

    async def encode(self, job: EncodeJob) -> tuple[str, ...]:
        self.began_while_waiting += self.waiting
        await asyncio.sleep(0.002)
        return await super().encode(job)


async def no_recall() -> None:
    await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def short_thoughts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chatting, "THINKING_S", (0.01, 0.02))


async def chatting_engine() -> Watched:
    engine = Watched()
    await started(engine)
    for run in CHAT_FACTS.runs():
        await engine.encode(run)
    return engine


async def test_both_ways_are_measured_and_encoding_goes_on_beside_the_chat() -> None:
    engine = await chatting_engine()
    report = await measure_chat(engine, WORKLOAD, FACTS, CHAT_FACTS.prompt(range(3)), no_recall)
    assert (report["k"], report["n"]) == (3, 6)
    assert report["facts_per_s"] > 0
    for side in ("alone", "while_encoding"):
        assert set(report[side]["ttft_ms"]) == {"mean", "median", "p90", "p99"}
        assert report[side]["from_message_ms"]["p99"] >= report[side]["ttft_ms"]["median"]


async def test_no_encode_begins_before_a_first_token_and_parts_are_short() -> None:
    engine = await chatting_engine()
    before = len(engine.encoded)
    await measure_chat(engine, WORKLOAD, FACTS, CHAT_FACTS.prompt(range(3)), no_recall)
    assert engine.began_while_waiting == 0
    assert {len(job.spans) - 1 for job in engine.encoded[before:]} <= {1, 2}


async def test_the_import_is_laid_out_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []

    def noted(material: PromptMaterial, owner: str) -> list[FactSegment]:
        threads.append(threading.current_thread())
        return segments_of(material, owner)

    monkeypatch.setattr(chatting, "segments_of", noted)
    engine = await chatting_engine()
    await measure_chat(engine, WORKLOAD, FACTS, CHAT_FACTS.prompt(range(3)), no_recall)
    assert threads
    assert threading.main_thread() not in threads


async def test_only_the_chat_is_left() -> None:
    engine = await chatting_engine()
    await measure_chat(engine, WORKLOAD, FACTS, CHAT_FACTS.prompt(range(3)), no_recall)
    assert (await engine.arena()).segments == 4


def test_the_segments_are_what_a_run_keeps() -> None:
    segments = segments_of(FACTS, "anna")
    assert len({segment.segment_id for segment in segments}) == 40
    last = segments[-1]
    assert last.context[-5:] == tuple(FACTS.facts[-2])
    assert len(last.context) == (8 + 7) * 5
