"""An SQLite database that is full or locked: a clear message, nothing lost, no restart."""

import sqlite3
from pathlib import Path
from uuid import uuid4

import pytest

from agent.db.connection_options import PRAGMAS
from memory_engine.errors import DatabaseFullError
from tests.agent.agent_builder import opened, prepare, url_of
from tests.app.api.api_server import api

CHAT = "/v1/chat/completions"


async def test_a_full_disk_is_told_so_and_keeps_what_was_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(url_of(tmp_path))
    with monkeypatch.context() as small:
        small.setattr("agent.db.connection_options.PRAGMAS", (*PRAGMAS, "max_page_count=70"))
        async with opened(url_of(tmp_path)) as parts:
            acknowledged: list[str] = []

            async def talk() -> None:
                while True:
                    message = f"I own boat {len(acknowledged)}. " + uuid4().hex * 50
                    await parts.ask(message)
                    acknowledged.append(message)

            with pytest.raises(DatabaseFullError, match="Free some disk space"):
                await talk()
            assert len(acknowledged) > 5
    async with opened(url_of(tmp_path)) as parts:
        await parts.service.settle("ann")
        talks = reversed(await parts.service.conversations("ann"))
        said = [(await parts.service.messages("ann", talk.id))[0].content for talk in talks]
        assert said[: len(acknowledged)] == acknowledged
        known = await parts.known()
        assert [f"I own boat {n}." for n in range(len(acknowledged))] == known[: len(acknowledged)]


async def test_a_locked_database_is_a_503_that_says_when_to_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.db.connection_options.PRAGMAS", ("busy_timeout=50",))
    request = {"model": "inferscale-kv", "messages": [{"role": "user", "content": "I ski."}]}
    async with api(tmp_path) as at, at.http() as client:
        other = sqlite3.connect(tmp_path / "inferscale.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        reply = await client.post(CHAT, json=request)
        assert (reply.status_code, reply.headers["Retry-After"]) == (503, "5")
        assert reply.json()["error"]["code"] == "database_unavailable"
        message = reply.json()["error"]["message"]
        assert message == "The database is locked by another program. Try again in a moment."
        other.execute("ROLLBACK")
        other.close()
        assert (await client.post(CHAT, json=request)).status_code == 200
