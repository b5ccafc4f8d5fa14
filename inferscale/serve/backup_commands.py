"""Commands `inferscale backup` and `inferscale restore`: an SQLite database as one file."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from app.settings import Settings
from inferscale.command import run
from inferscale.output import say
from memory_engine.errors import UserError

POSTGRES = (
    "PostgreSQL is backed up with `pg_dump --format=custom` and restored with `pg_restore`: see "
    "docs/operations.md."
)


def backup(
    path: Annotated[Path, typer.Argument(help="The file to write, which must not exist yet.")],
) -> None:
    """Copy the database to a file. The server may go on serving."""

    async def work(settings: Settings) -> None:
        from agent.db.backup import back_up

        revision = await asyncio.to_thread(back_up, _file(settings), path)
        size = path.stat().st_size
        say(f"{path} holds the database at revision {revision}, {size:,} bytes, and is whole.")

    run(work)


def restore(
    path: Annotated[Path, typer.Argument(help="A file that `inferscale backup` wrote.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Even where the database holds something.")
    ] = False,
) -> None:
    """Make the database what a backup holds. Stop the server first.

    What was forgotten after the backup was made is known again: forget it again.
    """

    async def work(settings: Settings) -> None:
        from agent.db.backup import restore

        file = _file(settings)
        revision = await asyncio.to_thread(restore, path, file, replace=replace)
        say(f"{file} is what {path} holds, at revision {revision}.")

    run(work)


def _file(settings: Settings) -> Path:
    from agent.db.database import parse_url

    url = parse_url(settings.database)
    if url.get_backend_name() != "sqlite" or not url.database:
        raise UserError(POSTGRES)
    return Path(url.database)
