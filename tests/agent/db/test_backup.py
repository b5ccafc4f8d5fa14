"""An SQLite database copied while it is written, and put back: whole, or not at all."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.db.backup import back_up, check, restore
from agent.db.revision import head_revision, migrate
from memory_engine.errors import (
    DatabaseError,
    DatabaseLockedError,
    DatabaseRevisionError,
    UserError,
)
from memory_engine.types import Mode
from tests.agent.agent_builder import opened, prepare, url_of


def database_in(folder: Path) -> Path:
    return folder / "inferscale.db"


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def url_in(folder: Path) -> str:
    """The URL of a database in `folder`, which is made."""
    folder.mkdir(exist_ok=True)
    return url_of(folder)


async def told(folder: Path, *texts: str) -> None:
    """Let ann state facts in the database of `folder`."""
    async with opened(url_in(folder)) as parts:
        await parts.service.add_facts("ann", list(texts))


async def known_in(folder: Path) -> list[str]:
    async with opened(url_of(folder)) as parts:
        return await parts.known()


async def test_a_backup_made_while_people_chat_has_all_that_was_acknowledged_before(
    tmp_path: Path,
) -> None:
    async with opened(url_of(tmp_path)) as parts:
        done = asyncio.Event()

        async def chat() -> None:
            number = 0
            while not done.is_set():
                await parts.ask(f"I own boat {number}.", user="bob")
                number += 1

        await parts.say("I live in Bern.")
        chatting = asyncio.create_task(chat())
        for number in range(3):
            fact = await parts.service.add_fact("ann", f"I know word {number}.")
            copy = tmp_path / f"copy{number}"
            revision = await asyncio.to_thread(back_up, database_in(tmp_path), copy)
            assert revision == head_revision()
            with closing(sqlite3.connect(copy)) as connection:
                texts = [text for (text,) in connection.execute("SELECT text FROM facts")]
            assert {"I live in Bern.", fact.text} <= set(texts)
        done.set()
        await chatting
    names = {file.name: file for file in files_in(tmp_path)}
    assert [name for name in names if "unfinished" in name] == []
    assert names["copy0"].stat().st_mode & 0o777 == 0o600


async def test_a_restored_database_is_what_it_was_and_serves(tmp_path: Path) -> None:
    await told(tmp_path / "one", "I live in Bern.", "I ski.")
    back_up(database_in(tmp_path / "one"), tmp_path / "copy")
    (tmp_path / "two").mkdir()
    assert restore(tmp_path / "copy", database_in(tmp_path / "two")) == head_revision()
    assert await known_in(tmp_path / "two") == ["I live in Bern.", "I ski."]
    with closing(sqlite3.connect(database_in(tmp_path / "two"))) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_what_was_forgotten_is_in_no_later_backup(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        fact = await parts.service.add_fact("ann", "I live in Zanzibar.")
        back_up(database_in(tmp_path), tmp_path / "before")
        await parts.service.forget_fact("ann", fact.id)
        back_up(database_in(tmp_path), tmp_path / "after")
    assert b"Zanzibar" in (tmp_path / "before").read_bytes()
    assert b"Zanzibar" not in (tmp_path / "after").read_bytes()


async def test_a_database_in_use_or_with_users_is_not_replaced_unasked(tmp_path: Path) -> None:
    await told(tmp_path / "one", "I live in Bern.")
    back_up(database_in(tmp_path / "one"), tmp_path / "copy")
    two = database_in(tmp_path / "two")
    await told(tmp_path / "two", "I live in Rome.")
    with pytest.raises(UserError, match="--replace"):
        restore(tmp_path / "copy", two)
    async with opened(url_of(tmp_path / "two")) as parts:
        assert await parts.known() == ["I live in Rome."]
        with pytest.raises(DatabaseLockedError, match="Stop InferScale"):
            restore(tmp_path / "copy", two, replace=True)
    assert await known_in(tmp_path / "two") == ["I live in Rome."]
    restore(tmp_path / "copy", two, replace=True)
    assert await known_in(tmp_path / "two") == ["I live in Bern."]
    assert files_in(tmp_path / "two") == [two]


async def test_a_process_does_not_take_a_restored_version_for_the_one_it_knew(
    tmp_path: Path,
) -> None:
    async with opened(url_of(tmp_path)) as parts:
        await parts.service.add_fact("ann", "I live in Bern.")
        back_up(database_in(tmp_path), tmp_path / "copy")
        before = await parts.agent.facts.version("ann")
    restore(tmp_path / "copy", database_in(tmp_path), replace=True)
    async with opened(url_of(tmp_path)) as parts:
        assert await parts.agent.facts.version("ann") != before


async def test_a_backup_of_an_older_version_is_migrated(tmp_path: Path) -> None:
    migrate(url_of(tmp_path), "0003")
    with closing(sqlite3.connect(database_in(tmp_path))) as connection, connection:
        connection.execute("INSERT INTO users VALUES ('ann', 0, '2026-01-01')")
    back_up(database_in(tmp_path), tmp_path / "copy")
    restore(tmp_path / "copy", database_in(tmp_path), replace=True)
    assert check(database_in(tmp_path)) == head_revision()


def test_what_is_damaged_or_newer_or_no_backup_is_refused(tmp_path: Path) -> None:
    prepare(url_of(tmp_path))
    whole, bad = tmp_path / "copy", tmp_path / "bad"
    back_up(database_in(tmp_path), whole)
    data = bytearray(whole.read_bytes())
    for start in range(4096, len(data), 8192):
        data[start : start + 2000] = b"\xff" * len(data[start : start + 2000])
    bad.write_bytes(data)
    (tmp_path / "text").write_text("not a database" * 500)
    (tmp_path / "empty").touch()
    for name, said in (
        ("bad", "damaged|malformed"),
        ("text", "not an Infer"),
        ("empty", "not an Infer"),
    ):
        with pytest.raises(DatabaseError, match=said):
            restore(tmp_path / name, tmp_path / "new.db")
    with pytest.raises(UserError, match="no file"):
        restore(tmp_path / "nothing", tmp_path / "new.db")
    with closing(sqlite3.connect(whole)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(DatabaseRevisionError, match="newer InferScale"):
        restore(whole, tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


def test_no_file_is_written_over(tmp_path: Path) -> None:
    prepare(url_of(tmp_path))
    (tmp_path / "copy").write_text("mine")
    with pytest.raises(UserError, match="exists"):
        back_up(database_in(tmp_path), tmp_path / "copy")
    with pytest.raises(UserError, match="cannot be written"):
        back_up(database_in(tmp_path), tmp_path / "no" / "folder")
    assert (tmp_path / "copy").read_text() == "mine"


async def test_kv_that_was_kept_of_other_facts_is_not_served_after_a_restore(
    tmp_path: Path,
) -> None:
    await told(tmp_path, "I live in Bern.")
    back_up(database_in(tmp_path), tmp_path / "copy")
    async with opened(url_of(tmp_path)) as parts:
        await parts.service.add_fact("ann", "I own a zanzibarian boat.")
        await parts.engine.snapshot("ann")
        kept = dict(parts.engine.snapshots)
    restore(tmp_path / "copy", database_in(tmp_path), replace=True)
    async with opened(url_of(tmp_path)) as parts:
        parts.engine.snapshots.update(kept)
        await parts.engine.restore("ann")
        assert any("zanzibarian" in segment for segment in parts.engine.resident("ann"))
        reply = await parts.ask("What do I own?", mode=Mode.KV)
        assert [fact.text for fact in reply.facts] == ["I live in Bern."]
        assert not any("zanzibarian" in segment for segment in parts.engine.resident("ann"))
