"""Commands `inferscale accounts`: logins with a password."""

import asyncio
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from app.settings import Settings
from inferscale.command import ENGINE_ERROR, AsJson, opened_database, run
from inferscale.output import counted, note, say, say_json, table

if TYPE_CHECKING:
    from agent.facts.erasure_audit import Finding

accounts = typer.Typer(
    help="Make, list, change and remove accounts with a password.", no_args_is_help=True
)

Name = Annotated[str, typer.Argument(help="Whose account. It is also whose memory.")]
FromStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from stdin, not the terminal.")
]


class MemoryChoice(StrEnum):
    """Choice between keeping and forgetting the memory of a removed account."""

    KEEP = "keep"
    FORGET = "forget"


@accounts.command()
def add(name: Name, password_stdin: FromStdin = False) -> None:
    """Make an account. The password is asked for, or read from stdin."""
    password = _password(password_stdin)

    async def work(settings: Settings) -> None:
        from app.auth.accounts import Accounts

        async with opened_database(settings) as database:
            made = await Accounts(database).add(name, password)
        note(f"{made} can sign in.")

    run(work)


@accounts.command("list")
def list_(as_json: AsJson = False) -> None:
    """List accounts; never their passwords."""

    async def work(settings: Settings) -> None:
        from app.auth.accounts import Accounts

        async with opened_database(settings) as database:
            found = await Accounts(database).listed()
        rows = [(a.name, f"{a.created_at:%Y-%m-%d}", f"{a.changed_at:%Y-%m-%d}") for a in found]
        columns = ("name", "made", "password")
        if as_json:
            say_json([dict(zip(columns, row, strict=True)) for row in rows])
        else:
            say(table("Accounts", columns, rows))

    run(work)


@accounts.command()
def password(name: Name, password_stdin: FromStdin = False) -> None:
    """Change a password. Every browser of the account is signed out."""
    new = _password(password_stdin)

    async def work(settings: Settings) -> None:
        from app.auth.accounts import Accounts

        async with opened_database(settings) as database:
            await Accounts(database).set_password(name, new)
        note(f"The password of {name} is changed, and every browser signed out.")

    run(work)


@accounts.command()
def remove(
    name: Name,
    memory: Annotated[
        MemoryChoice,
        typer.Option(
            prompt="What becomes of all that was told?",
            help="What becomes of the memory. Asked for where it is not given.",
        ),
    ],
) -> None:
    """Remove an account: no password, browser or API key lets anybody in by this name."""

    async def work(settings: Settings) -> None:
        from app.auth.accounts import Accounts

        async with opened_database(settings) as database:
            await Accounts(database).remove(name)
        note(f"{name} cannot sign in any more, and their API keys are revoked.")
        if memory is MemoryChoice.FORGET:
            await _forget(settings, name.strip())

    run(work)


async def _forget(settings: Settings, name: str) -> None:
    """Forget the memory of an account and of its programs, and audit it."""
    from agent.facts.forgetting import Forgetting
    from app.auth.accounts import users_of
    from app.offline_erasure import audit, remove_snapshot

    count, left = 0, list["Finding"]()
    async with opened_database(settings) as database:
        users = await users_of(database, name)
        for user in users:
            count += await Forgetting(database).everything(user)
            await asyncio.to_thread(remove_snapshot, settings, user)
    for user in users:
        left += [f for f in await audit(settings, user, with_engine=False) if not f.ok]
    note(f"Forgot {counted(count, 'fact')}, and every conversation.")
    for finding in left:
        note(f"Left over, {finding.place}: {finding.found}")
    if left:
        raise typer.Exit(ENGINE_ERROR)


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    typed: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return typed
