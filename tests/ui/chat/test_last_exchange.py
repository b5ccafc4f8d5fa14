"""The last exchange: asked again, edited, undone."""

import pytest

from memory_engine.errors import EngineStoppedError, MessageTooLongError
from memory_engine.types import Message, Mode
from tests.ui.chat.turn_builder import changes_of, collect, merged, page, texts, turns_of
from tests.ui.fake_service import FakeService
from ui.parts.page_states import SIDE_BY_SIDE, Changes


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
        await collect(turns_of(service).retry("tab", *page(left=shown)), steps)
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


async def test_a_kept_message_leaves_the_box_empty() -> None:
    changes = await turns_of(FakeService()).keep()
    assert (changes["prompt"], changes["editing"]) == ("", False)


async def test_retry_without_a_question_says_so() -> None:
    steps = [s async for s in turns_of(FakeService()).retry("tab", *page(conversation_id=None))]
    assert "Nothing was said" in merged(steps)["notice"]
