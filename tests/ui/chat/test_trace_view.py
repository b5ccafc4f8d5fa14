"""The account of a reply: which facts it used, how they came, and who said them."""

import re
from dataclasses import replace
from datetime import date

import pytest

from agent.reply_events import Reply, Timings, UsedFact
from memory_engine.types import Mode
from ui.chat.trace_view import facts_used, finished, verdict


def reply_with(*facts: UsedFact) -> Reply:
    timings = Timings(0, 0, 0, 0)
    return Reply("Hi", Mode.KV, "c", "stop", 1, 1, timings, 1, 0, 0, 1, 1, facts)


def listed(reply: Reply) -> list[str]:
    return re.findall("<li>(.*?)</li>", facts_used(reply), re.DOTALL)


def test_a_fact_names_its_date_its_way_and_the_message_that_said_it() -> None:
    said = "By the way: my *dog* is called <Biscuit>!"
    reply = reply_with(
        UsedFact("1", "My dog is called <Biscuit>.", date(2026, 5, 3), 0.5, True, said),
        UsedFact("2", "I ski.", None, 0.4, False),
    )
    title = "<summary>2 facts used: 1 injected as KV, 1 sent as text</summary>"
    assert title in facts_used(reply)
    assert listed(reply) == [
        'My dog is called &lt;Biscuit&gt;. <span class="quiet">(3 May 2026, injected; '
        "you said: “By the way: my *dog* is called &lt;Biscuit&gt;!”)</span>",
        'I ski. <span class="quiet">(as text; added by hand)</span>',
    ]


def test_a_fact_that_was_forgotten_since_is_one_without_its_text() -> None:
    reply = reply_with(UsedFact("1", "", None, 0.5, True))
    assert listed(reply) == [
        '<span class="quiet">a fact that was forgotten since (injected)</span>'
    ]


def test_of_a_long_message_the_beginning_is_told_on_one_line() -> None:
    said = "I ski.\n" + "And so on. " * 40
    (line,) = listed(reply_with(UsedFact("1", "I ski.", None, 0.5, True, said)))
    assert "I ski. And so on." in line
    assert line.endswith(" …”)</span>")
    assert len(line) < 240


def test_a_reply_without_facts_has_no_list_of_them() -> None:
    assert "fact" not in finished(reply_with())


@pytest.mark.parametrize(("cached", "told"), [(0, False), (16, False), (1024, True)])
def test_a_comparison_says_that_text_had_its_prompt_in_the_prefix_cache(
    cached: int, told: bool
) -> None:
    timings = Timings(0, 0, 0, 0)
    text, kv = (
        Reply("Hi", mode, "c", "stop", ms, ms, timings, 1294, 0, cached, 270, 1)
        for mode, ms in ((Mode.TEXT, 200), (Mode.KV, 40))
    )
    shown = verdict(text, kv)
    assert ("Text found 1,024 of its 1,294 tokens in the prefix cache" in shown) is told
    assert "KV is 5.0x faster" in shown


def test_the_trace_names_the_mode_and_the_time_of_each_token() -> None:
    timings = Timings(0, 0, 0, 0)
    reply = Reply("Hi there", Mode.KV, "c", "stop", 40, 53, timings, 9, 0, 0, 9, 6, tpot_ms=9.84)
    assert "<strong>KV</strong>. Prompt of 9 tokens" in finished(reply)
    assert "Reply of 6 tokens, 9.8 ms each (TPOT)." in finished(reply)
    one = replace(reply, output_tokens=1, tpot_ms=0.0)
    assert "Reply of 1 token.</p>" in finished(one)
