"""PostgreSQL killed, hanging, slow, locked and full: a clear message, nothing lost, no restart."""

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import text

from agent.conversations.conversation_store import ConversationStore
from agent.db.database import Database
from agent.entities import UserTurn
from agent.extraction.candidate import Candidate
from agent.extraction.rule_extractor import RuleExtractor
from agent.reply_events import Reply, TextDelta
from memory_engine.errors import (
    DatabaseFullError,
    DatabaseLockedError,
    DatabaseUnavailableError,
)
from memory_engine.types import Mode
from tests.agent.agent_builder import Parts, opened, prepare
from tests.postgres_server import PostgresServer

pytestmark = pytest.mark.postgres


class Waiting(RuleExtractor):
    """Extracts when it may."""

    def __init__(self) -> None:
        self.began, self.go = asyncio.Event(), asyncio.Event()

    async def extract(self, turn: UserTurn) -> list[Candidate]:
        self.began.set()
        await self.go.wait()
        return await super().extract(turn)


@pytest.fixture
def url(mortal_postgres: PostgresServer) -> str:
    return mortal_postgres.create(f"test_{uuid4().hex}")


async def restarted(server: PostgresServer, down_s: float = 0.3) -> None:
    """Kill the server, and start it after a while."""
    await asyncio.to_thread(server.kill)
    await asyncio.sleep(down_s)
    await asyncio.to_thread(server.start)


async def test_a_server_killed_in_the_middle_of_a_reply_costs_nothing_that_was_shown(
    mortal_postgres: PostgresServer, url: str
) -> None:
    words = "One two three four five six seven eight nine ten."
    async with opened(url, reply=lambda prompt: words, delay=0.05) as parts:
        await parts.say("I live in Bern.")
        restarting = None
        shown, last = "", None
        async for event in parts.service.reply(user="ann", message="I ski.", mode=Mode.KV):
            if isinstance(event, TextDelta):
                shown += event.text
                restarting = restarting or asyncio.create_task(restarted(mortal_postgres))
            last = event
        assert restarting is not None
        await restarting
        assert isinstance(last, Reply)
        assert shown == last.reply == words
        said = await parts.service.messages("ann", last.conversation_id or "")
        assert [message.content for message in said] == ["I ski.", words]
        await parts.service.settle("ann")
        await parts.ask("Hello")
        assert await parts.known() == ["I live in Bern.", "I ski."]


async def test_a_server_killed_while_something_is_remembered_loses_no_fact(
    mortal_postgres: PostgresServer, url: str
) -> None:
    extractor = Waiting()
    async with opened(url, extractor=extractor) as parts:
        await parts.ask("I live in Bern.")
        await extractor.began.wait()
        await asyncio.to_thread(mortal_postgres.kill)
        extractor.go.set()
        with pytest.raises(DatabaseUnavailableError, match="does not answer"):
            await parts.ask("I ski.")
        await parts.agent._remember_worker.settle()
        await asyncio.to_thread(mortal_postgres.start)
        await parts.ask("I have a cat.")
        await parts.service.settle("ann")
        assert await parts.known() == ["I live in Bern.", "I have a cat."]


@pytest.mark.fleet
async def test_a_server_that_hangs_is_told_so_and_used_again_when_it_goes_on(
    mortal_postgres: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.db.database.ANSWER_S", 0.5)
    async with opened(url) as parts:
        await parts.say("I live in Bern.")
        mortal_postgres.pause()
        try:
            with pytest.raises(DatabaseUnavailableError, match="nothing came within"):
                await parts.known()
        finally:
            mortal_postgres.go_on()
        await parts.say("I ski.")
        assert await parts.known() == ["I live in Bern.", "I ski."]


async def test_a_statement_that_takes_too_long_is_ended(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.db.connection_options.STATEMENT_TIMEOUT_MS", 100)
    async with opened(url) as parts:
        with pytest.raises(DatabaseUnavailableError, match="statement timeout"):
            async with parts.database.read() as session:
                await session.execute(text("SELECT pg_sleep(30)"))
        await parts.say("I ski.")
        assert await parts.known() == ["I ski."]


async def test_whoever_waits_too_long_for_a_connection_is_told_so(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.db.connection_options.WAIT_S", 0.2)
    database = Database(url, connections=1)
    async with database.read():
        with pytest.raises(DatabaseUnavailableError, match="all connections to it are in use"):
            await ConversationStore(database).conversations("ann")
    await database.aclose()


async def test_a_deadlock_ends_with_one_of_the_two(url: str) -> None:
    async with opened(url) as parts:
        for user in ("ann", "bob"):
            await parts.service.add_fact(user, "I ski.")
        both = asyncio.Barrier(2)
        lock = text("UPDATE users SET facts_version = facts_version + 1 WHERE name = :name")

        async def change(first: str, second: str) -> None:
            async with parts.database.write() as session:
                await session.execute(lock, {"name": first})
                await both.wait()
                await session.execute(lock, {"name": second})

        ended = await asyncio.gather(
            change("ann", "bob"), change("bob", "ann"), return_exceptions=True
        )
        assert [type(each) for each in ended if each is not None] == [DatabaseLockedError]


@pytest.fixture
def small_disk(mortal_postgres: PostgresServer) -> Iterator[Path]:
    """A folder on a file system of 24 MiB."""
    folder = mortal_postgres.home / "disk"
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)]
    if subprocess.run(["mount", *options], capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def url_on_small_disk(mortal_postgres: PostgresServer, small_disk: Path) -> str:
    """SQLAlchemy URL of a migrated database on the small disk, of which most is taken."""
    mortal_postgres.run(
        f"CREATE TABLESPACE small LOCATION '{mortal_postgres.owned(small_disk / 'data')}'"
    )
    url = mortal_postgres.create("on_small_disk", "TABLESPACE small")
    prepare(url)
    with (small_disk / "taken").open("wb") as taken, suppress(OSError):
        while True:
            taken.write(bytes(1 << 16))
            if shutil.disk_usage(small_disk).free < (4 << 20):
                break
    return url


@pytest.mark.fleet
async def test_a_full_disk_is_told_so_and_keeps_what_was_acknowledged(
    url_on_small_disk: str, small_disk: Path
) -> None:
    async with opened(url_on_small_disk) as parts:
        acknowledged: list[str] = []

        async def talk() -> None:
            while True:
                # Random letters, so that they are not stored in less room.
                message = "I ski. " + "".join(uuid4().hex for _ in range(2000))
                await parts.ask(message)
                acknowledged.append(message)

        with pytest.raises(DatabaseFullError, match="Free some disk space"):
            await talk()
        assert len(acknowledged) > 5
        await asyncio.to_thread((small_disk / "taken").unlink)
        assert await said_by(parts) == acknowledged
        await parts.say("I play golf.")
        assert "I play golf." in await parts.known()


async def said_by(parts: Parts) -> list[str]:
    """All messages of ann, in the order of their conversations."""
    talks = reversed(await parts.service.conversations("ann"))
    told = [await parts.service.messages("ann", talk.id) for talk in talks]
    return [message.content for each in told for message in each if message.role == "user"]
