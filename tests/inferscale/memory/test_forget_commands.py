"""`inferscale facts forget` and `audit`, without a model."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.facts.erasure_audit import Finding
from app.settings import Settings, load_settings
from memory_engine.connector.segments import snapshots
from tests.agent.agent_builder import opened
from tests.inferscale.memory.fact_command_builder import facts, json_of, known, teach

pytestmark = pytest.mark.usefixtures("data")


def test_one_that_cannot_be_forgotten_is_told_and_the_rest_is_forgotten() -> None:
    teach("I ski.", "I sew.", "I row.")
    result = facts("forget", "1", "99", "3")
    assert result.exit_code == 2
    assert "Forgot 2 facts." in result.stdout
    assert "There is no fact '99'" in result.stderr
    assert known() == ["I sew."]


def test_all_of_a_user_is_forgotten_with_the_kv_on_disk(data: Path) -> None:
    teach("I collect zanzibars.")
    teach("I ski.", user="bob")
    for user in ("ann", "bob"):
        file = snapshots.path_of(str(data / "kv"), user, 0, 1)
        file.parent.mkdir(exist_ok=True)
        file.touch()
    assert json_of("forget", "--all") == {"facts": 1, "forgotten": []}
    assert known() == []
    assert known("bob") == ["I ski."]
    assert snapshots.paths(str(data / "kv"), "ann") == []
    assert len(snapshots.paths(str(data / "kv"), "bob")) == 1
    assert all(b"zanzibar" not in file.read_bytes() for file in data.glob("*.db*"))


async def talk(database_url: str) -> str | None:
    async with opened(database_url) as parts:
        return (await parts.say("I have a cat.")).conversation_id


def test_a_conversation_is_forgotten_with_what_it_taught(data: Path) -> None:
    data.mkdir()
    conversation = asyncio.run(talk(load_settings().database))
    assert known() == ["I have a cat."]
    assert json_of("forget", "--conversation", str(conversation))["facts"] == 1
    assert known() == []
    assert facts("forget", "--conversation", str(conversation)).exit_code == 2


@pytest.mark.parametrize("what", [[], ["1", "--all"], ["--all", "--conversation", "1"]])
def test_what_to_forget_has_to_be_said_in_one_way(what: list[str]) -> None:
    teach("I ski.")
    result = facts("forget", *what)
    assert result.exit_code == 2
    assert known() == ["I ski."]


def test_an_audit_says_where_it_looked_and_ends_with_0_when_nothing_is_left() -> None:
    teach("I collect zanzibars.", "I ski.")
    assert json_of("forget", "1")["facts"] == 1
    found = json_of("audit", "--no-engine", "--word", "zanzibar")
    assert found["ok"]
    places = [finding["place"] for finding in found["findings"]]
    assert places == [
        "SQL", "SQL, forgotten", "SQL, sources", "write-ahead log", "free pages", "bytes",
        "KV on disk",
    ]  # fmt: skip
    assert "Audit of ann" in facts("audit", "--no-engine").stdout


def test_a_word_that_is_left_is_found(data: Path) -> None:
    teach("I collect zanzibars.")
    result = facts("audit", "--no-engine", "--word", "zanzibar")
    assert result.exit_code == 1
    assert "1 of 1 words in inferscale.db" in result.stdout


def test_kv_on_disk_that_is_older_than_the_last_forgetting_is_found(data: Path) -> None:
    teach("I ski.", "I sew.")
    facts("forget", "1")
    file = snapshots.path_of(str(data / "kv"), "ann", 0, 1)
    file.parent.mkdir()
    file.touch()
    os.utime(file, (time.time() - 60,) * 2)
    assert facts("audit", "--no-engine").exit_code == 1
    os.utime(file, (time.time() + 60,) * 2)
    assert facts("audit", "--no-engine").exit_code == 0
    facts("forget", "--all")
    file.touch()
    assert "of a user who has no facts" in facts("audit", "--no-engine").stdout


def test_an_audit_looks_at_index_and_kv_of_a_service_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Service:
        async def audit(self, user: str) -> list[Finding]:
            return [Finding("KV", f"1 segment of {user}", ok=False)]

    @asynccontextmanager
    async def running(settings: Settings) -> AsyncIterator[Service]:
        yield Service()

    monkeypatch.setattr("app.offline_erasure.running_service", running)
    teach("I ski.")
    result = facts("audit", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert not found["ok"]
    assert found["findings"][-1] == {"place": "KV", "found": "1 segment of ann", "ok": False}
