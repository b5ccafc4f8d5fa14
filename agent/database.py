"""The database: one connection pool, short units of work, errors that say what to do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine

from agent.database_errors import explain
from memory_engine.errors import DatabaseError

LOCK_TIMEOUT_MS = 5000
# NORMAL, not FULL: in WAL mode a commit is in the operating system's hands before it
# returns, so it survives kill -9 of this process. FULL would also survive a power cut,
# at the price of an fsync before every first token.
PRAGMAS = (
    f"busy_timeout={LOCK_TIMEOUT_MS}",
    "synchronous=NORMAL",
    "foreign_keys=ON",
    "secure_delete=ON",
)
BEGIN = "inferscale_begin"


def parse_url(database_url: str) -> URL:
    """The URL with the driver InferScale uses; raises DatabaseError for other databases."""
    try:
        url = make_url(database_url)
    except ArgumentError as error:
        raise DatabaseError(f"Not a database URL: {database_url!r}") from error
    drivers = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+psycopg"}
    backend = url.get_backend_name()
    if backend not in drivers:
        raise DatabaseError(
            f"Unknown database {backend!r}: use sqlite+aiosqlite:///file or "
            "postgresql+psycopg://user@host/name in INFERSCALE_DATABASE_URL."
        )
    return url.set(drivername=drivers[backend])


def make_folder(url: URL) -> None:
    """Create the folder of an SQLite file; URIs and databases in memory have none."""
    if url.database and not url.database.startswith((":memory:", "file:")):
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)


class Database:
    """Units of work on the database at `url`. Creates an SQLite file's folder, no tables."""

    def __init__(self, database_url: str) -> None:
        self.url = parse_url(database_url)
        self.name = self.url.render_as_string(hide_password=True)
        options: dict[str, Any] = {}
        if self.is_sqlite:
            make_folder(self.url)
        else:
            options["connect_args"] = {"options": f"-c lock_timeout={LOCK_TIMEOUT_MS}"}
            options["pool_pre_ping"] = True
        self._engine = create_async_engine(self.url, **options)
        if self.is_sqlite:
            event.listen(self._engine.sync_engine, "connect", _set_pragmas)
            event.listen(self._engine.sync_engine, "begin", _begin)
        writer = self._engine.execution_options(**{BEGIN: "BEGIN IMMEDIATE"})
        self._turn: AbstractAsyncContextManager[None] = (
            asyncio.Lock() if self.is_sqlite else nullcontext()
        )
        self._reader = async_sessionmaker(self._engine, expire_on_commit=False)
        self._writer = async_sessionmaker(writer, expire_on_commit=False)

    @property
    def is_sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncSession]:
        """A session for reading."""
        async with self._unit(self._reader) as session:
            yield session

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncSession]:
        """A session whose changes are committed at the end, or undone by an exception.

        On SQLite it takes the write lock at once: a transaction that reads first and
        writes later would fail where another process wrote in between. Writers of this
        process take turns: SQLite lets them try again and again, and some would never get it.
        """
        async with self._turn, self._unit(self._writer) as session:
            yield session

    async def clear_traces(self) -> None:
        """On SQLite, move everything from the write-ahead log into the file and empty the log.

        With `secure_delete` this leaves no removed text on disk. A reader can hold the log
        for a moment; it is then emptied at the next call or at close.
        """
        if self.is_sqlite:
            async with self._engine.execution_options(**{BEGIN: ""}).connect() as connection:
                await connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    async def aclose(self) -> None:
        """Close all connections."""
        await self._engine.dispose()

    @asynccontextmanager
    async def _unit(self, factory: async_sessionmaker[AsyncSession]) -> AsyncIterator[AsyncSession]:
        try:
            async with factory() as session, session.begin():
                yield session
        except DBAPIError as error:
            explained = explain(error, self.name)
            if explained is None:
                raise
            raise explained from error


def _set_pragmas(connection: Any, _record: object) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    try:
        for pragma in PRAGMAS:
            cursor.execute(f"PRAGMA {pragma}")
    finally:
        cursor.close()


def _begin(connection: Connection) -> None:
    # The driver's own BEGIN comes too late for DDL and for reads; see `write`.
    statement = connection.get_execution_options().get(BEGIN, "BEGIN")
    if statement:
        connection.exec_driver_sql(statement)
