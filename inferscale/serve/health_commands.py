"""Commands `inferscale migrate` and `inferscale doctor`: database revision and checks."""

from functools import partial
from typing import Annotated

import typer

from app.settings import Settings, without_password
from inferscale.command import ENGINE_ERROR, AsJson, run
from inferscale.output import note, say, say_json, table


def migrate() -> None:
    """Create the database, or bring it to this version's revision."""

    async def work(settings: Settings) -> None:
        from app.composition import migrate_database

        revision = await migrate_database(settings)
        say(f"{without_password(settings.database)} is at revision {revision}.")

    run(work)


def doctor(
    engine: Annotated[
        bool, typer.Option(help="Load the model and run the conformance gate.")
    ] = True,
    families: Annotated[
        bool,
        typer.Option(
            "--families", help="Run the gate on a tiny model of every family instead (minutes)."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check hardware, models, database and the model's conformance; say what to do."""
    if families:
        run(partial(_families, as_json))
    else:
        run(partial(_examine, engine, as_json))


async def _examine(engine: bool, as_json: bool, settings: Settings) -> None:
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


async def _families(as_json: bool, settings: Settings) -> None:
    from app.models import family_report as families
    from app.models.model_choice import stay_offline

    stay_offline(settings)
    report = await families.measure(note, quiet=settings.log == "warning")
    if as_json:
        say_json(report)
    else:
        say(table("Model families", families.COLUMNS, families.as_rows(report)))
        say(families.summary(report))
    lost = families.lost(report, families.known())
    if lost:
        note(f"No longer supported: {', '.join(lost)}.")
        raise typer.Exit(ENGINE_ERROR)
