"""`inferscale migrate` and `inferscale doctor`: is everything as it should be?"""

from typing import Annotated

import typer

from app.cli.command import ENGINE_ERROR, AsJson, run
from app.cli.output import note, say, say_json
from app.settings import Settings, without_password


def migrate() -> None:
    """Create the database, or bring it to this version's revision."""

    async def work(settings: Settings) -> None:
        from app.compose import migrate_database

        revision = await migrate_database(settings)
        say(f"{without_password(settings.database)} is at revision {revision}.")

    run(work)


def doctor(
    engine: Annotated[
        bool, typer.Option(help="Load the model and run the conformance gate.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Check hardware, models, database and the model's conformance; say what to do."""

    async def work(settings: Settings) -> None:
        from app.doctor import examine

        checks = await examine(settings, with_engine=engine, progress=note)
        if as_json:
            say_json({"ok": all(c.ok for c in checks), "checks": [c.as_json() for c in checks]})
        else:
            for check in checks:
                say(f"{'ok     ' if check.ok else 'PROBLEM'}  {check.name}: {check.found}")
                if check.to_do:
                    say(f"         -> {check.to_do}")
        if not all(check.ok for check in checks):
            raise typer.Exit(ENGINE_ERROR)

    run(work)
