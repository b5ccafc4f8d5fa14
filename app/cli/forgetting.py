"""`inferscale facts forget` and `inferscale facts audit`: take away, and prove that it is gone."""

import asyncio
from typing import Annotated

import typer

from app.cli.command import ENGINE_ERROR, USER_ERROR, AsJson, User, run
from app.cli.facts import facts_database
from app.cli.output import counted, note, say, say_json, table
from app.settings import Settings


def forget(
    user: User,
    fact_ids: Annotated[
        list[str] | None, typer.Argument(help="Ids from `inferscale facts list`.")
    ] = None,
    conversation: Annotated[
        str | None, typer.Option(help="Delete this conversation and what only it taught.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Delete the user: facts, conversations and KV.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Forget facts, a conversation, or a user: what they say is removed from the database.

    A running server drops their KV and vectors within a minute, and before it replies to
    this user.
    """
    if sum((bool(fact_ids), conversation is not None, everything)) != 1:
        raise typer.BadParameter("Name facts by their ids, or give --conversation, or --all.")

    async def work(settings: Settings) -> None:
        from agent.forgetting import Forgetting
        from app.forgotten import remove_snapshot

        failed: dict[str, str] = {}
        async with facts_database(settings) as database:
            forgetting = Forgetting(database)
            if everything:
                gone = {"facts": await forgetting.everything(user)}
            elif conversation is not None:
                gone = {"facts": await forgetting.conversation(user, conversation)}
            else:
                failed = await forgetting.facts(user, fact_ids or [])
                gone = {"facts": len(set(fact_ids or [])) - len(failed)}
        await asyncio.to_thread(remove_snapshot, settings, user)
        forgotten = [fact_id for fact_id in fact_ids or [] if fact_id not in failed]
        say_json(gone | {"forgotten": forgotten}) if as_json else say(
            f"Forgot {counted(gone['facts'], 'fact')}."
        )
        for reason in failed.values():
            note(reason)
        if failed:
            raise typer.Exit(USER_ERROR)

    run(work)


def audit(
    user: User,
    words: Annotated[
        list[str] | None, typer.Option("--word", help="Look for this in the database's bytes.")
    ] = None,
    engine: Annotated[
        bool, typer.Option(help="Load the model, and look at index and KV too.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Prove that nothing is left of what was forgotten; exit with 1 if something is."""

    async def work(settings: Settings) -> None:
        from app.forgotten import audit as look

        found = await look(settings, user, words or (), with_engine=engine)
        left = [finding for finding in found if not finding.ok]
        if as_json:
            findings = [{"place": f.place, "found": f.found, "ok": f.ok} for f in found]
            say_json({"ok": not left, "findings": findings})
        else:
            rows = [["ok" if f.ok else "LEFT", f.place, f.found] for f in found]
            say(table(f"Audit of {user}", ["", "where", "what"], rows))
        if left:
            raise typer.Exit(ENGINE_ERROR)

    run(work)
