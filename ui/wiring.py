"""Which event runs which handler, and which parts of the page it may change."""

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import gradio as gr
from gradio.events import api

from app.service import ChatService
from memory_engine.errors import UserError
from memory_engine.types import Mode
from ui.conversations import Conversations, switched
from ui.facts import Facts
from ui.pane import Changes, Shown
from ui.running import Running
from ui.states import SIDE_BY_SIDE
from ui.turn import Turns

Parts = dict[str, Any]

TURN_INPUTS = ("mode", "conversation_id", "asked", "left", "right")
TURN_OUTPUTS = (
    *("left", "right", "left_account", "right_account", "strip", "notice", "prompt"),
    *("send", "stop", "mode", "conversation_id", "asked"),
)
PAGE_OUTPUTS = (*TURN_OUTPUTS, "conversations")
FACTS_OUTPUTS = ("facts", "facts_notice", "new_fact")

# Quick handlers: out of the queue, so that no reply in progress holds them up.
QUICK: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
# Generating handlers: vLLM batches, so Gradio must not make them wait for one another.
SLOW: dict[str, Any] = {
    "show_progress": "hidden",
    "api_visibility": "private",
    "concurrency_limit": None,
}


def wire(parts: Parts, service: ChatService, user: str, demo: gr.Blocks, running: Running) -> None:
    """Connect the page drawn by `layout.draw` to `service`."""
    turns, facts = Turns(service, user, running), Facts(service, user)
    conversations = Conversations(service, user, running)
    _wire_after_turns(parts, _wire_turns(parts, turns), conversations, facts)
    _wire_leaving(parts, turns, conversations)
    _wire_mode(parts)
    _wire_facts(parts, facts)
    demo.load(
        _updates(parts, conversations.listed), _of(parts, ("conversation_id",)),
        _of(parts, ("conversations",)), **QUICK,
    )  # fmt: skip
    demo.load(_updates(parts, facts.listed), None, _of(parts, FACTS_OUTPUTS), **QUICK)


def _wire_turns(parts: Parts, turns: Turns) -> list[Any]:
    send = {
        "fn": _updates(parts, turns.send, tab=True),
        "inputs": _of(parts, ("taken", *TURN_INPUTS)),
        "outputs": _of(parts, TURN_OUTPUTS),
        "concurrency_id": "send",
    }
    retry = {
        "fn": _updates(parts, turns.retry, tab=True),
        "inputs": _of(parts, TURN_INPUTS),
        "outputs": _of(parts, TURN_OUTPUTS),
        "concurrency_id": "retry",
    }
    parts["left"].example_select(_example, None, parts["prompt"], **QUICK)
    return [
        gr.on(
            [parts["prompt"].submit, parts["send"].click],
            _updates(parts, turns.take, tab=True),
            parts["prompt"],
            _of(parts, ("taken", "prompt")),
            **QUICK,
        ).success(**send, **SLOW),
        parts["left"].retry(**retry, **SLOW),
        parts["right"].retry(**retry, **SLOW),
    ]


def _wire_after_turns(
    parts: Parts, turns: list[Any], conversations: Conversations, facts: Facts
) -> None:
    for turn in turns:
        turn.then(
            _updates(parts, conversations.listed), _of(parts, ("conversation_id",)),
            _of(parts, ("conversations",)), **QUICK,
        ).then(
            _updates(parts, facts.remembered), None, _of(parts, FACTS_OUTPUTS),
            concurrency_id="remembered", **SLOW,
        )  # fmt: skip


def _wire_leaving(parts: Parts, turns: Turns, conversations: Conversations) -> None:
    # These are queued: their changes must come after the last ones of the turn they end.
    parts["stop"].click(
        _updates(parts, turns.stop, tab=True), None, parts["notice"],
        concurrency_id="leave", **SLOW,
    )  # fmt: skip
    outputs = _of(parts, PAGE_OUTPUTS)
    parts["new"].click(
        _updates(parts, conversations.new, tab=True), None, outputs,
        concurrency_id="leave", **SLOW,
    )  # fmt: skip
    parts["conversations"].click(_clicked, None, parts["clicked"], **QUICK).then(
        _updates(parts, conversations.open, tab=True), _of(parts, ("clicked", "mode")), outputs,
        concurrency_id="leave", **SLOW,
    )  # fmt: skip


def _wire_mode(parts: Parts) -> None:
    def switch(mode: str, left: Shown, right: Shown) -> Parts:
        both = mode == SIDE_BY_SIDE
        changes = switched(mode, left, right)
        changes["right_pane"] = gr.Column(visible=both)
        return {parts[name]: value for name, value in changes.items()}

    outputs = ("left", "right", "right_pane", "left_account", "right_account", "strip")
    parts["mode"].change(
        switch, _of(parts, ("mode", "left", "right")), _of(parts, outputs), **QUICK
    )


def _wire_facts(parts: Parts, facts: Facts) -> None:
    outputs = _of(parts, FACTS_OUTPUTS)
    for trigger in (parts["new_fact"].submit, parts["add"].click):
        trigger(
            _updates(parts, facts.add), _of(parts, ("new_fact",)), outputs,
            concurrency_id="facts", **SLOW,
        )  # fmt: skip
    parts["facts"].click(_clicked, None, parts["clicked"], **QUICK).then(
        _updates(parts, facts.forget), _of(parts, ("clicked",)), outputs,
        concurrency_id="facts", **SLOW,
    )  # fmt: skip


def add_api(service: ChatService, user: str) -> None:
    """The one public endpoint, `/chat`: ask once, in a new conversation."""

    async def chat(message: str, mode: str = Mode.KV.value) -> AsyncIterator[str]:
        """Ask `message` in mode "text" or "kv"; yields the reply as it grows."""
        text = ""
        if mode not in list(Mode):
            raise UserError(f"There is no mode {mode!r}: choose text or kv.")
        events = service.reply(user=user, message=message, mode=Mode(mode))
        async with aclosing(events) as stream:
            async for event in stream:
                text += getattr(event, "text", "")
                yield text

    api(chat, api_name="chat", concurrency_limit=None, concurrency_id="chat")


def _of(parts: Parts, names: tuple[str, ...]) -> list[Any]:
    return [parts[name] for name in names]


def _updates(parts: Parts, handler: Callable[..., Any], *, tab: bool = False) -> Callable[..., Any]:
    """`handler`, its named changes turned into component updates.

    With `tab` its first argument says which browser tab it is for.
    """

    def translated(changes: Changes) -> Parts:
        return {parts[name]: value for name, value in changes.items()}

    def arguments(request: gr.Request, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return (request.session_hash, *values) if tab else values

    async def stream(request: gr.Request, *values: Any) -> Any:
        async with aclosing(handler(*arguments(request, values))) as changing:
            async for changes in changing:
                yield translated(changes)

    async def once(request: gr.Request, *values: Any) -> Any:
        return translated(await handler(*arguments(request, values)))

    return stream if inspect.isasyncgenfunction(handler) else once


def _clicked(event: gr.EventData) -> str:
    return str(event.id)


def _example(event: gr.SelectData) -> str:
    return str(event.value["text"])
