"""The text of a reply as it was displayed, and how the reply ended."""

import asyncio

import pytest

from agent.reply.accumulator import ReplyAccumulator
from agent.reply_events import FirstToken, TextDelta
from memory_engine.types import Mode


async def nothing() -> None:
    await asyncio.sleep(0)


async def endless() -> None:
    await asyncio.Event().wait()


async def failing() -> None:
    raise ValueError("broken")


def test_the_wanted_mode_is_kept_or_the_only_one_that_said_anything() -> None:
    accumulator = ReplyAccumulator(Mode.KV)
    accumulator.add(Mode.TEXT, TextDelta("Bis"))
    accumulator.add(Mode.TEXT, TextDelta("cuit"))
    assert (accumulator.kept, accumulator.text) == (Mode.TEXT, "Biscuit")
    accumulator.add(Mode.KV, TextDelta("Bi"))
    assert (accumulator.kept, accumulator.text) == (Mode.KV, "Bi")


def test_a_first_token_is_no_text() -> None:
    accumulator = ReplyAccumulator(Mode.KV)
    accumulator.add(Mode.KV, FirstToken(1.0, 2.0))
    assert (accumulator.text, accumulator.reply, accumulator.status) == ("", None, "stopped")


async def test_a_failure_is_kept_and_not_raised() -> None:
    accumulator = ReplyAccumulator(Mode.KV)
    await accumulator.run(failing())
    assert isinstance(accumulator.error, ValueError)
    assert accumulator.status == "failed"


@pytest.mark.parametrize("before", [True, False])
async def test_a_generation_can_be_stopped_while_it_runs_and_before_it_begins(
    before: bool,
) -> None:
    accumulator = ReplyAccumulator(Mode.KV)
    if before:
        accumulator.stop()
        await asyncio.wait_for(accumulator.run(endless()), 5)
    else:
        running = asyncio.create_task(accumulator.run(endless()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        accumulator.stop()
        await asyncio.wait_for(running, 5)
    assert (accumulator.error, accumulator.status) == (None, "stopped")


async def test_who_runs_it_can_be_cancelled_and_leaves_no_generation_behind() -> None:
    accumulator = ReplyAccumulator(Mode.KV)
    tasks = len(asyncio.all_tasks())
    running = asyncio.create_task(accumulator.run(endless()))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(asyncio.all_tasks()) == tasks


async def test_a_generation_that_ends_is_no_failure() -> None:
    accumulator = ReplyAccumulator(Mode.KV)
    await accumulator.run(nothing())
    assert accumulator.error is None
