"""Commands `inferscale keys`: keys for the API, and for the page once it is open to others."""

from typing import Annotated

import typer

from app.settings import Settings
from inferscale.command import AsJson, User, opened_database, run
from inferscale.output import note, say, say_json, table

keys = typer.Typer(help="Make, list and revoke API keys.", no_args_is_help=True)


@keys.command()
def add(
    user: User,
    name: Annotated[str, typer.Option(help="What the key is for.")] = "",
    as_json: AsJson = False,
) -> None:
    """Make a key for a user's memory. It is shown once, and kept as a digest only."""

    async def work(settings: Settings) -> None:
        from app.auth.api_keys import ApiKeys

        async with opened_database(settings) as database:
            key = await ApiKeys(database).add(user, name)
        if as_json:
            say_json({"key": key, "user": user})
            return
        say(key)
        note("Keep it: it cannot be shown again.")

    run(work)


@keys.command("list")
def list_(
    user: Annotated[str | None, typer.Option("--user", "-u", help="Only this user's.")] = None,
    as_json: AsJson = False,
) -> None:
    """List keys, revoked ones too; never the keys themselves."""

    async def work(settings: Settings) -> None:
        from app.auth.api_keys import ApiKeys

        async with opened_database(settings) as database:
            found = await ApiKeys(database).listed(user)
        rows = [
            (k.id, k.owner, k.name, f"{k.created_at:%Y-%m-%d}", "revoked" if k.revoked_at else "")
            for k in found
        ]
        columns = ("id", "user", "name", "made", "state")
        if as_json:
            say_json([dict(zip(columns, row, strict=True)) for row in rows])
        else:
            say(table("API keys", columns, rows))

    run(work)


@keys.command()
def revoke(key_id: Annotated[str, typer.Argument(help="From `inferscale keys list`.")]) -> None:
    """Let nobody in with this key any more, from the next request on."""

    async def work(settings: Settings) -> None:
        from app.auth.api_keys import ApiKeys

        async with opened_database(settings) as database:
            await ApiKeys(database).revoke(key_id)
        note(f"Key {key_id} is revoked.")

    run(work)
