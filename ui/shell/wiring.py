"""Wiring of the page: each event to its handler and the parts that it may change."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import gradio as gr
from gradio.events import api

from app.service import ChatService
from memory_engine.errors import UserError
from memory_engine.types import Mode
from ui.chat.page import Page
from ui.chat.turn import ChatTurns
from ui.conversations.conversation_panel import ConversationPanel, switched
from ui.memory.fact_panel import FactPanel
from ui.parts.event_handlers import QUICK, SLOW, Parts, gradio_errors, of, updates, user_of
from ui.parts.file_download import SAVE
from ui.parts.page_states import SIDE_BY_SIDE, Shown
from ui.parts.row_events import clicked
from ui.shell.memory_wiring import FACTS_OUTPUTS, wire_memory, wire_timings
from ui.shell.user_handlers import UserHandlers
from ui.shell.user_menu import user_menu
from ui.timings.timing_chart import drawn

TURN_OUTPUTS = (
    *("left", "right", "left_trace", "right_trace", "strip", "notice", "prompt"),
    *("send", "stop", "mode", "conversation_id", "asked", "acts", "edit_bar", "editing"),
    *("reply_times", "traces", "moved_on"),
)
PANES = ("left", "right", "left_trace", "right_trace", "strip", "acts", "traces")
PAGE_OUTPUTS = (*TURN_OUTPUTS, "conversations", "list_notice", "memory", "download")
LISTED = ("conversation_id", "find_conversation")


def wire(parts: Parts, users: UserHandlers, demo: gr.Blocks, *, passwords: bool = False) -> None:
    """Connect the page drawn by `page_layout.draw` to the handlers of whoever uses it."""
    _wire_after_turns(parts, _wire_turns(parts, users), users)
    _wire_last_exchange(parts, users)
    _wire_leaving(parts, users)
    _wire_mode(parts)
    wire_memory(parts, users, demo)
    wire_timings(parts, users)
    if "who" in parts:
        demo.load(user_menu(passwords=passwords), None, parts["who"], **QUICK)
    demo.load(
        updates(parts, users.conversations, ConversationPanel.listed), of(parts, LISTED),
        of(parts, ("conversations",)), **QUICK,
    )  # fmt: skip


def _wire_turns(parts: Parts, users: UserHandlers) -> list[Any]:
    send = {
        "fn": updates(parts, users.turns, ChatTurns.send, tab=True),
        "inputs": of(parts, ("taken", *Page.inputs())),
        "outputs": of(parts, TURN_OUTPUTS),
        "concurrency_id": "send",
        # A busy browser may still draw the reply that this tab left.
        "trigger_mode": "multiple",
    }
    retry = {
        "fn": updates(parts, users.turns, ChatTurns.retry, tab=True),
        "inputs": of(parts, Page.inputs()),
        "outputs": of(parts, TURN_OUTPUTS),
        "concurrency_id": "retry",
    }
    parts["left"].example_select(_example, None, parts["prompt"], **QUICK)
    return [
        gr.on(
            [parts["prompt"].submit, parts["send"].click],
            updates(parts, users.turns, ChatTurns.take, tab=True),
            parts["prompt"],
            of(parts, ("taken", "prompt")),
            **QUICK,
        ).success(**send, **SLOW),
        parts["retry"].click(**retry, **SLOW),
    ]


def _wire_after_turns(parts: Parts, turns: list[Any], users: UserHandlers) -> None:
    for turn in turns:
        # Queued, as what it comes after: sent in the order in which the tab was changed.
        turn.then(
            updates(parts, users.conversations, ConversationPanel.once_more),
            of(parts, ("moved_on", "conversation_id", "mode")),
            of(parts, PANES),
            concurrency_id="leave", **SLOW,
        )  # fmt: skip
        turn.then(
            updates(parts, users.conversations, ConversationPanel.listed), of(parts, LISTED),
            of(parts, ("conversations",)), **QUICK,
        ).then(
            lambda times: drawn(times)["timings"], parts["reply_times"], parts["timings"], **QUICK
        ).then(
            updates(parts, users.facts, FactPanel.remembered), of(parts, ("find_fact", "opened")),
            of(parts, FACTS_OUTPUTS), concurrency_id="remembered", **SLOW,
        )  # fmt: skip


def _wire_last_exchange(parts: Parts, users: UserHandlers) -> None:
    inputs, outputs = of(parts, Page.inputs()), of(parts, TURN_OUTPUTS)
    parts["edit"].click(updates(parts, users.turns, ChatTurns.edit), inputs, outputs, **QUICK)
    parts["keep"].click(updates(parts, users.turns, ChatTurns.keep), None, outputs, **QUICK)
    undone = parts["undo"].click(
        updates(parts, users.turns, ChatTurns.undo, tab=True),
        inputs,
        outputs,
        concurrency_id="leave",
        **SLOW,
    )
    _relist(undone, parts, users)


def _relist(event: Any, parts: Parts, users: UserHandlers) -> None:
    event.then(
        updates(parts, users.conversations, ConversationPanel.listed), of(parts, LISTED),
        of(parts, ("conversations",)), **QUICK,
    ).then(
        updates(parts, users.facts, FactPanel.listed), of(parts, ("find_fact", "opened")),
        of(parts, FACTS_OUTPUTS), **QUICK,
    )  # fmt: skip


def _wire_leaving(parts: Parts, users: UserHandlers) -> None:
    # These are queued: their changes must come after the last ones of the turn they end.
    parts["stop"].click(
        updates(parts, users.turns, ChatTurns.stop, tab=True), None, parts["notice"],
        concurrency_id="leave", **SLOW,
    )  # fmt: skip
    outputs = of(parts, PAGE_OUTPUTS)
    parts["new"].click(
        updates(parts, users.conversations, ConversationPanel.new, tab=True),
        parts["find_conversation"], outputs, concurrency_id="leave", **SLOW,
    )  # fmt: skip
    acted = parts["conversations"].click(clicked, None, parts["clicked"], **QUICK).then(
        updates(parts, users.conversations, ConversationPanel.act, tab=True),
        of(parts, ("clicked", "mode", *LISTED)), outputs,
        concurrency_id="leave", **SLOW,
    )  # fmt: skip
    acted.then(None, parts["download"], None, js=SAVE)
    _relist(acted, parts, users)
    parts["find_conversation"].change(
        updates(parts, users.conversations, ConversationPanel.listed), of(parts, LISTED),
        of(parts, ("conversations",)), trigger_mode="always_last", **QUICK,
    )  # fmt: skip
    parts["memory"].input(
        updates(parts, users.conversations, ConversationPanel.set_memory),
        of(parts, ("conversation_id", "memory")), of(parts, ("conversation_id",)), **QUICK,
    ).then(
        updates(parts, users.conversations, ConversationPanel.listed), of(parts, LISTED),
        of(parts, ("conversations",)), **QUICK,
    )  # fmt: skip


def _wire_mode(parts: Parts) -> None:
    def switch(mode: str, left: Shown, right: Shown) -> Parts:
        both = mode == SIDE_BY_SIDE
        changes = switched(mode, left, right)
        changes["right_pane"] = gr.Column(visible=both)
        return {parts[name]: value for name, value in changes.items()}

    outputs = ("left", "right", "right_pane", "left_trace", "right_trace", "strip")
    parts["mode"].change(switch, of(parts, ("mode", "left", "right")), of(parts, outputs), **QUICK)


def add_api(service: ChatService) -> None:
    """The one public endpoint, `/chat`: ask once, in a new conversation."""

    async def chat(
        request: gr.Request, message: str, mode: str = Mode.KV.value
    ) -> AsyncIterator[str]:
        """Ask `message` in mode "text" or "kv"; yields the reply as it grows."""
        text = ""
        with gradio_errors():
            if mode not in list(Mode):
                raise UserError(f"There is no mode {mode!r}: choose text or kv.")
            events = service.reply(user=user_of(request), message=message, mode=Mode(mode))
            async with aclosing(events) as stream:
                async for event in stream:
                    text += getattr(event, "text", "")
                    yield text

    api(chat, api_name="chat", concurrency_limit=None, concurrency_id="chat")


def _example(event: gr.SelectData) -> str:
    return str(event.value["text"])
