"""Commands `inferscale facts export` and `inferscale facts import`: a user's facts as a file."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from app.settings import Settings
from inferscale.command import AsJson, User, opened_database, run
from inferscale.output import counted, note, say, say_json
from memory_engine.errors import UserError


def export(
    user: User,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file, not to stdout.")
    ] = None,
) -> None:
    """Write all that is known of a user, and was, as JSON; forgotten facts are not in it."""

    async def work(settings: Settings) -> None:
        from agent.facts.transfer.exporter import export_facts

        async with opened_database(settings) as database:
            document = await export_facts(database, user)
        text = document.model_dump_json(indent=2)
        if output is None:
            say(text)
        else:
            await asyncio.to_thread(_write, output, f"{text}\n")
            note(f"Wrote {counted(len(document.facts), 'fact')} to {output}.")

    run(work)


def import_(
    file: Annotated[Path, typer.Argument(help="From `inferscale facts export`.")],
    user: User,
    as_json: AsJson = False,
) -> None:
    """Add the facts of an export, whoever's they were; a second time changes nothing."""

    async def work(settings: Settings) -> None:
        from agent.facts.transfer.importer import import_facts

        text = await asyncio.to_thread(_read, file)
        async with opened_database(settings) as database:
            done = await import_facts(database, user, text)
        if as_json:
            say_json({"added": done.added, "known": done.known, "left_out": done.left_out})
            return
        say(f"Added {counted(done.added, 'fact')}; {done.known} were known.")
        if done.left_out:
            note(f"Left out {done.left_out}, of conversations that do not exist here.")

    run(work)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read: {error}.") from error


def _write(file: Path, text: str) -> None:
    try:
        # What is known of somebody is for nobody else to read.
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error}.") from error
