"""Earlier replies: a line in the transcript without a word of their facts, and what it opens."""

import re
from datetime import date
from html import unescape

from agent.events import UsedFact
from memory_engine.types import Message
from tests.ui.test_account import reply_with
from ui.account import finished
from ui.pane import transcript
from ui.past import Past, accounts

PLUMS = UsedFact("1", "I pay $$5 for <b>plums</b>.", date(2026, 5, 3), 0.5, True, "Plums: $$5!")


def test_a_line_tells_mode_time_and_how_many_facts_and_none_of_what_they_say() -> None:
    reply = reply_with(PLUMS, UsedFact("2", "I ski.", None, 0.4, False))
    assert re.sub("<[^>]*>", "", Past(reply).line()) == (
        "KV · 1.0 ms to the first token · 2 facts used"
    )
    assert re.sub("<[^>]*>", "", Past(reply_with()).line()) == "KV · 1.0 ms to the first token"


def test_what_a_line_opens_is_found_by_the_key_in_its_class() -> None:
    first, second = Past(reply_with(PLUMS)), Past(reply_with(PLUMS))
    assert first.key != second.key
    kept = dict(re.findall('<i class="([^"]*)" data-account="([^"]*)"', accounts([first, second])))
    assert list(kept) == [first.key, second.key]
    assert f'class="past {second.key}"' in second.line()
    assert unescape(kept[first.key]) == finished(first.reply)


def test_a_whole_conversation_says_that_it_is_whole() -> None:
    assert accounts([], whole=True) == "<div data-whole></div>"
    assert accounts([]) == "<div></div>"


def test_a_line_stands_below_each_reply_that_has_an_account() -> None:
    past = Past(reply_with(PLUMS))
    messages = [Message("user", "<i>"), Message("assistant", "<b>"), Message("user", "And?")]
    assert [shown["content"] for shown in transcript(messages, {1: past})] == [
        "&lt;i&gt;",
        "&lt;b&gt;",
        past.line(),
        "And?",
    ]
