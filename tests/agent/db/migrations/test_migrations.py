"""Up, down, nothing lost on the way, and the tables are what the code thinks they are."""

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy.exc import IntegrityError

from agent.db.revision import alembic_config, head_revision, migrate
from agent.db.sqlite_pages import free_pages
from memory_engine.errors import DatabaseError

NOW, LATER = "2026-01-02 03:04:05", "2026-02-03 04:05:06"


@contextmanager
def connected(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(file)) as connection, connection:
        yield connection


def url_of(file: Path) -> str:
    return f"sqlite+aiosqlite:///{file}"


def fill(file: Path) -> None:
    """One user, one conversation, two turns."""
    with connected(file) as c:
        c.execute("INSERT INTO users VALUES ('ann', 0, ?)", (NOW,))
        c.execute(
            "INSERT INTO conversations (id, owner, title, created_at) VALUES (1, 'ann', 'Hi', ?)",
            (NOW,),
        )
        for position, role in enumerate(("user", "assistant")):
            c.execute(
                "INSERT INTO turns (conversation_id, position, role, status, text,"
                " remember_attempts, created_at) VALUES (1, ?, ?, 'complete', 'Hi', 0, ?)",
                (position, role, NOW),
            )


def fill_facts(file: Path) -> None:
    """As revision 0002 has them: one fact by hand, superseded by one of the first turn."""
    insert = (
        "INSERT INTO facts (id, owner, text, same_as, attribute, kind, source_turn_id,"
        " superseded_by, created_at, ended_at)"
        " VALUES (?, 'ann', ?, ?, 'home', 'stable', ?, ?, ?, ?)"
    )
    with connected(file) as c:
        c.execute(insert, (2, "I live in Rome.", "r", 1, None, NOW, None))
        c.execute(insert, (1, "I live in Bern.", "b", None, 2, NOW, LATER))
        c.execute("INSERT INTO fact_events VALUES (1, 1, 'superseded', ?)", (LATER,))


def counts(file: Path) -> dict[str, int]:
    with connected(file) as c:
        tables = [
            name
            for (name,) in c.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not name.startswith("sqlite_") and name != "alembic_version"
        ]
        return {t: c.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in sorted(tables)}


def test_an_empty_database_gets_all_tables_and_the_file_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "new folder" / "100%.db"
    assert migrate(url_of(file)) == head_revision()
    assert list(counts(file)) == [
        "accounts",
        "api_keys",
        "conversations",
        "fact_events",
        "fact_sources",
        "fact_vectors",
        "facts",
        "sessions",
        "turns",
        "users",
    ]


def test_migrating_twice_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    migrate(url_of(file))
    fill(file)
    migrate(url_of(file))
    assert counts(file)["turns"] == 2


def test_rows_of_the_first_revision_survive_the_way_up_and_down(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    migrate(url_of(file), "0001")
    fill(file)
    migrate(url_of(file))
    command.downgrade(alembic_config(url_of(file)), "0001")
    migrate(url_of(file))
    assert counts(file) == {
        "accounts": 0,
        "api_keys": 0,
        "conversations": 1,
        "fact_events": 0,
        "fact_sources": 0,
        "fact_vectors": 0,
        "facts": 0,
        "sessions": 0,
        "turns": 2,
        "users": 1,
    }


def test_facts_of_the_second_revision_get_validity_and_sources_and_keep_their_rules(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.db"
    migrate(url_of(file), "0002")
    fill(file)
    fill_facts(file)
    migrate(url_of(file))
    with connected(file) as c:
        validity = "SELECT id, valid_from, valid_to, subject, scope FROM facts ORDER BY id"
        assert c.execute(validity).fetchall() == [(1, NOW, LATER, "", ""), (2, NOW, None, "", "")]
        sources = c.execute("SELECT fact_id, turn_id FROM fact_sources ORDER BY fact_id").fetchall()
        assert sources == [(1, None), (2, 1)]
        assert c.execute("SELECT by_fact_id FROM fact_events").fetchall() == [(2,)]
        for wrong in (
            "UPDATE facts SET kind = 'mood'",
            "UPDATE facts SET text = NULL",
            "UPDATE facts SET ended_at = NULL",
            "UPDATE fact_events SET kind = 'lost'",
        ):
            with pytest.raises(sqlite3.IntegrityError):
                c.execute(wrong)
        c.execute("UPDATE facts SET kind = 'transient', scope = 'x' WHERE id = 2")
        c.execute("UPDATE fact_events SET kind = 'retracted'")
    command.downgrade(alembic_config(url_of(file)), "0002")
    with connected(file) as c:
        rows = c.execute("SELECT kind, ended_at IS NULL FROM facts ORDER BY id").fetchall()
        assert rows == [("stable", 0), ("stable", 0)]
        assert c.execute("SELECT kind FROM fact_events").fetchall() == [("superseded",)]
        with pytest.raises(sqlite3.IntegrityError):
            c.execute("UPDATE facts SET text = NULL")


def test_rebuilding_a_table_leaves_no_copy_of_its_rows_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    migrate(url_of(file), "0002")
    fill(file)
    with connected(file) as c:
        c.executemany(
            "INSERT INTO facts (owner, text, same_as, kind, created_at)"
            " VALUES ('ann', ?, ?, 'stable', ?)",
            [(f"I own zanzibar {n}. " * 20, str(n), NOW) for n in range(400)],
        )
    migrate(url_of(file))
    free = free_pages(file)
    assert free.count > 10
    assert free.full == 0


def test_everything_can_be_taken_down(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    migrate(url_of(file))
    command.downgrade(alembic_config(url_of(file)), "base")
    assert counts(file) == {}


def test_the_tables_are_those_of_the_code(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    migrate(url_of(file))
    command.check(alembic_config(url_of(file)))


def test_ids_are_never_used_twice(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    migrate(url_of(file))
    with connected(file) as c:
        tables = c.execute("SELECT name, sql FROM sqlite_master WHERE sql LIKE '%id INTEGER%'")
        numbered = {name: sql for name, sql in tables if re.search(r"\bid INTEGER", sql)}
        assert {"facts", "turns"} < numbered.keys()
        assert [name for name, sql in numbered.items() if "AUTOINCREMENT" not in sql] == []


def test_there_is_one_head() -> None:
    script = ScriptDirectory.from_config(alembic_config(""))
    assert len(script.get_heads()) == 1


def extra_revision(folder: Path, body: str, number: str = "9999") -> Path:
    """A copy of the migrations in `folder`, with one revision more."""
    versions = folder / "versions"
    versions.mkdir(parents=True)
    source = Path(__file__).parents[4] / "agent/db/migrations"
    for name in ("env.py", "script.py.mako"):
        (folder / name).write_text((source / name).read_text())
    for file in (source / "versions").glob("*.py"):
        (versions / file.name).write_text(file.read_text())
    (versions / f"{number}_extra.py").write_text(
        "import sqlalchemy as sa\nfrom alembic import op\n"
        f"revision = '{number}'\ndown_revision = {head_revision()!r}\n"
        "branch_labels = None\ndepends_on = None\n"
        f"def upgrade():\n    {body}\n"
    )
    return folder


def test_rebuilding_a_table_keeps_the_rows_that_point_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.db"
    migrate(url_of(file))
    fill(file)
    rebuild = (
        "with op.batch_alter_table('users', recreate='always') as batch:\n"
        "        batch.add_column(sa.Column('extra', sa.String()))"
    )
    monkeypatch.setattr("agent.db.revision.MIGRATIONS", extra_revision(tmp_path / "m", rebuild))
    migrate(url_of(file))
    assert counts(file)["turns"] == 2
    with connected(file) as c:
        assert c.execute("PRAGMA foreign_key_check").fetchall() == []
        assert c.execute("SELECT name, extra FROM users").fetchall() == [("ann", None)]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("op.execute('DELETE FROM users')", DatabaseError),
        (
            "op.add_column('users', sa.Column('extra', sa.String()))\n"
            "    op.execute('INSERT INTO turns (id) VALUES (1)')",
            IntegrityError,
        ),
    ],
)
def test_a_migration_that_fails_is_undone_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, error: type[Exception]
) -> None:
    file = tmp_path / "a.db"
    migrate(url_of(file))
    fill(file)
    before = head_revision()
    monkeypatch.setattr("agent.db.revision.MIGRATIONS", extra_revision(tmp_path / "m", body))
    with pytest.raises(error):
        migrate(url_of(file))
    with connected(file) as c:
        assert c.execute("SELECT version_num FROM alembic_version").fetchall() == [(before,)]
        assert c.execute("SELECT * FROM users").fetchall() == [("ann", 0, NOW)]


def test_programs_that_migrate_at_once_wait_for_each_other(blank_url: str, tmp_path: Path) -> None:
    program = f"from agent.db.revision import migrate; migrate({blank_url!r})"
    programs = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(3)]
    assert [p.wait() for p in programs] == [0, 0, 0]
    assert migrate(blank_url) == head_revision()
    if blank_url.startswith("sqlite"):
        with connected(tmp_path / "inferscale.db") as c:
            assert c.execute("PRAGMA journal_mode").fetchone() == ("wal",)
