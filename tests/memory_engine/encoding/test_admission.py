"""Replies come first; encoding uses what they leave."""

import asyncio

import pytest

from memory_engine.encoding import admission as turns
from memory_engine.encoding.admission import Admission


class Encodes:
    """Starts encodes and counts how many run."""

    def __init__(self, turns: Admission) -> None:
        self._turns = turns
        self.running = 0
        self.most = 0
        self.facts: list[int | None] = []
        self.finish = asyncio.Event()

    async def one(self) -> None:
        async with self._turns.encode() as facts:
            self.facts.append(facts)
            self.running += 1
            self.most = max(self.most, self.running)
            await self.finish.wait()
            self.running -= 1


async def soon() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_as_many_encodes_run_as_are_allowed() -> None:
    encodes = Encodes(Admission(3))
    tasks = [asyncio.create_task(encodes.one()) for _ in range(8)]
    await soon()
    assert encodes.running == 3
    encodes.finish.set()
    await asyncio.gather(*tasks)
    assert encodes.most == 3


async def test_no_encode_starts_before_a_reply_has_its_first_token() -> None:
    held = Admission(3)
    first_token = held.reply("ann")
    encodes = Encodes(held)
    task = asyncio.create_task(encodes.one())
    await soon()
    assert encodes.running == 0
    first_token()
    await soon()
    assert encodes.running == 1
    encodes.finish.set()
    await task


async def test_while_people_chat_one_short_encode_runs_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "_CHAT_LASTS", 0.2)
    held = Admission(3)
    held.reply("ann")()
    encodes = Encodes(held)
    tasks = [asyncio.create_task(encodes.one()) for _ in range(3)]
    await soon()
    assert encodes.running == 1
    assert encodes.facts == [turns._CHAT_FACTS]
    await asyncio.sleep(0.3)
    assert encodes.running == 3
    assert encodes.facts[1:] == [None, None]
    encodes.finish.set()
    await asyncio.gather(*tasks)


async def test_a_reply_that_ends_twice_counts_once() -> None:
    held = Admission(1)
    first, _second = held.reply("ann"), held.reply("ann")
    first()
    first()
    encodes = Encodes(held)
    task = asyncio.create_task(encodes.one())
    await soon()
    assert encodes.running == 0
    task.cancel()


async def test_from_a_message_to_its_request_nothing_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "_REPLY_FOLLOWS", 0.1)
    held = Admission(3)
    held.message("ann")
    encodes = Encodes(held)
    task = asyncio.create_task(encodes.one())
    await soon()
    first_token = held.reply("ann")
    await asyncio.sleep(0.15)
    assert encodes.running == 0
    first_token()
    await soon()
    assert encodes.running == 1
    encodes.finish.set()
    await task


async def test_one_users_request_ends_no_quiet_that_anothers_message_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "_REPLY_FOLLOWS", 5.0)
    held = Admission(3)
    held.message("ann")
    held.message("ben")
    held.reply("ben")()
    encodes = Encodes(held)
    task = asyncio.create_task(encodes.one())
    await soon()
    assert encodes.running == 0
    held.reply("ann")()
    await soon()
    assert encodes.running == 1
    encodes.finish.set()
    await task


async def test_a_message_that_is_never_asked_about_stops_nothing_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "_REPLY_FOLLOWS", 0.1)
    held = Admission(3)
    held.message("ann")
    encodes = Encodes(held)
    task = asyncio.create_task(encodes.one())
    await soon()
    assert encodes.running == 0
    await asyncio.sleep(0.2)
    assert encodes.running == 1
    encodes.finish.set()
    await task
