"""A whole agent over SQLite and the fake engine, for tests of what lies above and beside it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import make_url, select, text

from agent.agent import Agent
from agent.db.database import Database
from agent.db.revision import migrate
from agent.db.tables import Base, TurnRow
from agent.extraction.extractor import Extractor
from agent.extraction.rule_extractor import RuleExtractor
from agent.remember.decider import Decider
from agent.reply_events import Reply, TextDelta
from app.service import ChatService
from memory_engine.engines.fake import FakeEngine
from memory_engine.types import Mode, Prompt
from tests.agent.fake_memory import FakeMemory


def url_of(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder / 'inferscale.db'}"


@cache
def _migrated_file() -> bytes:
    with TemporaryDirectory() as folder:
        migrate(url_of(Path(folder)))
        return (Path(folder) / "inferscale.db").read_bytes()


def prepare(database_url: str) -> None:
    """Migrate a database; an SQLite file that does not exist is copied from a migrated one."""
    file = Path(make_url(database_url).database or "")
    if not database_url.startswith("sqlite"):
        _migrate_once(database_url)
    elif not file.exists():
        file.write_bytes(_migrated_file())


@cache
def _migrate_once(database_url: str) -> None:
    migrate(database_url)


@dataclass
class Parts:
    """The parts of an open service."""

    service: ChatService
    agent: Agent
    memory: FakeMemory
    engine: FakeEngine
    database: Database

    async def say(self, message: str, user: str = "ann", **options: object) -> Reply:
        """Send a message, wait until it is remembered, and return the reply."""
        reply = await self.ask(message, user, **options)
        await self.service.settle(user)
        return reply

    async def ask(self, message: str, user: str = "ann", **options: object) -> Reply:
        """Send a message and return the reply."""
        wanted = {"mode": Mode.KV, **options}
        events = [e async for e in self.service.reply(user=user, message=message, **wanted)]  # type: ignore[arg-type]
        last = events[-1]
        assert isinstance(last, Reply)
        assert "".join(e.text for e in events if isinstance(e, TextDelta)) == last.reply
        return last

    async def known(self, user: str = "ann") -> list[str]:
        """The texts of the facts that hold now."""
        return [fact.text for fact in await self.service.facts(user)]


async def turn_rows(parts: Parts) -> list[TurnRow]:
    """All turns, as they are stored."""
    async with parts.database.read() as session:
        return list(await session.scalars(select(TurnRow).order_by(TurnRow.id)))


async def assert_absent(word: str, parts: Parts) -> None:
    """No row holds `word`, in any case, and no byte of an SQLite database's files."""
    if parts.database.is_sqlite:
        for file in Path(parts.database.url.database or "").parent.iterdir():
            assert word.lower().encode() not in file.read_bytes().lower(), file.name
        return
    async with parts.database.read() as session:
        for table in Base.metadata.tables:
            told = text(f"SELECT count(*) FROM {table} AS row WHERE row::text ILIKE :word")
            assert await session.scalar(told, {"word": f"%{word}%"}) == 0, table


@asynccontextmanager
async def opened(
    database_url: str,
    *,
    reply: Callable[[Prompt], str] = lambda prompt: "All right then.",
    delay: float = 0.0,
    supported: bool = True,
    max_model_len: int = 100_000,
    extractor: Extractor | None = None,
    decider: Callable[[FakeMemory], Decider] | None = None,
    tail: int = 0,
) -> AsyncIterator[Parts]:
    """Migrate `database_url`, open everything, and close it at the end."""
    prepare(database_url)
    engine = FakeEngine(reply, delay=delay, supported=supported, max_model_len=max_model_len)
    await engine.start()
    database, memory = Database(database_url), FakeMemory(engine, tail)
    judge = decider(memory) if decider else None
    agent = Agent(memory, database, extractor or RuleExtractor(), decider=judge)
    service = ChatService(agent, memory, database, engine.conformance)
    try:
        yield Parts(service, agent, memory, engine, database)
    finally:
        await service.aclose()
