"""The commands of docs/operations.md for PostgreSQL, run as they stand there."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent.facts.fact_embeddings import FactEmbeddings
from tests.agent.agent_builder import opened
from tests.conftest import postgres_programs

pytestmark = pytest.mark.postgres

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "operations.md"


def documented(name: str) -> str:
    """The commands of the document that are marked with `name`."""
    found = re.search(rf"<!-- run: {name} -->\n```bash\n(.*?)```", DOCUMENT.read_text(), re.S)
    assert found is not None
    return found.group(1)


def run(name: str, database_url: str, folder: Path) -> None:
    """Run documented commands in `folder`, with this code's `inferscale`."""
    command = folder / "inferscale"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m inferscale "$@"\n')
    command.chmod(0o755)
    programs = [str(postgres_programs()), str(folder), os.environ["PATH"]]
    environment = {
        **os.environ,
        "PATH": os.pathsep.join(programs),
        "INFERSCALE_DATABASE_URL": database_url,
        "INFERSCALE_DATA_DIR": str(folder / "data"),
    }
    done = subprocess.run(
        ["bash", "-euc", documented(name)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


async def test_a_dump_made_while_people_chat_brings_back_what_was_acknowledged(
    postgres_url: str, tmp_path: Path
) -> None:
    async with opened(postgres_url) as parts:
        await parts.say("I live in Bern. I ski.")
        conversation = (await parts.service.conversations("ann"))[0].id
        said = await parts.service.messages("ann", conversation)
        facts = await parts.service.facts("ann")
        version = await parts.agent.facts.version("ann")
        dumping = asyncio.create_task(asyncio.to_thread(run, "backup", postgres_url, tmp_path))
        while not dumping.done():
            await parts.ask("I have a cat.", user="bob")
        await dumping
        await parts.service.forget_everything("ann")
    await asyncio.to_thread(run, "restore", postgres_url, tmp_path)
    async with opened(postgres_url) as parts:
        assert await parts.service.facts("ann") == facts
        assert await parts.service.messages("ann", conversation) == said
        assert await parts.agent.facts.version("ann") not in (0, version)
        vectors = await FactEmbeddings(parts.database).load("ann", parts.memory.embedding_model)
        assert sorted(vectors) == sorted(fact.id for fact in facts)
        recalled = (await parts.ask("Where do I live?")).facts
        assert {fact.text for fact in recalled} == {"I live in Bern.", "I ski."}
        await parts.say("I play golf.")
        assert len(await parts.known()) == 3
