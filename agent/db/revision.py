"""Revision of the database's schema: reading it, checking it, migrating to this code's."""

import logging
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import URL, Connection, NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from agent.db.database import Database, make_folder, parse_url
from agent.db.database_errors import explain
from memory_engine.errors import DatabaseRevisionError

MIGRATIONS = Path(__file__).resolve().parent / "migrations"

NEWER = (
    "The database {name} is at a revision this version does not know: it was written by a "
    "newer InferScale. Install that version, or choose another INFERSCALE_DATABASE_URL."
)

log = logging.getLogger(__name__)


def alembic_config(database_url: str) -> Config:
    """Alembic's configuration for this database; the URL may hold any character."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["database_url"] = database_url
    return config


def head_revision() -> str:
    """The revision this code needs."""
    head = ScriptDirectory.from_config(alembic_config("")).get_current_head()
    assert head is not None, "migrations/versions is empty"
    return head


def migrate(database_url: str, revision: str = "head") -> str:
    """Bring the schema to `revision` (an SQLite file is created if need be); return it.

    Blocks. Raises DatabaseError and its kinds. Either all of it happens, or nothing. A schema
    that is one revision ahead stays as it is.
    """
    url = parse_url(database_url)
    if url.get_backend_name() == "sqlite":
        make_folder(url)
    name = url.render_as_string(hide_password=True)
    try:
        command.upgrade(alembic_config(database_url), revision)
    except DBAPIError as error:
        raise explain(error, name) or error from error
    except CommandError as error:
        found = _found(url)
        if found != _next(head_revision()):
            raise DatabaseRevisionError(NEWER.format(name=name)) from error
        log.info("database %s is at the next revision, which serves this version", name)
        return found
    reached = head_revision() if revision == "head" else revision
    log.info("database %s is at revision %s", name, reached)
    return reached


async def current_revision(database: Database) -> str | None:
    """The revision the schema is at, or None where nothing was migrated yet."""
    async with database.read() as session:
        connection = await session.connection()
        return await connection.run_sync(_current)


async def check_revision(database: Database) -> None:
    """Raise DatabaseRevisionError unless this code can work with the schema.

    It can with its own revision and with the next one: every migration keeps what the code
    before it needs (CONTRIBUTING.md), so that a fleet is migrated while it serves.
    """
    found, needed = await current_revision(database), head_revision()
    if found in (needed, _next(needed)):
        return
    if found is not None and found > needed:
        raise DatabaseRevisionError(NEWER.format(name=database.name))
    raise DatabaseRevisionError(
        f"The database {database.name} is at revision {found or 'none'}, and this version "
        f"needs {needed}. Run `inferscale migrate`."
    )


def _found(url: URL) -> str | None:
    """`current_revision`, for who has no event loop."""
    driver = "sqlite" if url.get_backend_name() == "sqlite" else url.drivername
    engine = create_engine(url.set(drivername=driver), poolclass=NullPool)
    with engine.connect() as connection:
        return _current(connection)


def _next(revision: str) -> str:
    return f"{int(revision) + 1:04}"


def _current(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()
