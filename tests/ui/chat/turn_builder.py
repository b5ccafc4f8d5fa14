"""Builders of turns: the page as a turn gets it, and the changes that the turn makes."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import astuple
from typing import Any

from tests.ui.fake_service import FakeService
from ui.chat.page import Page
from ui.chat.running_turns import RunningTurns
from ui.chat.turn import ChatTurns
from ui.parts.page_states import Changes


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
) -> tuple[Any, ...]:
    shown = list(left), list(right)
    return astuple(Page(mode, conversation_id, asked, *shown, k, editing, (), at_once, memory))


async def changes_of(
    service: FakeService, message: str, values: tuple[Any, ...] | None = None
) -> list[Changes]:
    turn = turns_of(service).send("tab", message, *(values or page()))
    return [changes async for changes in turn]


async def changes_of_turn(turns: ChatTurns) -> list[Changes]:
    return [s async for s in turns.send("tab", "Who?", *page())]


def merged(steps: list[Changes]) -> Changes:
    return {name: value for step in steps for name, value in step.items()}


async def collect(turn: AsyncGenerator[Changes, None], into: Changes) -> None:
    async for step in turn:
        into |= step


def distinct(steps: list[Changes], part: str) -> list[str]:
    """The values that a part of the page had, in order."""
    return list(dict.fromkeys(step[part] for step in steps if part in step))


def texts(shown: list[dict[str, Any]]) -> list[str]:
    return [m["content"] for m in shown if not m["content"].startswith("<details")]
