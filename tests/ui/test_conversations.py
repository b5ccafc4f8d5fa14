"""Conversations: the list, opening, leaving, changing the mode."""

from memory_engine.types import Message
from tests.ui.fake_service import FakeService
from ui.conversations import Conversations, switched
from ui.running import Running
from ui.states import SIDE_BY_SIDE


def told() -> FakeService:
    service = FakeService()
    service.kept = {
        "c0": [Message("user", "<b>one</b>"), Message("assistant", "**yes**")],
        "c1": [Message("user", "two")],
        "c2": [],
    }
    return service


def conversations_of(service: FakeService) -> Conversations:
    return Conversations(service, "ann", Running())


async def test_the_list_marks_the_open_one_and_leaves_out_the_empty_ones() -> None:
    listed = (await conversations_of(told()).listed("c1"))["conversations"]
    assert 'data-id="c1" aria-current="true"' in listed
    assert listed.index("two") < listed.index("&lt;b&gt;one&lt;/b&gt;")
    assert "c2" not in listed


async def test_opening_shows_the_turns_as_they_were_said() -> None:
    changes = await conversations_of(told()).open("tab", "c0", "kv")
    assert changes["left"] == [
        {"role": "user", "content": "&lt;b&gt;one&lt;/b&gt;"},
        {"role": "assistant", "content": "**yes**"},
    ]
    assert changes["right"] == []
    assert changes["conversation_id"] == "c0"


async def test_opening_side_by_side_fills_both_panes() -> None:
    changes = await conversations_of(told()).open("tab", "c0", SIDE_BY_SIDE)
    assert changes["right"] == changes["left"] != []


async def test_a_new_conversation_is_an_empty_page_and_stores_nothing() -> None:
    service = told()
    changes = await conversations_of(service).new("tab")
    assert (changes["left"], changes["conversation_id"]) == ([], None)
    assert list(service.kept) == ["c0", "c1", "c2"]


def test_one_pane_goes_on_with_what_the_kv_pane_showed() -> None:
    text, kv = [{"content": "text"}], [{"content": "kv"}]
    assert switched("kv", text, kv)["left"] == kv
    assert switched(SIDE_BY_SIDE, text, [])["right"] == text
