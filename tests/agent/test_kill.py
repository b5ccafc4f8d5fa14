"""kill -9: what was acknowledged is there after the restart, and gets remembered."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.agent_builder import opened

ROOT = Path(__file__).parents[2]


def promised(database_url: str, lines: int) -> list[tuple[str, str]]:
    """Start the process, read what it promises, kill it after so many lines."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.agent.killed_process", database_url],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    read = []
    for line in process.stdout:
        read.append(line)
        if len(read) == lines:
            process.kill()
    process.stdout.close()
    assert process.wait() == -9
    whole = [line for line in read if line.endswith("\n")]
    return [(what, value) for what, value in map(json.loads, whole)]


async def test_every_acknowledged_turn_and_fact_survives_kill_9(database_url: str) -> None:
    await survives(database_url, 12)


@pytest.mark.fleet
@pytest.mark.parametrize("lines", [1, 2, 3, 4, 5, 30, 100])
async def test_it_survives_a_kill_at_any_moment(database_url: str, lines: int) -> None:
    await survives(database_url, lines)


async def survives(database_url: str, lines: int) -> None:
    told = promised(database_url, lines)
    assert len(told) >= lines
    async with opened(database_url) as parts:
        await parts.service.start()
        await parts.service.settle("ann")
        (conversation,) = await parts.service.conversations("ann")
        said = {m.content for m in await parts.service.messages("ann", conversation.id)}
        known = set(await parts.known())
    for what, value in told:
        assert value in known
        assert what == "fact" or value in said
