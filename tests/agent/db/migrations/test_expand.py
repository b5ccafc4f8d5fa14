"""Migrations while people are served: the code of one revision works on the next one's schema."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect

from agent.db.revision import alembic_config, check_revision, head_revision, migrate
from tests.agent.agent_builder import opened
from tests.agent.db.migrations.test_migrations import extra_revision

LAST_OF_BEFORE = "0005"  # the rule is younger than the first revisions
EXPANDED = (
    "op.add_column('facts', sa.Column('mood', sa.String(), nullable=True))\n"
    "    place = sa.Column('place', sa.String(), server_default='', nullable=False)\n"
    "    op.add_column('turns', place)\n"
    "    op.create_table('moods', sa.Column('name', sa.String(), primary_key=True))"
)


def columns(file: Path) -> dict[tuple[str, str], Any]:
    engine = create_engine(f"sqlite:///{file}")
    with engine.connect() as connection:
        tables = inspect(connection)
        found = {
            (table, column["name"]): column
            for table in tables.get_table_names()
            for column in tables.get_columns(table)
        }
    engine.dispose()
    return found


def broken_promises(file: Path, revision: str) -> list[str]:
    """Columns of an SQLite file that the code before `revision` would miss or stumble over."""
    script = ScriptDirectory.from_config(alembic_config(""))
    migrate(f"sqlite:///{file}", str(script.get_revision(revision).down_revision))
    before = columns(file)
    migrate(f"sqlite:///{file}", revision)
    after = columns(file)
    tables = {table for table, _ in before}
    gone = [f"{table}.{column} is gone" for table, column in before.keys() - after.keys()]
    strict = [
        f"{table}.{column} has to be given"
        for (table, column), now in after.items()
        if table in tables and not now["nullable"] and now["default"] is None
        if (table, column) not in before or before[table, column]["nullable"]
    ]
    return sorted(gone + strict)


def test_every_revision_keeps_what_the_one_before_needs(tmp_path: Path) -> None:
    script = ScriptDirectory.from_config(alembic_config(""))
    revisions = [each.revision for each in script.walk_revisions()]
    for revision in sorted(each for each in revisions if each > LAST_OF_BEFORE):
        assert broken_promises(tmp_path / f"{revision}.db", revision) == []


def test_a_revision_that_does_not_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = (
        "op.drop_column('facts', 'time_expression')\n"
        "    with op.batch_alter_table('users') as batch:\n"
        "        batch.add_column(sa.Column('mail', sa.String(), nullable=False))"
    )
    monkeypatch.setattr("agent.db.revision.MIGRATIONS", extra_revision(tmp_path / "m", body))
    said = ["facts.time_expression is gone", "users.mail has to be given"]
    assert broken_promises(tmp_path / "a.db", "9999") == said


async def test_a_process_goes_on_and_another_starts_while_the_schema_is_a_revision_ahead(
    blank_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(blank_url) as parts:
        await parts.say("I have a cat.")
        ahead = f"{int(head_revision()) + 1:04}"
        with monkeypatch.context() as newer:
            newer.setattr(
                "agent.db.revision.MIGRATIONS", extra_revision(tmp_path / "m", EXPANDED, ahead)
            )
            assert await asyncio.to_thread(migrate, blank_url) == ahead
        await check_revision(parts.database)
        assert await asyncio.to_thread(migrate, blank_url) == ahead
        await parts.say("I have a dog.")
        assert await parts.known() == ["I have a cat.", "I have a dog."]
        async with opened(blank_url) as started:
            assert len((await started.ask("Pets?")).facts) == 2
