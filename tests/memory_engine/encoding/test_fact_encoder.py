"""Segments of facts on the engine: encoded once, dropped when forgotten, kept over a restart."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from memory_engine.encoding import admission
from memory_engine.engines.fake import FakeEngine
from memory_engine.memory import Memory
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.retrieval.embedder import Embedder
from tests.memory_engine.memory_builder import TEXTS, ask, person

Restart = Callable[[FakeEngine], Awaitable[Memory]]


@pytest.fixture
def restart(
    memory: Memory, engine: FakeEngine, bundled_llm: Path, bundled_embedder: Path
) -> Restart:
    """Remember TEXTS, stop with a snapshot, and start over the given engine."""

    async def restarted(again: FakeEngine) -> Memory:
        await memory.sync("anna", person(TEXTS))
        await memory.settle("anna")
        await memory.aclose()
        await again.start()
        again.snapshots = engine.snapshots
        tokenizer = ChatTokenizer(bundled_llm)
        return Memory(again, Embedder(bundled_embedder), tokenizer, window="facts:2", tail=1)

    return restarted


async def test_after_a_restart_only_what_a_snapshot_lacks_is_encoded(restart: Restart) -> None:
    again = FakeEngine()
    restarted = await restart(again)
    await restarted.sync("anna", person(TEXTS))
    await restarted.settle("anna")
    assert again.encoded == []
    assert again.resident("anna") == again.snapshots["anna"].keys()
    await restarted.sync("anna", person([*TEXTS, "I drink tea."]))
    await restarted.settle("anna")
    (job,) = again.encoded
    assert len(job.spans) == 2
    await restarted.aclose()


async def test_what_was_forgotten_since_the_snapshot_is_dropped_after_a_restart(
    restart: Restart,
) -> None:
    again = FakeEngine()
    restarted = await restart(again)
    await restarted.sync("anna", person(TEXTS[1:]))
    await restarted.settle("anna")
    wanted = {span.segment_id for job in again.encoded for span in job.spans}
    assert again.resident("anna") == wanted
    assert "anna" not in again.snapshots
    await restarted.aclose()
    assert again.snapshots["anna"].keys() == wanted


@pytest.mark.parametrize("supported", [True, False])
async def test_a_snapshot_does_not_outlive_the_last_fact(restart: Restart, supported: bool) -> None:
    again = FakeEngine(supported=supported)
    restarted = await restart(again)
    await restarted.sync("anna", [])
    await restarted.settle("anna")
    assert again.snapshots == {}
    await restarted.aclose()


async def test_closing_drops_what_is_forgotten_and_writes_the_rest(
    memory: Memory, engine: FakeEngine
) -> None:
    await memory.sync("anna", person(TEXTS))
    await memory.settle("anna")
    await engine.snapshot("anna")
    await memory.sync("anna", person(TEXTS[:1]))
    await memory.aclose()
    (fact,) = person(TEXTS[:1])
    windows = memory._encoder._windows
    kept = windows.segments("anna", [fact])[fact.id].segment_id
    assert engine.snapshots["anna"].keys() == {kept, windows.prefix_id("anna")}


async def test_while_people_chat_runs_are_encoded_in_short_parts(
    memory: Memory, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "_CHAT_LASTS", 3600.0)  # as long as a slow machine may take
    memory.expect_reply("anna")
    await memory.sync("anna", person([f"I have {i} cats." for i in range(12)]))
    await memory.settle("anna")
    assert max(len(job.spans) for job in engine.encoded) == 1 + 2
    _, usage = await ask(memory, "anna", "How many cats?")
    assert usage.missing == ()
