"""Database access: one connection pool, short units of work, errors that say what to do."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from pathlib import Path
from typing import Any

from sqlalchemy import URL, NullPool, event, func, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine

from agent.db.connection_options import (
    ANSWER_S,
    BEGIN,
    begin,
    connect_arguments,
    pool_options,
    set_pragmas,
)
from agent.db.database_errors import explain, no_answer
from memory_engine.errors import DatabaseError

CONNECTIONS = 10


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
    """Runs units of work on the database at `url`. Creates an SQLite file's folder, no tables.

    connections: the most that PostgreSQL gets from this process at a time, but for one more
    while a turn is remembered.
    """

    def __init__(self, database_url: str, connections: int = CONNECTIONS) -> None:
        self.url = parse_url(database_url)
        self.name = self.url.render_as_string(hide_password=True)
        options: dict[str, Any] = {}
        if self.is_sqlite:
            make_folder(self.url)
        else:
            options["connect_args"] = connect_arguments(self.url)
        pool = {} if self.is_sqlite else pool_options(connections)
        self._engine = create_async_engine(self.url, **options, **pool)
        if self.is_sqlite:
            event.listen(self._engine.sync_engine, "connect", set_pragmas)
            event.listen(self._engine.sync_engine, "begin", begin)
        else:
            self._claims = create_async_engine(
                self.url, poolclass=NullPool, isolation_level="AUTOCOMMIT", **options
            )
        writer = self._engine.execution_options(**{BEGIN: "BEGIN IMMEDIATE"})
        # Readers of PostgreSQL would see no older state within a transaction than without one.
        reader = self._engine.execution_options(
            **({} if self.is_sqlite else {"isolation_level": "AUTOCOMMIT"})
        )
        self._turn: AbstractAsyncContextManager[None] = (
            asyncio.Lock() if self.is_sqlite else nullcontext()
        )
        self._reader = async_sessionmaker(reader, expire_on_commit=False)
        self._writer = async_sessionmaker(writer, expire_on_commit=False)

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is an SQLite file, and not a PostgreSQL server."""
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

    @asynccontextmanager
    async def claim(self, name: str) -> AsyncIterator[bool]:
        """Whether nobody else has claimed `name`; if so, nobody gets it until the end.

        The claim is an advisory lock of a connection of its own, so that it ends with the
        process. SQLite has none: there it says yes to everybody.
        """
        if self.is_sqlite:
            yield True
            return
        with self._explained():
            async with self._claims.connect() as connection:
                key = func.hashtextextended(f"inferscale {name}", 0)
                yield bool(await connection.scalar(select(func.pg_try_advisory_lock(key))))

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
        with self._explained():
            async with factory() as session, session.begin():
                await self._connect(session)
                yield session

    async def _connect(self, session: AsyncSession) -> None:
        # A server that hangs keeps its connections open and obeys no time limit of its own.
        try:
            async with asyncio.timeout(None if self.is_sqlite else ANSWER_S):
                await session.connection()
        except TimeoutError as error:
            raise no_answer(self.name, f"nothing came within {ANSWER_S} s") from error

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except NoConnectionError as error:
            raise no_answer(self.name, "all connections to it are in use") from error
        except DBAPIError as error:
            explained = explain(error, self.name)
            if explained is None:
                raise
            raise explained from error
