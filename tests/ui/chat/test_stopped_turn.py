"""A turn that is stopped, left, or asked for during another one."""

import asyncio
from contextlib import aclosing

import pytest

from memory_engine.errors import UserError
from tests.ui.chat.turn_builder import (
    changes_of,
    changes_of_turn,
    merged,
    page,
    texts,
    turns_of,
)
from tests.ui.fake_service import FakeService
from ui.conversations.conversation_panel import ConversationPanel
from ui.parts.page_states import Changes


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
    assert "54 ms" in seen["left_trace"]
    assert "Stopped" in seen["left_trace"]
    assert seen["send"]["visible"] is True


async def test_stopping_before_the_first_token_stops_the_stopwatch() -> None:
    turns = turns_of(FakeService(delay=30))
    seen: Changes = {}
    stopping: asyncio.Task[Changes] | None = None
    async for step in turns.send("tab", "Who?", *page()):
        seen |= step
        stopping = stopping or asyncio.create_task(turns.stop("tab"))
    assert seen["left_trace"] == '<p class="tokens stopped">Stopped</p>'


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
