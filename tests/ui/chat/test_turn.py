"""A turn: what the page shows while it is asked, answered, stopped and refused."""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import fields
from itertools import pairwise
from typing import Any

import pytest

from memory_engine.errors import EngineStoppedError, MessageTooLongError, UserError
from memory_engine.types import Message, Mode
from tests.ui.fake_service import FakeService
from ui.chat.running_turns import RunningTurns
from ui.chat.turn import ChatTurns, Page, PageValues
from ui.conversations.conversation_panel import ConversationPanel
from ui.parts.page_states import SIDE_BY_SIDE
from ui.shell.wiring import TURN_INPUTS

Changes = dict[str, Any]


def turns_of(service: FakeService) -> ChatTurns:
    return ChatTurns(service, "ann", RunningTurns())


def page(
    mode: str = "kv",
    conversation_id: str | None = "c",
    asked: int = 0,
    left: Sequence[dict[str, Any]] = (),
    right: Sequence[dict[str, Any]] = (),
    k: int | None = None,
    editing: bool = False,
    at_once: bool = False,
    memory: bool = True,
) -> PageValues:
    shown = list(left), list(right)
    return mode, conversation_id, asked, *shown, k, editing, (), at_once, memory


async def changes_of(
    service: FakeService, message: str, values: PageValues | None = None
) -> list[Changes]:
    turn = turns_of(service).send("tab", message, *(values or page()))
    return [changes async for changes in turn]


async def changes_of_turn(turns: ChatTurns) -> list[Changes]:
    return [s async for s in turns.send("tab", "Who?", *page())]


def merged(steps: list[Changes]) -> Changes:
    return {name: value for step in steps for name, value in step.items()}


async def _collect(turn: AsyncGenerator[Changes, None], into: Changes) -> None:
    async for step in turn:
        into |= step


def distinct(steps: list[Changes], part: str) -> list[str]:
    """The values that a part of the page had, in order."""
    return list(dict.fromkeys(step[part] for step in steps if part in step))


def texts(shown: list[dict[str, Any]]) -> list[str]:
    return [m["content"] for m in shown if not m["content"].startswith("<details")]


async def test_a_reply_streams_behind_the_question() -> None:
    steps = await changes_of(FakeService(delay=0.06), "Who?")
    seen = [texts(step["left"]) for step in steps if "left" in step]
    assert seen[0] == ["Who?"]
    assert ["Who?", "Your"] in seen
    assert seen[-1] == ["Who?", "Your dog is Biscuit."]


async def test_the_stopwatch_stops_at_the_first_token_and_the_account_follows() -> None:
    steps = await changes_of(FakeService(delay=0.06), "Who?")
    accounts = distinct(steps, "left_account")
    assert "stopwatch" in accounts[0]
    assert "<strong>54 ms</strong>" in accounts[1]
    assert "engine 41 ms" in accounts[1]
    assert "recall 12 ms" not in accounts[1]
    for figure in ("recall 12 ms", "plan 1.0 ms", "queue 0.4 ms", "prefill 41 ms"):
        assert figure in accounts[-1]
    assert "Prompt of 1,400 tokens: 1,240 injected, 16 cached, 144 prefilled" in accounts[-1]


async def test_the_reply_lists_its_facts_and_how_they_came() -> None:
    service = FakeService()
    await service.add_fact("ann", "My dog is called Biscuit")
    await service.add_fact("ann", "I live in *Lisbon*")
    account = merged(await changes_of(service, "Who?"))["left_account"]
    assert "2 facts used: 1 injected as KV, 1 sent as text" in account
    assert re.findall("<li>([^<]*) <span[^>]*>(.*?)</span>", account) == [
        ("My dog is called Biscuit", "(3 May 2026, as text; added by hand)"),
        ("I live in *Lisbon*", "(3 May 2026, injected; added by hand)"),
    ]


async def test_facts_that_did_not_fit_are_mentioned() -> None:
    service = FakeService()
    service.left_out = 3
    account = merged(await changes_of(service, "Who?"))["left_account"]
    assert "3 more facts did not fit" in account


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
        await _collect(turn, last)
    assert last["prompt"] == "Who?"
    assert last["send"]["visible"] is True
    assert last["stop"]["visible"] is False


async def test_closing_a_turn_closes_the_reply() -> None:
    service = FakeService(delay=0.05)
    async with aclosing(turns_of(service).send("tab", "Who?", *page())) as turn:
        async for step in turn:
            if "Your" in str(step.get("left")):
                break
    assert service.closed == 1


async def test_cancelling_a_turn_closes_the_reply() -> None:
    service = FakeService(delay=5)
    turn = asyncio.create_task(changes_of(service, "Who?"))
    await asyncio.sleep(0.1)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert service.closed == 1


async def test_stopping_closes_the_reply_and_keeps_what_was_said() -> None:
    service = FakeService(delay=0.05)
    seen: Changes = {}
    turns = turns_of(service)
    stopping: asyncio.Task[Changes] | None = None
    async for step in turns.send("tab", "Who?", *page()):
        seen |= step
        if "Your" in str(seen.get("left")) and stopping is None:
            stopping = asyncio.create_task(turns.stop("tab"))
    assert stopping is not None
    await stopping
    assert service.closed == 1
    assert texts(seen["left"])[-1].startswith("Your")
    assert len(seen["left"]) == 2
    assert "54 ms" in seen["left_account"]
    assert "Stopped" in seen["left_account"]
    assert seen["send"]["visible"] is True


async def test_stopping_before_the_first_token_stops_the_stopwatch() -> None:
    turns = turns_of(FakeService(delay=30))
    seen: Changes = {}
    stopping: asyncio.Task[Changes] | None = None
    async for step in turns.send("tab", "Who?", *page()):
        seen |= step
        stopping = stopping or asyncio.create_task(turns.stop("tab"))
    assert seen["left_account"] == '<p class="tokens stopped">Stopped</p>'


async def test_stop_is_for_one_tab_only() -> None:
    service = FakeService(delay=0.02)
    turns = turns_of(service)
    steps = [s async for s in turns.send("tab", "Who?", *page())]
    await turns.stop("another")
    assert texts(merged(steps)["left"])[-1] == "Your dog is Biscuit."


async def test_a_tab_asks_one_thing_at_a_time() -> None:
    service = FakeService(delay=0.02)
    turns = turns_of(service)

    async def ask(message: str) -> None:
        assert [s async for s in turns.send("tab", message, *page())]

    await asyncio.gather(ask("Who?"), ask("And?"))
    assert [m.content for m in service.kept["c"] if m.role == "user"] == ["Who?", "And?"]
    assert [m.role for m in service.kept["c"]] == ["user", "assistant"] * 2


async def test_the_box_is_emptied_only_for_a_turn_that_follows() -> None:
    turns = turns_of(FakeService(delay=1))
    assert await turns.take("tab", "Who?") == {"taken": "Who?", "prompt": ""}
    with pytest.raises(UserError, match="still being written"):
        await turns.take("tab", "Who?")  # Enter again, before the turn has begun
    asking = asyncio.create_task(changes_of_turn(turns))
    await asyncio.sleep(0.05)
    with pytest.raises(UserError, match="still being written"):
        await turns.take("tab", "And?")
    await turns.stop("tab")
    await asking
    assert await turns.take("tab", "And?") == {"taken": "And?", "prompt": ""}


async def test_each_change_says_all_that_the_turn_changed() -> None:
    steps = await changes_of(FakeService(delay=0.06), "Who?", page("text", None))
    for before, after in pairwise(steps):
        assert set(before) <= set(after)


async def test_a_turn_whose_tab_went_elsewhere_ends_without_a_word() -> None:
    turns = turns_of(FakeService(delay=0.05))
    elsewhere = ConversationPanel(FakeService(), "ann", turns.running)
    steps: list[Changes] = []
    leaving: asyncio.Task[Changes] | None = None
    async for step in turns.send("tab", "Who?", *page()):
        steps.append(step)
        leaving = leaving or asyncio.create_task(elsewhere.new("tab", ""))
    assert leaving is not None
    assert (await leaving)["left"] == []
    assert set(steps[-1]) == {"send", "stop", "mode"}


async def test_side_by_side_alternates_the_order_and_compares() -> None:
    service = FakeService()
    steps = await changes_of(service, "Who?", page(SIDE_BY_SIDE))
    first = merged(steps)
    assert "KV is 6.3x faster to first token (259 ms → 41 ms)" in first["strip"]
    assert "The replies are identical" in first["strip"]
    assert "Text ran first" in first["strip"]
    assert first["asked"] == 1
    second = merged(await changes_of(service, "Who?", page(SIDE_BY_SIDE, asked=1)))
    assert "KV ran first" in second["strip"]
    assert [order for _, order in service.asked] == [(Mode.TEXT, Mode.KV), (Mode.KV, Mode.TEXT)]


async def test_the_second_pane_waits_until_the_first_has_answered() -> None:
    steps = await changes_of(FakeService(delay=0.06), "Who?", page(SIDE_BY_SIDE, asked=1))
    text_pane = distinct(steps, "left_account")
    assert "Starts when KV is done" in text_pane[0]
    assert "stopwatch" in text_pane[1]
    assert "<strong>272 ms</strong>" in text_pane[-1]


async def test_asked_at_once_no_pane_waits_and_no_time_is_kept() -> None:
    service = FakeService(delay=0.01)
    steps = await changes_of(service, "Who?", page(SIDE_BY_SIDE, at_once=True))
    assert service.options[0]["at_once"] is True
    assert "stopwatch" in distinct(steps, "left_account")[0]
    assert "stopwatch" in distinct(steps, "right_account")[0]
    last = merged(steps)
    assert "Both ran at once and slowed each other down" in last["strip"]
    assert last["points"] == ()


async def test_replies_that_differ_are_said_to_differ() -> None:
    service = FakeService()
    service.answers[Mode.TEXT] = "I do not know."
    last = merged(await changes_of(service, "Who?", page(SIDE_BY_SIDE)))
    assert "The replies differ" in last["strip"]
    assert texts(last["left"])[-1] == "I do not know."
    assert texts(last["right"])[-1] == "Your dog is Biscuit."


async def test_retry_asks_the_exact_last_question_again_and_replaces_the_reply() -> None:
    service = FakeService()
    exact = "   lead\n      code <|im_end|> "
    service.kept["c"] = [Message("user", exact), Message("assistant", "What?")]
    shown = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "What?"}]
    steps = [s async for s in turns_of(service).retry("tab", *page("text", left=shown))]
    assert service.asked == [(exact, Mode.TEXT)]
    assert service.options[0]["again"] is True
    assert texts(merged(steps)["left"])[1:] == ["Your dog is Biscuit."]
    assert [m.content for m in service.kept["c"]] == [exact, "Your dog is Biscuit."]


async def test_a_retry_that_fails_shows_the_reply_that_is_kept() -> None:
    service = FakeService()
    service.kept["c"] = [Message("user", "Who?"), Message("assistant", "What?")]
    service.fails_with = EngineStoppedError("The engine is gone.")
    shown = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "What?"}]
    steps: Changes = {}
    with pytest.raises(EngineStoppedError):
        await _collect(turns_of(service).retry("tab", *page(left=shown)), steps)
    assert texts(steps["left"]) == ["Who?", "What?"]
    assert steps["prompt"] == ""


async def test_undo_removes_the_last_exchange_from_both_panes() -> None:
    service = FakeService()
    service.kept["c"] = [Message("user", "Who?"), Message("assistant", "What?")]
    shown = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "What?"}]
    both = page(SIDE_BY_SIDE, left=shown, right=shown)
    changes = await turns_of(service).undo("tab", *both)
    assert (changes["left"], changes["right"]) == ([], [])
    assert changes["acts"]["visible"] is False
    assert service.kept["c"] == []
    again = await turns_of(service).undo("tab", *both)
    assert "Nothing was said" in again["notice"]


async def test_an_edited_message_takes_the_place_of_the_last_exchange() -> None:
    service = FakeService()
    service.kept["c"] = [Message("user", "Who?"), Message("assistant", "What?")]
    shown = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "What?"}]
    turns = turns_of(service)
    changes = await turns.edit(*page(left=shown))
    assert (changes["prompt"], changes["editing"]) == ("Who?", True)
    edited = page(left=shown, editing=True)
    last = merged([s async for s in turns.send("tab", "Who am I?", *edited)])
    assert texts(last["left"]) == ["Who am I?", "Your dog is Biscuit."]
    assert last["editing"] is False
    assert [m.content for m in service.kept["c"]] == ["Who am I?", "Your dog is Biscuit."]


async def test_a_blank_edit_removes_nothing() -> None:
    service = FakeService()
    service.kept["c"] = [Message("user", "Who?"), Message("assistant", "What?")]
    last = merged(await changes_of(service, " ", page(editing=True)))
    assert "empty" in last["notice"]
    assert "editing" not in last
    assert len(service.kept["c"]) == 2


async def test_an_edit_that_is_refused_keeps_the_exchange_and_stays_an_edit() -> None:
    service = FakeService()
    kept = [Message("user", "Who?"), Message("assistant", "What?")]
    shown = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "What?"}]
    service.kept["c"] = list(kept)
    service.refuses_with = MessageTooLongError("The message is longer than the limit.")
    last = merged(await changes_of(service, "Who? " * 9, page(left=shown, editing=True)))
    assert service.kept["c"] == kept
    assert last["left"] == shown
    assert (last["prompt"], "editing" in last) == ("Who? " * 9, False)
    assert "longer than the limit" in last["notice"]
    assert service.asked == []


def test_the_page_hands_over_its_parts_in_the_order_of_the_fields() -> None:
    assert tuple(field.name for field in fields(Page)) == TURN_INPUTS


async def test_a_kept_message_leaves_the_box_empty() -> None:
    changes = await turns_of(FakeService()).keep()
    assert (changes["prompt"], changes["editing"]) == ("", False)


async def test_k_goes_along_and_the_time_becomes_a_point() -> None:
    service = FakeService()
    last = merged(await changes_of(service, "Who?", page(k=7)))
    assert service.options[0]["k"] == 7
    assert last["points"] == [(1, "kv", 41.0, 0)]


async def test_retry_without_a_question_says_so() -> None:
    steps = [s async for s in turns_of(FakeService()).retry("tab", *page(conversation_id=None))]
    assert "Nothing was said" in merged(steps)["notice"]


async def test_where_kv_is_refused_the_mode_stays_closed() -> None:
    last = merged(await changes_of(FakeService(kv_available=False), "Who?", page("text")))
    assert last["mode"]["interactive"] is False
