"""A turn: what the page shows while it is asked, answered and refused."""

import re
from itertools import pairwise

import pytest

from memory_engine.errors import EngineStoppedError
from memory_engine.types import Message
from tests.ui.chat.turn_builder import changes_of, collect, distinct, merged, page, texts, turns_of
from tests.ui.fake_service import FakeService
from ui.parts.page_states import Changes


async def test_a_reply_streams_behind_the_question() -> None:
    steps = await changes_of(FakeService(delay=0.06), "Who?")
    seen = [texts(step["left"]) for step in steps if "left" in step]
    assert seen[0] == ["Who?"]
    assert ["Who?", "Your"] in seen
    assert seen[-1] == ["Who?", "Your dog is Biscuit."]


async def test_the_stopwatch_stops_at_the_first_token_and_the_trace_follows() -> None:
    steps = await changes_of(FakeService(delay=0.06), "Who?")
    traces = distinct(steps, "left_trace")
    assert "stopwatch" in traces[0]
    assert "<strong>54 ms</strong>" in traces[1]
    assert "engine 41 ms" in traces[1]
    assert "recall 12 ms" not in traces[1]
    for figure in ("recall 12 ms", "plan 1.0 ms", "queue 0.4 ms", "prefill 41 ms"):
        assert figure in traces[-1]
    assert "Prompt of 1,400 tokens: 1,240 injected, 16 cached, 144 prefilled" in traces[-1]


async def test_the_reply_lists_its_facts_and_how_they_came() -> None:
    service = FakeService()
    await service.add_fact("ann", "My dog is called Biscuit")
    await service.add_fact("ann", "I live in *Lisbon*")
    trace = merged(await changes_of(service, "Who?"))["left_trace"]
    assert "2 facts used: 1 injected as KV, 1 sent as text" in trace
    assert re.findall("<li>([^<]*) <span[^>]*>(.*?)</span>", trace) == [
        ("My dog is called Biscuit", "(3 May 2026, as text; added by hand)"),
        ("I live in *Lisbon*", "(3 May 2026, injected; added by hand)"),
    ]


async def test_facts_that_did_not_fit_are_mentioned() -> None:
    service = FakeService()
    service.left_out = 3
    trace = merged(await changes_of(service, "Who?"))["left_trace"]
    assert "3 more facts did not fit" in trace


async def test_a_first_message_begins_a_conversation_before_it_is_asked() -> None:
    service = FakeService()
    steps = await changes_of(service, "Who?", page("text", None))
    began = next(n for n, step in enumerate(steps) if "conversation_id" in step)
    assert began < next(n for n, step in enumerate(steps) if "left" in step)
    name = steps[began]["conversation_id"]
    assert service.kept[name] == [
        Message("user", "Who?"),
        Message("assistant", "Your dog is Biscuit."),
    ]


async def test_a_blank_message_is_explained_and_stores_nothing() -> None:
    service = FakeService()
    steps = await changes_of(service, "  ", page(conversation_id=None, left=[{"role": "user"}]))
    last = merged(steps)
    assert "The message is empty" in last["notice"]
    assert last["prompt"] == "  "
    assert last["left"] == [{"role": "user"}]
    assert service.kept == {}


async def test_an_engine_failure_gives_the_text_back_and_is_not_hidden() -> None:
    service = FakeService()
    service.fails_with = EngineStoppedError("The engine is not running: start it first.")
    turn = turns_of(service).send("tab", "Who?", *page())
    last: Changes = {}
    with pytest.raises(EngineStoppedError):
        await collect(turn, last)
    assert last["prompt"] == "Who?"
    assert last["send"]["visible"] is True
    assert last["stop"]["visible"] is False


async def test_each_change_says_all_that_the_turn_changed() -> None:
    steps = await changes_of(FakeService(delay=0.06), "Who?", page("text", None))
    for before, after in pairwise(steps):
        assert set(before) <= set(after)


async def test_k_goes_along_and_the_time_becomes_a_point() -> None:
    service = FakeService()
    last = merged(await changes_of(service, "Who?", page(k=7)))
    assert service.options[0]["k"] == 7
    assert last["reply_times"] == [(1, "kv", 41.0, 0)]


async def test_where_kv_is_refused_the_mode_stays_closed() -> None:
    last = merged(await changes_of(FakeService(kv_available=False), "Who?", page("text")))
    assert last["mode"]["interactive"] is False
