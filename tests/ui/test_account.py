"""The account of a reply: which facts it used, how they came, and who said them."""

from dataclasses import replace
from datetime import date

import pytest

from agent.events import Reply, Timings, UsedFact
from memory_engine.types import Mode
from ui.account import facts_list, facts_title, finished, verdict


def reply_with(*facts: UsedFact) -> Reply:
    timings = Timings(0, 0, 0, 0)
    return Reply("Hi", Mode.KV, "c", "stop", 1, 1, timings, 1, 0, 0, 1, 1, facts)


def test_a_fact_names_its_date_its_way_and_the_message_that_said_it() -> None:
    said = "By the way: my *dog* is called Biscuit!"
    reply = reply_with(
        UsedFact("1", "My dog is called Biscuit.", date(2026, 5, 3), 0.5, True, said),
        UsedFact("2", "I ski.", None, 0.4, False),
    )
    assert facts_title(reply) == "2 facts used: 1 injected as KV, 1 sent as text"
    assert facts_list(reply).splitlines() == [
        "- My dog is called Biscuit. *(3 May 2026, injected; "
        r"you said: “By the way: my \*dog\* is called Biscuit!”)*",
        "- I ski. *(as text; added by hand)*",
    ]


def test_of_a_long_message_the_beginning_is_told_on_one_line() -> None:
    said = "I ski.\n" + "And so on. " * 40
    (line,) = facts_list(reply_with(UsedFact("1", "I ski.", None, 0.5, True, said))).splitlines()
    assert "I ski. And so on." in line
    assert line.endswith(" …”)*")
    assert len(line) < 220


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


def test_the_account_names_the_mode_and_the_time_of_each_token() -> None:
    timings = Timings(0, 0, 0, 0)
    reply = Reply("Hi there", Mode.KV, "c", "stop", 40, 53, timings, 9, 0, 0, 9, 6, tpot_ms=9.84)
    assert "<strong>KV</strong>. Prompt of 9 tokens" in finished(reply)
    assert "Reply of 6 tokens, 9.8 ms each (TPOT)." in finished(reply)
    one = replace(reply, output_tokens=1, tpot_ms=0.0)
    assert "Reply of 1 token.</p>" in finished(one)
