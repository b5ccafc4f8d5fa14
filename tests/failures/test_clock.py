"""The clock is set back and forward: nothing said is lost, and what was said last holds."""

from datetime import datetime, timedelta, tzinfo

import pytest

from agent.db.utc import utc_now
from tests.agent.agent_builder import opened


def set_clock(monkeypatch: pytest.MonkeyPatch, away: timedelta) -> None:
    """Set this process's clock, which is not what time limits are measured by."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + away

    monkeypatch.setattr("agent.db.utc.datetime", Clock)
    assert abs(utc_now() - datetime.now(utc_now().tzinfo) - away) < timedelta(seconds=9)


@pytest.mark.parametrize("days", [-400, -1, 1, 400])
async def test_what_was_said_last_holds_whatever_the_clock_says(
    database_url: str, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    async with opened(database_url) as parts:
        await parts.say("I live in Bern. I have a cat.")
        set_clock(monkeypatch, timedelta(days=days))
        reply = await parts.say("I moved to Zurich.")
        await parts.say("I ski.")
        assert set(await parts.known()) == {"I have a cat.", "I moved to Zurich.", "I ski."}
        monkeypatch.undo()
        await parts.say("I moved to Rome.", conversation_id=reply.conversation_id)
        assert sorted(await parts.known()) == ["I have a cat.", "I moved to Rome.", "I ski."]
        said = await parts.service.messages("ann", reply.conversation_id or "")
        assert [m.content for m in said if m.role == "user"] == [
            "I moved to Zurich.",
            "I moved to Rome.",
        ]
        for fact in (await parts.service.export_facts("ann")).facts:
            assert (
                fact.valid_to is None
                or fact.valid_from is None
                or (fact.valid_from <= fact.valid_to)
            )


async def test_two_machines_whose_clocks_differ_agree_on_what_was_said_last(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(database_url) as behind, opened(database_url) as ahead:
        for number, town in enumerate(("Bern", "Zurich", "Rome", "Oslo")):
            parts = (ahead, behind)[number % 2]
            set_clock(monkeypatch, timedelta(hours=1 if parts is ahead else -1))
            await parts.say(f"I live in {town}.")
            assert await behind.known() == await ahead.known() == [f"I live in {town}."]


async def test_turns_left_when_the_clock_was_ahead_are_remembered(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, timedelta(days=30))
    async with opened(database_url) as parts:
        await parts.agent.conversations.add_message("ann", None, "I live in Bern.", remember=True)
    monkeypatch.undo()
    async with opened(database_url) as parts:
        await parts.service.start()
        await parts.service.settle("ann")
        assert await parts.known() == ["I live in Bern."]
