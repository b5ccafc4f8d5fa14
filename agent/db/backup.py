"""Backup of an SQLite database while it is used, and its restoration. Everything here blocks.

A copy is made by `VACUUM INTO` (https://www.sqlite.org/lang_vacuum.html): one consistent state,
whoever writes meanwhile, and only what the database holds: no free page, no log. It gets its
name when it is whole, checked and on the disk.
"""

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from agent.db.connection_options import LOCK_TIMEOUT_MS
from agent.db.revision import head_revision, migrate
from agent.db.user_lock import NEW_VERSIONS
from memory_engine.errors import (
    DatabaseError,
    DatabaseLockedError,
    DatabaseRevisionError,
    UserError,
)

MODE = 0o600  # what people said


def back_up(database: Path, to: Path) -> str:
    """Copy the database at `database` to the new file `to`; return the copy's revision.

    Raises UserError where `to` exists or cannot be written, and DatabaseError for a database
    that is damaged.
    """
    if to.exists():
        raise UserError(f"{to} exists. Name a new file, or remove it first.")
    if not database.exists():
        raise DatabaseError(f"There is no database {database} yet.")
    with _unfinished(to) as copy:
        _copy(database, copy)
        revision = check(copy)
        _put(copy, to)
    return revision


def restore(backup: Path, database: Path, *, replace: bool = False) -> str:
    """Replace the database at `database` by the file `backup`; return its revision.

    A backup of an older version is migrated. With `replace` a database that holds users may go.
    Nobody else may have the database open. Raises UserError and DatabaseError kinds; the
    database is then as it was.
    """
    found = check(backup)
    if found > head_revision():
        raise DatabaseRevisionError(
            f"{backup} is at revision {found}: a newer InferScale wrote it. Install that version."
        )
    database.parent.mkdir(parents=True, exist_ok=True)
    with _unfinished(database) as copy:
        _copy(backup, copy)
        migrate(f"sqlite:///{copy}")
        _renew_versions(copy)
        if database.exists():
            _check_unused(database, replace=replace)
            # A log would be taken for the new file's.
            for end in ("-wal", "-shm"):
                database.with_name(database.name + end).unlink(missing_ok=True)
        _put(copy, database)
    return head_revision()


def check(file: Path) -> str:
    """The revision of a database file that is whole. Raises DatabaseError for any other."""
    if not file.is_file():
        raise UserError(f"There is no file {file}.")
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as opened:
            (found,) = opened.execute("PRAGMA integrity_check(1)").fetchone()
            broken = opened.execute("PRAGMA foreign_key_check").fetchone()
            (revision,) = opened.execute("SELECT version_num FROM alembic_version").fetchone()
    except (sqlite3.Error, TypeError) as error:
        raise DatabaseError(f"{file} is not an InferScale database: {error}.") from error
    if found != "ok" or broken:
        raise DatabaseError(f"{file} is damaged: {found if found != 'ok' else broken}.")
    return str(revision)


@contextmanager
def _unfinished(file: Path) -> Iterator[Path]:
    """A name beside `file` for what is to become it, of which nothing stays."""
    path = file.with_name(f"{file.name}.unfinished-{os.getpid()}")
    try:
        path.touch(MODE, exist_ok=False)
        yield path
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror or error}.") from error
    finally:
        for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
            path.with_name(name).unlink(missing_ok=True)


def _copy(database: Path, to: Path) -> None:
    address = f"{database.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=LOCK_TIMEOUT_MS / 1e3)) as source:
            source.execute("VACUUM INTO ?", (str(to),))
    except sqlite3.Error as error:
        raise DatabaseError(f"{database} cannot be copied to {to.parent}: {error}.") from error


def _renew_versions(file: Path) -> None:
    # A process that held facts of before, or a KV snapshot's writer, must not take a version
    # that comes again for the one it knows.
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.create_function("new_version", 0, lambda: secrets.randbelow(NEW_VERSIONS))
        connection.execute("UPDATE users SET facts_version = new_version()")


def _check_unused(database: Path, *, replace: bool) -> None:
    try:
        with closing(sqlite3.connect(database, timeout=0.5)) as connection:
            # Granted to nobody while another has the file open. At the end the log is emptied.
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            users = _users(connection)
            connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        raise DatabaseLockedError(
            f"Another program has {database} open ({error}). Stop InferScale, then restore."
        ) from error
    except sqlite3.DatabaseError:
        users = 0  # no database any more: that is what backups are for
    if users and not replace:
        raise UserError(
            f"{database} holds what {users} users said. Back it up first, then restore with "
            "--replace."
        )


def _users(connection: sqlite3.Connection) -> int:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    return (
        connection.execute("SELECT count(*) FROM users").fetchone()[0] if "users" in tables else 0
    )


def _put(copy: Path, to: Path) -> None:
    with copy.open("rb+") as written:
        os.fsync(written.fileno())
    copy.replace(to)
    folder = os.open(to.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
