"""Replies come first; encoding uses what they leave."""

import asyncio

from memory_engine.encoding.admission import (
    _CHAT_FACTS,
    _CHAT_LASTS,
    _REPLY_FOLLOWS,
    Admission,
    Clock,
)


class FakeClock(Clock):
    """A clock that stands still until it is turned."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._timers: list[tuple[float, asyncio.Event]] = []

    def now(self) -> float:
        return self._now

    async def wait(self, event: asyncio.Event, seconds: float | None) -> None:
        late = asyncio.Event()
        if seconds is not None:
            self._timers.append((self._now + seconds, late))
        waiting = {asyncio.create_task(each.wait()) for each in (event, late)}
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()

    async def turn(self, seconds: float) -> None:
        """Let time pass, and what it wakes run."""
        self._now += seconds
        for until, late in self._timers:
            if until <= self._now:
                late.set()
        await soon()


class Encodes:
    """Starts encodes and counts how many run."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self.running = 0
        self.most = 0
        self.facts: list[int | None] = []
        self.finish = asyncio.Event()

    async def one(self) -> None:
        async with self._admission.encode() as facts:
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
    admission = Admission(3, FakeClock())
    first_token = admission.reply("ann")
    encodes = Encodes(admission)
    task = asyncio.create_task(encodes.one())
    await soon()
    assert encodes.running == 0
    first_token()
    await soon()
    assert encodes.running == 1
    encodes.finish.set()
    await task


async def test_while_people_chat_one_short_encode_runs_at_a_time() -> None:
    clock = FakeClock()
    admission = Admission(3, clock)
    admission.reply("ann")()
    encodes = Encodes(admission)
    tasks = [asyncio.create_task(encodes.one()) for _ in range(3)]
    await clock.turn(0.9 * _CHAT_LASTS)
    assert encodes.running == 1
    assert encodes.facts == [_CHAT_FACTS]
    await clock.turn(0.2 * _CHAT_LASTS)
    assert encodes.running == 3
    assert encodes.facts[1:] == [None, None]
    encodes.finish.set()
    await asyncio.gather(*tasks)


async def test_a_reply_that_ends_twice_counts_once() -> None:
    admission = Admission(1, FakeClock())
    first, _second = admission.reply("ann"), admission.reply("ann")
    first()
    first()
    encodes = Encodes(admission)
    task = asyncio.create_task(encodes.one())
    await soon()
    assert encodes.running == 0
    task.cancel()


async def test_from_a_message_to_its_request_nothing_begins() -> None:
    clock = FakeClock()
    admission = Admission(3, clock)
    admission.message("ann")
    encodes = Encodes(admission)
    task = asyncio.create_task(encodes.one())
    await clock.turn(0.9 * _REPLY_FOLLOWS)
    assert encodes.running == 0
    first_token = admission.reply("ann")
    await clock.turn(100)
    assert encodes.running == 0
    first_token()
    await soon()
    assert encodes.running == 1
    encodes.finish.set()
    await task


async def test_one_users_request_ends_no_quiet_that_anothers_message_asked_for() -> None:
    admission = Admission(3, FakeClock())
    admission.message("ann")
    admission.message("ben")
    admission.reply("ben")()
    encodes = Encodes(admission)
    task = asyncio.create_task(encodes.one())
    await soon()
    assert encodes.running == 0
    admission.reply("ann")()
    await soon()
    assert encodes.running == 1
    encodes.finish.set()
    await task


async def test_a_message_that_is_never_asked_about_stops_nothing_for_long() -> None:
    clock = FakeClock()
    admission = Admission(3, clock)
    admission.message("ann")
    encodes = Encodes(admission)
    task = asyncio.create_task(encodes.one())
    await soon()
    assert encodes.running == 0
    await clock.turn(1.1 * _REPLY_FOLLOWS)
    assert encodes.running == 1
    encodes.finish.set()
    await task


async def test_the_clock_of_a_running_program_waits_for_the_event_or_the_time() -> None:
    clock, never, now = Clock(), asyncio.Event(), asyncio.Event()
    began = clock.now()
    await clock.wait(never, 0.01)
    assert clock.now() > began
    now.set()
    await clock.wait(now, None)
