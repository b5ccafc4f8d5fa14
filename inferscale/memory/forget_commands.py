"""Commands `inferscale facts forget` and `inferscale facts audit`: erasure, and its proof."""

import asyncio
from typing import Annotated

import typer

from app.settings import Settings
from inferscale.command import ENGINE_ERROR, USER_ERROR, AsJson, User, opened_database, run
from inferscale.output import counted, note, say, say_json, table


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

    Accounts and API keys are not memory, and stay: see `inferscale accounts remove`. A running
    server drops their KV and vectors within a minute, and before it replies to this user.
    """
    if sum((bool(fact_ids), conversation is not None, everything)) != 1:
        raise typer.BadParameter("Name facts by their ids, or give --conversation, or --all.")

    async def work(settings: Settings) -> None:
        from app.offline_erasure import remove_snapshot

        ids = list(dict.fromkeys(fact_ids or []))
        count, failed = await _forget(settings, user, ids, conversation)
        await asyncio.to_thread(remove_snapshot, settings, user)
        if as_json:
            say_json({"facts": count, "forgotten": [i for i in ids if i not in failed]})
        else:
            say(f"Forgot {counted(count, 'fact')}.")
        for reason in failed.values():
            note(reason)
        if failed:
            raise typer.Exit(USER_ERROR)

    run(work)


async def _forget(
    settings: Settings, user: str, fact_ids: list[str], conversation: str | None
) -> tuple[int, dict[str, str]]:
    """Forget these facts, the conversation, or else everything; how many, and what failed."""
    from agent.facts.forgetting import Forgetting

    async with opened_database(settings) as database:
        forgetting = Forgetting(database)
        if conversation is not None:
            return await forgetting.conversation(user, conversation), {}
        if not fact_ids:
            return await forgetting.everything(user), {}
        failed = await forgetting.facts(user, fact_ids)
        return len(fact_ids) - len(failed), failed


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
        from app.offline_erasure import audit as look

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
