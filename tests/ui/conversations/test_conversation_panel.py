"""The conversation panel: what can be done with a conversation, opening, leaving, the mode."""

import json
from pathlib import Path
from typing import Any

from memory_engine.types import Message
from tests.agent.agent_builder import Parts, opened, url_of
from tests.ui.fake_service import FakeService
from ui.chat.running_turns import RunningTurns
from ui.chat.trace_view import finished
from ui.chat.turn import ChatTurns
from ui.conversations.conversation_list import as_document, file_name
from ui.conversations.conversation_panel import ConversationPanel, switched
from ui.parts.page_states import SIDE_BY_SIDE


def told() -> FakeService:
    service = FakeService()
    service.kept = {
        "c0": [Message("user", "<b>one</b>"), Message("assistant", "**yes**")],
        "c1": [Message("user", "two")],
        "c2": [],
    }
    return service


def conversations_of(service: FakeService) -> ConversationPanel:
    return ConversationPanel(service, "ann", RunningTurns())


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


async def test_opening_tells_that_the_last_reply_was_cut_off() -> None:
    service = told()
    conversations = conversations_of(service)
    assert (await conversations.open("tab", "c0", "kv"))["left_trace"] == ""
    service.cut_off_at = "c0"
    assert "Stopped" in (await conversations.open("tab", "c0", "kv"))["left_trace"]
    assert (await conversations.open("tab", "c1", "kv"))["left_trace"] == ""


async def test_opening_shows_the_trace_of_every_reply(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        talk = (await parts.say("I ski.")).conversation_id or ""
        second = await parts.ask("What do I do?", conversation_id=talk)
        conversations = ConversationPanel(parts.service, "ann", RunningTurns())
        changes = await conversations.open("tab", talk, "kv")
        both = await conversations.open("tab", talk, SIDE_BY_SIDE)
    assert ["class=" in shown["content"] for shown in changes["left"]] == [
        *(False, False, True),
        *(False, False, True),
    ]
    assert "KV" in changes["left"][2]["content"]
    assert "1 fact used" in changes["left"][5]["content"]
    assert "I ski." not in changes["left"][5]["content"]
    assert changes["traces"].count("I ski.") == 2  # the fact, and the message that said it
    assert changes["left_trace"] == finished(second)
    assert changes["right_trace"] == ""
    assert both["right_trace"] == both["left_trace"] == finished(second)


async def test_opening_tells_nothing_of_a_forgotten_fact(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        fact = await parts.service.add_fact("ann", "I keep Zanzibar cloves.")
        talk = (await parts.ask("What do I do?")).conversation_id or ""
        await parts.service.forget_fact("ann", fact.id)
        changes = await ConversationPanel(parts.service, "ann", RunningTurns()).open(
            "tab", talk, "kv"
        )
    assert "Zanzibar" not in str(changes)
    assert "a fact that was forgotten since" in changes["left_trace"]


async def test_the_traces_of_another_user_are_not_shown(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        await parts.service.add_fact("ann", "I keep Zanzibar cloves.")
        talk = (await parts.ask("What do I do?")).conversation_id or ""
        click = {"id": talk, "act": "", "text": ""}
        bobs = ConversationPanel(parts.service, "bob", RunningTurns())
        changes = await bobs.act("tab", click, "kv", None, "")
    assert "There is no conversation" in changes["list_notice"]
    assert changes.keys() == {"list_notice", "conversations", "download"}
    assert "Zanzibar" not in str(changes)


async def test_opening_side_by_side_fills_both_panes() -> None:
    changes = await conversations_of(told()).open("tab", "c0", SIDE_BY_SIDE)
    assert changes["right"] == changes["left"] != []


async def test_a_new_conversation_is_an_empty_page_and_stores_nothing() -> None:
    service = told()
    changes = await conversations_of(service).new("tab", "")
    assert (changes["left"], changes["conversation_id"]) == ([], None)
    assert list(service.kept) == ["c0", "c1", "c2"]


async def test_what_took_the_place_of_a_reply_is_shown_once_more_when_that_is_drawn() -> None:
    conversations = conversations_of(told())
    assert await conversations.once_more(False, "c0", "kv") == {}
    for mode in ("kv", SIDE_BY_SIDE):
        opened = await conversations.open("tab", "c0", mode)
        again = await conversations.once_more(True, "c0", mode)
        assert again["left"] != []
        assert again == {part: opened[part] for part in again}
    assert (await conversations.once_more(True, None, "kv"))["left"] == []


async def test_whatever_takes_the_place_of_a_conversation_says_so() -> None:
    conversations = conversations_of(told())
    for changes in (
        await conversations.new("tab", ""),
        await conversations.open("tab", "c1", "kv"),
        await conversations.leave("tab"),
    ):
        assert changes["moved_on"] is True


def test_one_pane_goes_on_with_what_the_kv_pane_showed() -> None:
    text, kv = [{"content": "text"}], [{"content": "kv"}]
    assert switched("kv", text, kv)["left"] == kv
    assert switched(SIDE_BY_SIDE, text, [])["right"] == text


async def acted(
    parts: Parts, act: str, conversation: str, text: str = "", open_id: str | None = None
) -> dict[str, object]:
    click = {"id": conversation, "act": act, "text": text}
    return await ConversationPanel(parts.service, "ann", RunningTurns()).act(
        "tab", click, "kv", open_id or conversation, ""
    )


async def test_a_search_narrows_the_list_and_says_when_nothing_is_found() -> None:
    conversations = conversations_of(told())
    assert "two" not in (await conversations.listed(None, "one"))["conversations"]
    assert "No conversation says that." in (await conversations.listed(None, "x"))["conversations"]


async def test_a_conversation_is_renamed_in_its_row(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        talk = (await parts.say("I ski.")).conversation_id or ""
        changes = await acted(parts, "rename", talk, "<Winter>")
        assert "&lt;Winter&gt;" in str(changes["conversations"])
        assert "Renamed." in str(changes["list_notice"])
        assert "needs a title" in str((await acted(parts, "rename", talk, " "))["list_notice"])


async def test_a_deleted_conversation_leaves_an_empty_page_and_takes_its_facts(
    tmp_path: Path,
) -> None:
    async with opened(url_of(tmp_path)) as parts:
        talk = (await parts.say("I ski.")).conversation_id or ""
        changes = await acted(parts, "delete", talk)
        assert changes["left"] == []
        assert changes["conversation_id"] is None
        assert changes["moved_on"] is True
        assert "1 fact with it" in str(changes["list_notice"])
        assert await parts.known() == []


async def test_deleting_another_conversation_leaves_the_open_one(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        first = (await parts.say("I ski.")).conversation_id or ""
        second = (await parts.say("I swim.")).conversation_id or ""
        changes = await acted(parts, "delete", first, open_id=second)
        assert not {"left", "moved_on"} & set(changes)
        assert f'data-id="{second}" aria-current="true"' in str(changes["conversations"])


async def test_a_conversation_is_exported_as_it_was_said(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path), reply=lambda _: "**Good.**") as parts:
        talk = (await parts.say("I ski: <fast>")).conversation_id or ""
        wanted = json.loads(str((await acted(parts, "export", talk))["download"]))
    assert wanted["name"] == "i-ski-fast.md"
    assert wanted["text"] == (
        "# I ski: <fast>\n\n**You**\n\nI ski: <fast>\n\n**InferScale**\n\n**Good.**\n"
    )


def test_a_file_has_a_name_that_every_system_takes() -> None:
    assert file_name("a/b: c?") == "a-b-c.md"
    assert file_name("???") == "conversation.md"
    assert as_document("Empty", []) == "# Empty\n"


async def test_memory_is_switched_off_in_one_conversation_and_shown_when_it_is_opened(
    tmp_path: Path,
) -> None:
    async with opened(url_of(tmp_path)) as parts:
        conversations = ConversationPanel(parts.service, "ann", RunningTurns())
        talk = await parts.service.new_conversation("ann")
        assert await conversations.set_memory(None, False) == {}
        assert await conversations.set_memory(talk, False) == {}
        await parts.say("I ski.", conversation_id=talk)
        assert await parts.known() == []
        changes = await conversations.open("tab", talk, "kv")
        assert changes["memory"] is False
        assert "memory off" in changes["conversations"]


async def test_what_is_said_before_the_server_knows_that_memory_is_off_is_not_remembered(
    tmp_path: Path,
) -> None:
    async with opened(url_of(tmp_path)) as parts:
        turns = ChatTurns(parts.service, "ann", RunningTurns())
        talk = await parts.service.new_conversation("ann")
        for conversation_id in (None, talk):
            page: tuple[Any, ...] = (
                "kv",
                conversation_id,
                0,
                [],
                [],
                None,
                False,
                (),
                False,
                False,
            )
            assert [step async for step in turns.send("tab", "I ski.", *page)]
        await parts.service.settle("ann")
        assert await parts.known() == []
        assert [each.memory for each in await parts.service.conversations("ann")] == [False, False]
