"""Batches: the first at once, then at most one an interval, and nothing lost."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from ui.chat.update_batches import batches


async def counting(
    number: int, pause: float, fails: Exception | None = None
) -> AsyncGenerator[int, None]:
    for n in range(number):
        yield n
        await asyncio.sleep(pause)
    if fails:
        raise fails


def grouped(
    source: AsyncGenerator[int, None],
    urgent: int = -1,
    interval: float = 0.05,
    stop: asyncio.Event | None = None,
) -> AsyncGenerator[list[int], None]:
    stop = stop or asyncio.Event()
    return batches(source, urgent=lambda n: n == urgent, stop=stop, interval=interval)


async def test_fast_items_leave_in_few_batches_and_all_arrive() -> None:
    began = time.monotonic()
    groups = [g async for g in grouped(counting(100, 0.002), interval=0.05)]
    took = time.monotonic() - began
    assert groups[0] == [0]
    assert [n for group in groups for n in group] == list(range(100))
    assert len(groups) <= took / 0.05 + 2


async def test_an_urgent_item_leaves_with_the_next_one_at_once() -> None:
    began = time.monotonic()
    async with aclosing(grouped(counting(9, 0.01), urgent=1, interval=5)) as groups:
        assert await anext(groups) == [0]
        assert await anext(groups) == [1, 2]
        assert time.monotonic() - began < 1


async def test_an_urgent_item_that_nothing_follows_leaves_at_the_end() -> None:
    assert [g async for g in grouped(counting(1, 0), urgent=0)] == [[0]]


async def test_a_slow_source_does_not_hold_back_what_it_gave() -> None:
    async def slow() -> AsyncGenerator[int, None]:
        yield 0
        yield 1
        await asyncio.sleep(30)

    async with aclosing(grouped(slow(), interval=0.02)) as groups:
        seen: list[int] = []
        async for group in groups:
            seen += group
            if seen == [0, 1]:
                break
    assert seen == [0, 1]


async def test_an_error_comes_after_the_items_before_it() -> None:
    seen: list[int] = []
    groups = grouped(counting(3, 0, ValueError("broken")))

    async def collect() -> None:
        async for group in groups:
            seen.extend(group)

    with pytest.raises(ValueError, match="broken"):
        await collect()
    assert seen == [0, 1, 2]


async def test_closing_waits_until_the_source_is_closed() -> None:
    closed: list[bool] = []

    async def source() -> AsyncGenerator[int, None]:
        try:
            yield 0
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.02)
            closed.append(True)

    async with aclosing(grouped(source())) as groups:
        async for _ in groups:
            break
    assert closed == [True]


async def test_stop_ends_the_stream_and_closes_the_source() -> None:
    stop = asyncio.Event()
    source = counting(1000, 0.01)
    seen: list[int] = []
    async for group in grouped(source, stop=stop):
        seen += group
        stop.set()
    assert seen[0] == 0
    assert len(seen) < 10
    with pytest.raises(StopAsyncIteration):
        await anext(source)
