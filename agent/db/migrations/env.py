"""Alembic environment: connects and migrates in one transaction.

The URL comes from `agent.db.revision`, or from -x url=...
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from alembic import context
from sqlalchemy import URL, Connection, create_engine, event, pool

from agent.db.connection_options import LOCK_TIMEOUT_MS
from agent.db.database import parse_url
from agent.db.tables import Base
from agent.db.utc import UTCDateTime
from memory_engine.errors import DatabaseError

MIGRATING = 0x1FE5CA1E  # any number that nobody else locks


def run() -> None:
    """Migrate in one transaction."""
    url = _url()
    with _connection(url) as connection:
        context.configure(
            connection=connection,
            target_metadata=Base.metadata,
            render_as_batch=True,
            render_item=_render,
            transactional_ddl=True,
            autogenerate_plugins=[
                "alembic.autogenerate.*",
                "alembic.ext.checkconstraint_byname",
            ],
        )
        with context.begin_transaction():
            _wait_for_others(connection)
            context.run_migrations()
            _check_foreign_keys(connection)


def _render(kind: str, item: object, _context: object) -> str | Literal[False]:
    # A revision may not depend on code that changes later.
    return "sa.DateTime(timezone=True)" if isinstance(item, UTCDateTime) else False


def _url() -> URL:
    given = context.config.attributes.get("database_url")
    given = given or context.get_x_argument(as_dictionary=True).get("url")
    if not given:
        raise DatabaseError("Name the database: alembic -x url=sqlite:///file ...")
    url = parse_url(given)
    return url.set(drivername="sqlite") if url.get_backend_name() == "sqlite" else url


@contextmanager
def _connection(url: URL) -> Iterator[Connection]:
    engine = create_engine(url, poolclass=pool.NullPool)
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", lambda c: c.exec_driver_sql("BEGIN IMMEDIATE"))
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # Batch mode drops and re-creates a table; with foreign keys on, that would delete or
    # refuse the rows that point to it. They are checked at the end instead.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=OFF")
    # Not every SQLite is built to overwrite the table that a rebuilt one replaces.
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute(f"PRAGMA busy_timeout={LOCK_TIMEOUT_MS}")
    _write_ahead(connection)


def _write_ahead(connection: Any) -> None:
    # The file remembers its journal mode. SQLite does not wait for other programs when the
    # mode changes, whatever the timeout, so this does.
    deadline = time.monotonic() + LOCK_TIMEOUT_MS / 1e3
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _wait_for_others(connection: Connection) -> None:
    # SQLite's BEGIN IMMEDIATE does this. On PostgreSQL a lock of their own lets programs that
    # migrate at once do so one after the other, before they look which revision there is.
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATING})")
        # Everybody waits behind a statement that waits for a table.
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {LOCK_TIMEOUT_MS}")


def _check_foreign_keys(connection: Connection) -> None:
    if connection.dialect.name != "sqlite":
        return
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    if broken:
        raise DatabaseError(
            f"The migration was undone: {len(broken)} rows would point to rows that are gone, "
            f"the first in table {broken[0][0]!r}."
        )


run()
