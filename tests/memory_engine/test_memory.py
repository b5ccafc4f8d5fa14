"""The memory over the fake engine: what is encoded, dropped, recalled and encoded again."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from memory_engine.encoding.residency import Tier
from memory_engine.engines.base import EncodeJob
from memory_engine.engines.fake import FakeEngine
from memory_engine.errors import EngineStoppedError
from memory_engine.memory import Memory
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.retrieval.embedder import Embedder
from memory_engine.retrieval.fact_vectors import FactVectors
from memory_engine.types import (
    MemoryFact,
    Mode,
    Prompt,
    Sampling,
    Span,
)
from tests.memory_engine.memory_builder import TEXTS, ask, person


async def test_vectors_that_are_known_are_not_computed_and_the_others_are_returned(
    memory: Memory,
) -> None:
    facts = person(TEXTS)
    computed = await memory.sync("anna", facts)
    assert sorted(computed) == sorted(fact.id for fact in facts)
    said = MemoryFact("t", "I drink tea.", source="I drink tea all day.")
    halves = {"t": FactVectors(computed[facts[0].id].text)}
    assert sorted(await memory.sync("ben", [*facts, said], computed | halves)) == ["t"]
    assert await memory.sync("ben", facts[1:]) == {}
    (found,) = await memory.retriever.recall("ben", "Where do I live?", 1)
    assert found.fact.text == "I live in Bern."


async def test_settled_facts_are_injected_but_for_the_exact_tail(memory: Memory) -> None:
    await memory.sync("anna", person(TEXTS))
    await memory.settle("anna")
    texts, usage = await ask(memory, "anna", "Where do I live?")
    assert texts[0] == "I live in Bern."
    assert usage.missing == ()
    assert 0 < usage.injected_tokens < usage.prompt_tokens


async def test_forgetting_encodes_exactly_what_stood_behind_it_again(
    memory: Memory, engine: FakeEngine
) -> None:
    facts = person([*TEXTS, "I drink tea."])
    await memory.sync("anna", facts)
    await memory.settle("anna")
    engine.encoded.clear()
    held = engine.resident("anna")
    await memory.sync("anna", facts[1:])
    await memory.settle("anna")
    (job,) = engine.encoded
    _prefix, *again = job.spans
    assert len(again) == len(facts) - 1
    assert len(held - engine.resident("anna")) == len(facts)
    assert all("Biscuit" not in str(r) for r in await memory.retriever.recall("anna", "dog", 9))


async def test_a_drop_that_failed_is_done_with_the_next_change(
    memory: Memory, engine: FakeEngine
) -> None:
    facts = person(TEXTS)
    await memory.sync("anna", facts)
    await memory.settle("anna")
    held = engine.resident("anna")
    engine.running = False
    await memory.sync("anna", facts[:3])
    with pytest.raises(EngineStoppedError):
        await memory.settle("anna")
    engine.running = True
    await memory.sync("anna", facts[:3])
    await memory.settle("anna")
    assert len(held - engine.resident("anna")) == 1


async def test_syncing_the_same_facts_again_does_nothing(
    memory: Memory, engine: FakeEngine
) -> None:
    await memory.sync("anna", person(TEXTS))
    await memory.settle("anna")
    engine.encoded.clear()
    await memory.sync("anna", person(TEXTS))
    await memory.settle("anna")
    assert engine.encoded == []


async def test_what_the_engine_lost_is_encoded_again(memory: Memory, engine: FakeEngine) -> None:
    await memory.sync("anna", person(TEXTS))
    await memory.settle("anna")
    held = engine.resident("anna")
    await engine.drop("anna")
    _, usage = await ask(memory, "anna", "Where do I live?")
    assert usage.injected_tokens == 0
    assert usage.missing
    await memory.settle("anna")
    _, usage = await ask(memory, "anna", "Where do I live?")
    assert usage.injected_tokens > 0
    assert engine.resident("anna") <= held


async def test_where_facts_are_and_their_bytes_are_told(memory: Memory, engine: FakeEngine) -> None:
    engine.info = replace(engine.info, kv_bytes_per_token=10)
    await memory.sync("anna", person(TEXTS))
    assert (await memory.residency("anna")).waiting == {f"id {text}" for text in TEXTS}
    await memory.settle("anna")
    found = await memory.residency("anna")
    assert (len(found.encoded), found.waiting) == (len(TEXTS), frozenset())
    held = (await engine.arena()).tokens_used * 10
    assert found.device == Tier(held, engine.info.arena_tokens * 10)
    assert 0 < sum(found.encoded.values()) < held  # the rest is the prefix


async def test_facts_not_yet_encoded_are_sent_as_text(memory: Memory, engine: FakeEngine) -> None:
    await memory.sync("anna", person(TEXTS))
    recalled = await memory.retriever.recall("anna", "Where do I live?", 10)
    plan = memory.layout.plan("anna", recalled, [], "Where do I live?", 50)
    assert len(plan.used) == len(TEXTS)
    assert len(plan.injectable) < len(TEXTS)


async def test_a_refused_model_gets_text_and_encodes_nothing(
    bundled_llm: Path, bundled_embedder: Path
) -> None:
    engine = FakeEngine(supported=False)
    await engine.start()
    memory = Memory(engine, Embedder(bundled_embedder), ChatTokenizer(bundled_llm))
    await memory.sync("anna", person(TEXTS))
    await memory.settle()
    assert engine.encoded == []
    await memory.aclose()


async def test_recalling_brings_kv_back_from_host_memory_and_does_not_wait_for_it(
    bundled_llm: Path, bundled_embedder: Path
) -> None:
    came = asyncio.Event()

    class Slow(FakeEngine):
        async def prefetch(self, owner: str) -> int:
            await came.wait()
            return await super().prefetch(owner)

    engine = Slow(host_tokens=1000)
    await engine.start()
    tokenizer = ChatTokenizer(bundled_llm)
    memory = Memory(engine, Embedder(bundled_embedder), tokenizer, window="facts:2", tail=1)
    await memory.sync("anna", person(TEXTS))
    await memory.settle("anna")
    assert len(await memory.retriever.recall("anna", "Where do I live?", 2)) == 2
    assert len(await memory.retriever.recall("anna", "Where do I live?", 2)) == 2
    assert engine.prefetched == []
    came.set()
    await asyncio.sleep(0.01)
    assert engine.prefetched == ["anna"]
    await memory.aclose()


async def test_forgetting_an_owner_leaves_neither_vector_nor_kv_nor_snapshot(
    memory: Memory, engine: FakeEngine
) -> None:
    await memory.sync("anna", person(TEXTS))
    await memory.sync("ben", person(TEXTS))
    await memory.settle()
    await engine.snapshot("anna")
    bens = engine.resident("ben")
    await memory.forget("anna")
    assert engine.resident("anna") == frozenset()
    assert engine.snapshots == {}
    assert memory.indexed("anna") == []
    assert not memory.holds("anna")
    assert await memory.retriever.recall("anna", "dog", 9) == []
    assert engine.resident("ben") == bens
    await memory.aclose()
    assert "anna" not in engine.snapshots


async def test_an_owner_who_was_forgotten_can_be_told_facts_again(
    memory: Memory, engine: FakeEngine
) -> None:
    await memory.sync("anna", person(TEXTS))
    await memory.settle("anna")
    await memory.forget("anna")
    await memory.sync("anna", person(TEXTS[:3]))
    await memory.settle("anna")
    _, usage = await ask(memory, "anna", "Where do I live?")
    assert usage.missing == ()
    assert usage.injected_tokens > 0


async def test_a_segment_that_no_fact_needs_is_astray(memory: Memory, engine: FakeEngine) -> None:
    await memory.sync("anna", person(TEXTS))
    await memory.settle("anna")
    assert await memory.astray("anna") == []
    assert sorted(memory.indexed("anna")) == sorted(f.id for f in person(TEXTS))
    await engine.encode(EncodeJob("anna", [1], (Span("forgotten", 0, 1),)))
    assert await memory.astray("anna") == ["forgotten"]
    assert await memory.astray("ben") == []


async def test_prompts_before_a_forgetting_are_out_of_the_prefix_caches_reach(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    salts = []
    generate = FakeEngine.generate

    def noted(self: FakeEngine, prompt: Prompt, mode: Mode, sampling: Sampling):  # type: ignore[no-untyped-def]
        salts.append(sampling.cache_salt)
        return generate(self, prompt, mode, sampling)

    monkeypatch.setattr(FakeEngine, "generate", noted)
    facts = person(TEXTS)
    for held in (facts, facts, [*facts, *person(["I drink tea."])], facts[1:], facts[1:]):
        await memory.sync("anna", held)
        await ask(memory, "anna", "Where do I live?")
    memory.forget_prompts("anna")
    await ask(memory, "anna", "Where do I live?")
    first, *_, before, last = salts
    assert salts == [first] * 3 + [before] * 2 + [last]
    assert len({first, before, last}) == 3
