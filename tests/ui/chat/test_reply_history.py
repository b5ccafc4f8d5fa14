"""Earlier replies: a line in the transcript without a word of their facts, and what it opens."""

import re
from datetime import date
from html import unescape
from typing import Any

from agent.reply_events import UsedFact
from memory_engine.types import Message
from tests.ui.chat.test_trace_view import reply_with
from tests.ui.chat.turn_builder import changes_of, merged, page, texts
from tests.ui.fake_service import FakeService
from ui.chat.pane import transcript
from ui.chat.reply_history import PastReply, kept_traces
from ui.chat.trace_view import finished
from ui.parts.page_states import SIDE_BY_SIDE

PLUMS = UsedFact("1", "I pay $$5 for <b>plums</b>.", date(2026, 5, 3), 0.5, True, "Plums: $$5!")


def lines(shown: list[dict[str, Any]]) -> list[str]:
    """The lines below the replies, and their places."""
    return [
        f"{number}: {re.sub('<[^>]*>', '', message['content'])}"
        for number, message in enumerate(shown)
        if message["content"].startswith("<details")
    ]


def test_a_line_tells_mode_time_and_how_many_facts_and_none_of_what_they_say() -> None:
    reply = reply_with(PLUMS, UsedFact("2", "I ski.", None, 0.4, False))
    assert re.sub("<[^>]*>", "", PastReply(reply).line()) == (
        "KV · 1.0 ms to the first token · 2 facts used"
    )
    assert re.sub("<[^>]*>", "", PastReply(reply_with()).line()) == "KV · 1.0 ms to the first token"


def test_what_a_line_opens_is_found_by_the_key_in_its_class() -> None:
    first, second = PastReply(reply_with(PLUMS)), PastReply(reply_with(PLUMS))
    assert first.key != second.key
    kept = dict(re.findall('<i class="([^"]*)" data-trace="([^"]*)"', kept_traces([first, second])))
    assert list(kept) == [first.key, second.key]
    assert f'class="past {second.key}"' in second.line()
    assert unescape(kept[first.key]) == finished(first.reply)


def test_a_whole_conversation_says_that_it_is_whole() -> None:
    assert kept_traces([], whole=True) == "<div data-whole></div>"
    assert kept_traces([]) == "<div></div>"


def test_a_line_stands_below_each_reply_that_has_a_trace() -> None:
    past = PastReply(reply_with(PLUMS))
    messages = [Message("user", "<i>"), Message("assistant", "<b>"), Message("user", "And?")]
    assert [shown["content"] for shown in transcript(messages, {1: past})] == [
        "&lt;i&gt;",
        "&lt;b&gt;",
        past.line(),
        "And?",
    ]


async def test_a_reply_keeps_its_trace_when_the_next_one_comes() -> None:
    service = FakeService()
    await service.add_fact("ann", "My dog is called Biscuit")
    first = merged(await changes_of(service, "Who?"))
    second = merged(await changes_of(service, "Sure?", page("text", left=first["left"])))
    assert lines(second["left"]) == [
        "2: KV · 54 ms to the first token · 1 fact used",
        "5: Text · 272 ms to the first token · 1 fact used",
    ]
    assert second["left"][:3] == first["left"]
    for turn in (first, second):
        assert turn["traces"].count("<i ") == 1
        assert "My dog is called Biscuit" in turn["traces"]


async def test_side_by_side_each_pane_keeps_the_trace_of_its_mode() -> None:
    last = merged(await changes_of(FakeService(), "Who?", page(SIDE_BY_SIDE)))
    assert lines(last["left"]) == ["2: Text · 272 ms to the first token"]
    assert lines(last["right"]) == ["2: KV · 54 ms to the first token"]
    assert last["traces"].count("<i ") == 2


async def test_no_trace_is_sent_before_the_reply_is_whole() -> None:
    steps = await changes_of(FakeService(delay=0.06), "Who?")
    partial = [s["left"] for s in steps if texts(s["left"])[-1] != "Your dog is Biscuit."]
    assert ["Who?", "Your"] in [texts(shown) for shown in partial]
    assert not any(lines(shown) for shown in partial)
    assert ["traces" in step for step in steps].index(True) == len(steps) - 1
