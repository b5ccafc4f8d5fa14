"""The database when it is locked, read-only, missing, or written by many at once."""

import asyncio
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text

from agent.conversations.conversation_store import ConversationStore
from agent.db.database import Database, parse_url
from agent.db.revision import check_revision, head_revision, migrate
from agent.entities import UserTurn
from memory_engine.errors import (
    DatabaseError,
    DatabaseLockedError,
    DatabaseReadOnlyError,
    DatabaseRevisionError,
)
from tests.agent.agent_builder import opened, prepare, url_of


async def test_pragmas_are_set(tmp_path: Path) -> None:
    prepare(url_of(tmp_path))
    database = Database(url_of(tmp_path))
    async with database.read() as session:
        found = [
            await session.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "busy_timeout", "synchronous", "foreign_keys")
        ]
    await database.aclose()
    assert found == ["wal", 5000, 1, 1]


async def test_many_writers_in_many_connections_lose_nothing(tmp_path: Path) -> None:
    """mem0#7196, cognee#2717, #3444, #3852: the database is locked."""
    prepare(url_of(tmp_path))
    databases = [Database(url_of(tmp_path)) for _ in range(4)]

    async def write(number: int) -> UserTurn:
        transcript = ConversationStore(databases[number % 4])
        return await transcript.add_message("ann", conversation, f"message {number}", remember=True)

    conversation = await ConversationStore(databases[0]).new_conversation("ann")
    turns = await asyncio.gather(*(write(number) for number in range(40)))
    messages = await ConversationStore(databases[0]).messages("ann", conversation)
    for database in databases:
        await database.aclose()
    assert len({turn.id for turn in turns}) == 40
    assert sorted(m.content for m in messages) == sorted(f"message {n}" for n in range(40))


async def test_parallel_services_add_a_fact_once(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as one, opened(url_of(tmp_path)) as two:
        await asyncio.gather(
            *(p.service.add_fact("ann", f"I own boat {n}.") for n in range(10) for p in (one, two))
        )
        assert len(await one.known()) == 10


async def test_a_database_locked_by_another_program_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.db.connection_options.PRAGMAS", ("busy_timeout=50",))
    async with opened(url_of(tmp_path)) as parts:
        await parts.say("I have a cat.")
        other = sqlite3.connect(tmp_path / "inferscale.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseLockedError, match="Close the other program"):
            await parts.ask("I have a dog.")
        assert await parts.known() == ["I have a cat."]
        other.execute("ROLLBACK")
        other.close()
        await parts.say("I have a dog.")
        assert await parts.known() == ["I have a cat.", "I have a dog."]


async def test_a_file_that_cannot_be_written_is_told_so(tmp_path: Path) -> None:
    prepare(url_of(tmp_path))
    file = tmp_path / "inferscale.db"
    database = Database(f"sqlite+aiosqlite:///file:{file}?mode=ro&uri=true")
    with pytest.raises(DatabaseReadOnlyError, match="write permission"):
        await ConversationStore(database).new_conversation("ann")
    await database.aclose()


async def test_a_database_without_tables_says_to_migrate(tmp_path: Path) -> None:
    database = Database(url_of(tmp_path))
    with pytest.raises(DatabaseRevisionError, match="inferscale migrate"):
        await ConversationStore(database).conversations("ann")
    with pytest.raises(DatabaseRevisionError, match="inferscale migrate"):
        await check_revision(database)
    await database.aclose()


def set_revision(folder: Path, revision: str) -> None:
    with sqlite3.connect(folder / "inferscale.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    connection.close()


@pytest.mark.parametrize(
    ("ahead", "said"), [(-1, "at revision .*inferscale migrate"), (2, "newer InferScale")]
)
async def test_another_revision_says_what_to_do(tmp_path: Path, ahead: int, said: str) -> None:
    prepare(url_of(tmp_path))
    set_revision(tmp_path, f"{int(head_revision()) + ahead:04}")
    database = Database(url_of(tmp_path))
    with pytest.raises(DatabaseRevisionError, match=said):
        await check_revision(database)
    await database.aclose()


def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    prepare(url_of(tmp_path))
    set_revision(tmp_path, "9999")
    with pytest.raises(DatabaseRevisionError, match="newer"):
        migrate(url_of(tmp_path))


async def test_a_file_that_is_no_database_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "inferscale.db").write_bytes(b"not a database at all" * 100)
    database = Database(url_of(tmp_path))
    with pytest.raises(DatabaseError, match="cannot be opened"):
        await check_revision(database)
    await database.aclose()
    with pytest.raises(DatabaseError, match="cannot be opened"):
        migrate(url_of(tmp_path))


def test_only_sqlite_and_postgresql_are_known() -> None:
    assert parse_url("sqlite:///x.db").drivername == "sqlite+aiosqlite"
    assert parse_url("postgresql://h/d").drivername == "postgresql+psycopg"
    for url in ("mysql://h/d", "nonsense", ""):
        with pytest.raises(DatabaseError):
            parse_url(url)


async def test_an_error_of_ours_is_not_told_as_the_users(tmp_path: Path) -> None:
    prepare(url_of(tmp_path))
    database = Database(url_of(tmp_path))
    with pytest.raises(Exception, match="CHECK constraint"):
        async with database.write() as session:
            await session.execute(
                text("INSERT INTO fact_events (fact_id, kind, at) VALUES (1, 'lost', '2026-01-01')")
            )
    await database.aclose()
