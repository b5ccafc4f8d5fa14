"""Engines of several: what is believed of one ends where another answers, and so does waiting."""

import asyncio
import logging
from itertools import pairwise
from pathlib import Path

import pytest

from memory_engine.encoding import admission
from memory_engine.encoding import encoding_queue as encoding
from memory_engine.encoding.encoding_queue import EncodingQueue
from memory_engine.encoding.windows import FactSegment, Segmenter, Window
from memory_engine.engines.fake import FakeEngine
from memory_engine.errors import EngineError
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.prompt.layout import memory_prefix
from memory_engine.types import MemoryFact


class Elsewhere(FakeEngine):
    """An engine of several: `place` has the owner's KV now; `restless` moves it every time."""

    def __init__(self) -> None:
        super().__init__()
        self.place = "first"
        self.places: dict[str, str] = {}
        self.restless = False

    def home(self, owner: str) -> str:
        if self.restless:
            self.place += "'"
        return self.places.get(owner, self.place)

    async def restore(self, owner: str) -> tuple[str, ...]:
        return () if self.restless else await super().restore(owner)

    def move(self, place: str, keeps: set[str]) -> None:
        """The owner is at another place now, which holds `keeps` from earlier."""
        self.place = place
        held = self._resident["anna"]
        self._resident["anna"] = {i: n for i, n in held.items() if i in keeps}


async def opened(
    bundled_llm: Path, owner: str = "anna"
) -> tuple[Elsewhere, EncodingQueue, set[str]]:
    engine = Elsewhere()
    await engine.start()
    tokenizer = ChatTokenizer(bundled_llm)
    encoder = Segmenter(tokenizer, Window.parse("facts:2"), "print", memory_prefix(tokenizer))
    queue = EncodingQueue(engine, encoder)
    facts = [MemoryFact(str(n), f"I have {n} cats.") for n in range(4)]
    segments = encoder.segments(owner, facts).values()
    queue.want(owner, segments)
    return engine, queue, {segment.segment_id for segment in segments}


async def test_at_another_place_only_what_it_lacks_is_encoded(bundled_llm: Path) -> None:
    engine, queue, wanted = await opened(bundled_llm)
    await queue.settle("anna")
    assert set(queue.resident("anna")) == wanted
    kept = set(sorted(wanted)[:1])
    engine.move("second", keeps=kept)
    engine.encoded.clear()
    queue.lost("anna", wanted - kept)
    assert queue.resident("anna") == set()
    await queue.settle("anna")
    assert set(queue.resident("anna")) == wanted
    encoded = {span.segment_id for job in engine.encoded for span in job.spans}
    assert wanted - kept <= encoded
    assert engine.resident("anna") >= wanted


async def test_a_user_who_reaches_another_engine_each_time_is_not_encoded_for_ever(
    bundled_llm: Path, caplog: pytest.LogCaptureFixture
) -> None:
    engine, queue, _ = await opened(bundled_llm)
    engine.restless = True
    with caplog.at_level(logging.ERROR), pytest.raises(EngineError, match="consistent_hash"):
        await queue.settle("anna")


async def behind_a_window(
    bundled_llm: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Elsewhere, EncodingQueue, list[FactSegment], int]:
    """Nothing wanted yet; a run behind eight facts, and the length of the prefix."""
    monkeypatch.setattr(encoding, "_LEAD_IN_TOKENS", 16)
    monkeypatch.setattr(admission, "_CHAT_LASTS", 3600.0)  # as long as a slow machine may take
    engine = Elsewhere()
    await engine.start()
    tokenizer = ChatTokenizer(bundled_llm)
    prefix = memory_prefix(tokenizer)
    encoder = Segmenter(tokenizer, Window.parse("facts:8"), "print", prefix)
    facts = [MemoryFact(str(n), f"I have {n} cats and a garden.") for n in range(20)]
    segments = encoder.segments("anna", facts).values()
    last = max(segment.run for segment in segments)
    run = [segment for segment in segments if segment.run == last]
    return engine, EncodingQueue(engine, encoder), run, len(prefix)


async def test_while_people_chat_no_prefill_has_much_to_compute(
    bundled_llm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, queue, run, prefix = await behind_a_window(bundled_llm, monkeypatch)
    queue.reply("ben")()
    queue.want("anna", run)
    await queue.settle("anna")
    assert set(queue.resident("anna")) == {segment.segment_id for segment in run}
    lengths = [len(job.token_ids) for job in engine.encoded]
    two_facts = 2 * max(len(segment.token_ids) for segment in run)
    assert max(b - a for a, b in pairwise([prefix, *lengths])) <= 16 + two_facts
    assert lengths[-1] > prefix + 8 * len(run[0].token_ids)


async def test_a_fact_told_in_a_chat_is_one_prefill_where_its_run_has_begun(
    bundled_llm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, queue, run, _ = await behind_a_window(bundled_llm, monkeypatch)
    queue.want("anna", run[:-1])
    await queue.settle("anna")
    engine.encoded.clear()
    queue.reply("ben")()
    queue.want("anna", run)
    await queue.settle("anna")
    assert [job.spans[-1].segment_id for job in engine.encoded] == [run[-1].segment_id]


async def test_what_is_forgotten_meanwhile_is_not_led_in(
    bundled_llm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, queue, run, _ = await behind_a_window(bundled_llm, monkeypatch)
    first_token = queue.reply("ben")
    queue.want("anna", run)
    await asyncio.sleep(0.05)
    queue.want("anna", ())
    first_token()
    await queue.settle("anna")
    assert engine.encoded == []


async def test_encoding_makes_room_for_replies_of_the_same_engine_only(bundled_llm: Path) -> None:
    engine, queue, wanted = await opened(bundled_llm, owner="ben")
    engine.places = {"ben": "second"}
    first_token = queue.reply("carl")
    await asyncio.wait_for(queue.settle("ben"), 5)
    assert set(queue.resident("ben")) == wanted

    engine, queue, wanted = await opened(bundled_llm, owner="ben")
    first_token = queue.reply("carl")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(queue.settle("ben"), 0.2)
    first_token()
    await asyncio.wait_for(queue.settle("ben"), 5)
