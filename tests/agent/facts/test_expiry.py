"""Transient facts are recalled until they are over, and stay in the history."""

from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import update

from agent.db.tables import FactRow
from agent.db.utc import utc_now
from agent.extraction.candidate import Candidate
from agent.facts.expiry import sweep
from agent.facts.fact_rows import expiry
from tests.agent.agent_builder import Parts, opened

SAID_AT = datetime(2026, 5, 6, 7, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("when", "ends"),
    [
        (None, datetime(2026, 5, 7, 7, 8, tzinfo=UTC)),
        (date(2026, 5, 6), datetime(2026, 5, 7, tzinfo=UTC)),
        (date(2026, 5, 9), datetime(2026, 5, 10, tzinfo=UTC)),
        (date(2026, 5, 1), datetime(2026, 5, 7, 7, 8, tzinfo=UTC)),
    ],
)
def test_a_passing_state_lasts_its_day_or_one_day(when: date | None, ends: datetime) -> None:
    assert expiry("transient", when, SAID_AT) == ends
    assert expiry("stable", when, SAID_AT) is None


async def headache(parts: Parts) -> None:
    text = "I have a headache."
    await parts.agent.fact_manager.add("ann", [Candidate(text, text, kind="transient")])


async def time_passes(parts: Parts) -> None:
    over = utc_now() - timedelta(seconds=1)
    passing = update(FactRow).where(FactRow.kind == "transient", FactRow.ended_at.is_(None))
    async with parts.database.write() as session:
        await session.execute(passing.values(valid_to=over))
    parts.agent._memory_sync._expiries["ann"] = over


async def test_a_passing_state_is_recalled_and_then_no_more(database_url: str) -> None:
    async with opened(database_url) as parts:
        await headache(parts)
        assert len((await parts.ask("How am I?")).facts) == 1
        (fact,) = await parts.service.facts("ann")
        assert parts.agent._memory_sync._expiries == {"ann": fact.valid_to}
        await time_passes(parts)
        assert (await parts.ask("How am I?")).facts == ()
        assert parts.memory.held["ann"] == []
        assert parts.engine.resident("ann") == {"ann|You remember: "}


async def test_an_expired_fact_is_neither_listed_nor_exported_as_known(database_url: str) -> None:
    async with opened(database_url) as parts:
        await headache(parts)
        await time_passes(parts)
        assert await parts.service.facts("ann") == []
        assert (await parts.agent.facts.snapshot("ann"))[1] == []
        assert await parts.agent.facts.latest_owners(9) == []


async def test_a_sweep_ends_what_has_expired_once_and_deletes_nothing(database_url: str) -> None:
    async with opened(database_url) as parts:
        await headache(parts)
        await parts.service.add_fact("ann", "I ski.")
        assert await sweep(parts.database) == 0
        await time_passes(parts)
        assert await sweep(parts.database) == 1
        assert await sweep(parts.database) == 0
        events = await parts.service.history("ann", "1")
        assert [(e.kind, e.text) for e in events] == [
            ("added", "I have a headache."),
            ("expired", "I have a headache."),
        ]
        assert events[1].valid_to is not None
        assert events[1].valid_to <= events[1].at


async def test_a_state_said_again_lasts_longer_and_after_its_end_anew(database_url: str) -> None:
    async with opened(database_url) as parts:
        await headache(parts)
        (first,) = await parts.service.facts("ann")
        await headache(parts)
        (second,) = await parts.service.facts("ann")
        assert first.id == second.id
        assert first.valid_to is not None
        assert second.valid_to is not None
        assert first.valid_to < second.valid_to
        await time_passes(parts)
        await headache(parts)
        (third,) = await parts.service.facts("ann")
        assert third.id != first.id


async def test_an_expired_fact_that_is_brought_back_lasts_for_another_while(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        await headache(parts)
        await time_passes(parts)
        await sweep(parts.database)
        (restored,) = await parts.service.undo("ann", "1")
        assert restored.valid_to is not None
        assert restored.valid_to > utc_now()


async def test_upkeep_ends_what_expired_and_drops_what_another_program_forgot(
    database_url: str,
) -> None:
    async with opened(database_url) as server, opened(database_url) as command:
        await server.service.add_fact("ann", "I have a cat.")
        await headache(server)
        await time_passes(server)
        await command.service.forget_fact("ann", "1")
        assert len(server.memory.held["ann"]) == 2
        await server.agent.maintenance.once()
        assert server.memory.held["ann"] == []
        assert await server.memory.astray("ann") == []
        assert [e.kind for e in await server.service.history("ann", "2")] == ["added", "expired"]


async def test_what_another_program_forgot_is_dropped_before_closing_writes_snapshots(
    database_url: str,
) -> None:
    async with opened(database_url) as server, opened(database_url) as command:
        await server.service.start()
        await server.service.add_fact("ann", "I have a cat.")
        await command.service.forget_fact("ann", "1")
        await server.agent.aclose()
        assert server.memory.held["ann"] == []
