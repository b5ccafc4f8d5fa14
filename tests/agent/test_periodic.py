"""Repeated work: failures are logged, and a run that has begun is ended."""

import asyncio

import pytest

from agent.periodic import Periodic


async def test_it_is_done_until_it_is_closed_and_a_failure_is_not_the_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    times, enough = 0, asyncio.Event()

    async def work() -> None:
        nonlocal times
        times += 1
        if times == 3:
            enough.set()
        raise ValueError("it did not work")

    periodic = Periodic("testing", work, 0.001)
    periodic.start()
    periodic.start()
    await enough.wait()
    await periodic.aclose()
    done = times
    await asyncio.sleep(0.01)
    assert times == done
    assert len([r for r in caplog.records if "testing failed" in r.message]) == done
    assert not periodic.started


async def test_closing_waits_for_what_is_being_done() -> None:
    began, go, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        began.set()
        await go.wait()
        ended.set()

    periodic = Periodic("testing", work, 0)
    periodic.start()
    await began.wait()
    closing = asyncio.create_task(periodic.aclose())
    await asyncio.sleep(0)
    assert not closing.done()
    go.set()
    await closing
    assert ended.is_set()


async def test_closing_what_was_never_started_is_fine() -> None:
    async def work() -> None:
        raise AssertionError

    await Periodic("testing", work, 0).aclose()
