"""The audit finds what is left, wherever it is left."""

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text, update

from agent.db.sqlite_pages import free_pages
from agent.db.tables import FactRow
from agent.facts.erasure_audit import audit_file, audit_rows
from agent.remember.remember_graph import remember_graph
from agent.reply.reply_graph import reply_graph
from memory_engine.engines.base import EncodeJob
from memory_engine.types import MemoryFact, Span
from tests.agent.agent_builder import Parts, opened, url_of


async def audited(parts: Parts) -> dict[str, bool]:
    found = await audit_rows(parts.database, "ann") + await parts.service.audit("ann")
    return {finding.place: finding.ok for finding in found}


async def forgetful(parts: Parts) -> None:
    await parts.say("I have a cat.")
    await parts.say("My car is red.")
    await parts.service.forget_fact("ann", "1")


async def test_after_forgetting_nothing_is_left_and_that_is_said(database_url: str) -> None:
    async with opened(database_url) as parts:
        await forgetful(parts)
        found = await audit_rows(parts.database, "ann") + await parts.service.audit("ann")
        assert [f.place for f in found if not f.ok] == []
        assert "1 facts that hold, 0 in the history, 4 turns" in found[0].found
        assert "0 of 1 forgotten" in found[1].found
        await parts.service.forget_everything("ann")
        assert all((await audited(parts)).values())


async def test_a_forgotten_row_that_tells_something_is_found(database_url: str) -> None:
    async with opened(database_url) as parts:
        await forgetful(parts)
        row = update(FactRow).where(FactRow.id == 1)
        async with parts.database.write() as session:
            await session.execute(row.values(time_expression="in May 2020"))
        assert not (await audited(parts))["SQL, forgotten"]


async def test_a_vector_and_a_segment_of_no_fact_are_found(database_url: str) -> None:
    async with opened(database_url) as parts:
        await forgetful(parts)
        job = EncodeJob("ann", [1, 2], (Span("ann|I have a cat.", 0, 2),))
        await parts.engine.encode(job)
        assert not (await audited(parts))["KV"]
        await parts.engine.drop("ann", ["ann|I have a cat."])
        parts.memory.held["ann"].append(MemoryFact("1", "I have a cat."))
        assert not (await audited(parts))["index"]


def database_with_free_pages(file: Path, *, secure: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA secure_delete={'ON' if secure else 'OFF'}")
    connection.execute("CREATE TABLE t (x TEXT)")
    connection.executemany("INSERT INTO t VALUES (?)", [("secret " * 500,)] * 400)
    connection.execute("DELETE FROM t")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return connection


@pytest.mark.parametrize("secure", [True, False])
def test_free_pages_are_empty_only_where_deleting_overwrites(tmp_path: Path, secure: bool) -> None:
    connection = database_with_free_pages(tmp_path / "a.db", secure=secure)
    expected = connection.execute("PRAGMA freelist_count").fetchone()[0]
    connection.close()
    free = free_pages(tmp_path / "a.db")
    assert free.count == expected > 100
    assert (free.full == 0) is secure
    pages = audit_file(tmp_path / "a.db")[1]
    assert pages.ok is secure


async def test_what_is_still_in_the_log_is_found(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        await forgetful(parts)
        file = tmp_path / "inferscale.db"
        assert [f.ok for f in audit_file(file)] == [True, True]
        async with parts.database.write() as session:
            await session.execute(text("UPDATE turns SET text = 'x'"))
        assert [f.ok for f in audit_file(file)] == [False, True]


def test_no_graph_keeps_checkpoints_of_what_was_said() -> None:
    assert not remember_graph().checkpointer
    assert not reply_graph().checkpointer
