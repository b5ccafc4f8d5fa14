"""`inferscale facts`: see, teach and forget facts. Facts live in SQL: no LLM is loaded."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.command import AsJson, User, run
from app.cli.output import say, say_json, table
from app.settings import Settings

if TYPE_CHECKING:
    from agent.facts import FactStore
    from agent.records import Fact, FactEvent

facts = typer.Typer(help="See, teach and forget facts.", no_args_is_help=True)


@facts.command()
def add(
    texts: Annotated[list[str], typer.Argument(help="One fact each, such as 'I live in Bonn.'")],
    user: User,
    as_json: AsJson = False,
) -> None:
    """Teach facts. What is known already stays; a changed value takes the old one's place."""

    async def work(settings: Settings) -> None:
        from agent.stated import stated

        candidates = [stated(text) for text in texts]
        async with _store(settings) as store:
            added = await store.add(user, candidates)
        _show(added, as_json)

    run(work)


@facts.command("list")
def list_(user: User, as_json: AsJson = False) -> None:
    """List what is known, in time order."""

    async def work(settings: Settings) -> None:
        async with _store(settings) as store:
            active = await store.active(user)
        _show(active, as_json)

    run(work)


@facts.command()
def forget(
    fact_ids: Annotated[list[str], typer.Argument(help="Ids from `inferscale facts list`.")],
    user: User,
    as_json: AsJson = False,
) -> None:
    """Forget facts: what they say is removed from the database.

    A running server drops their KV and vectors at this user's next message, before it replies.
    """

    async def work(settings: Settings) -> None:
        async with _store(settings) as store:
            for fact_id in fact_ids:
                await store.forget(user, fact_id)
        say_json({"forgotten": fact_ids}) if as_json else say(f"Forgot {', '.join(fact_ids)}.")

    run(work)


@facts.command()
def history(
    user: User,
    fact_id: Annotated[str | None, typer.Option("--fact", help="Only this fact's.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show when facts were added, superseded and forgotten."""

    async def work(settings: Settings) -> None:
        async with _store(settings) as store:
            events = await store.history(user, fact_id)
        if as_json:
            say_json([_event_json(event) for event in events])
        else:
            rows = [
                [
                    e.at.isoformat(" ", "seconds"),
                    e.fact_id,
                    e.kind,
                    e.text or "",
                    e.superseded_by or "",
                ]
                for e in events
            ]
            say(table(f"History of {user}", ["when", "id", "what", "fact", "replaced by"], rows))

    run(work)


@facts.command()
def reindex(user: User, as_json: AsJson = False) -> None:
    """Embed all facts again, with the embedding model that is set now.

    A change of the model is noticed without this: facts are then embedded at first use.
    """

    async def work(settings: Settings) -> None:
        from agent.reindex import reindex
        from app.compose import open_database, open_embedder

        database = await open_database(settings)
        try:
            async with open_embedder(settings) as embedder:
                count = await reindex(database, embedder, user)
                model = embedder.model
        finally:
            await database.aclose()
        report = {"facts": count, "model": model.id, "dimension": model.dimension}
        say_json(report) if as_json else say(f"Embedded {count} facts with model {model.id}.")

    run(work)


@asynccontextmanager
async def _store(settings: Settings) -> AsyncIterator["FactStore"]:
    from agent.facts import FactStore
    from app.compose import open_database

    database = await open_database(settings)
    try:
        yield FactStore(database)
    finally:
        await database.aclose()


def _show(facts: "list[Fact]", as_json: bool) -> None:
    if as_json:
        say_json([_fact_json(fact) for fact in facts])
    elif facts:
        rows = [[fact.id, str(fact.when or ""), fact.text] for fact in facts]
        say(table(f"{len(facts)} facts", ["id", "date", "fact"], rows))
    else:
        say("No facts.")


def _fact_json(fact: "Fact") -> dict[str, str | None]:
    return {
        "id": fact.id,
        "text": fact.text,
        "when": fact.when.isoformat() if fact.when else None,
        "created_at": fact.created_at.isoformat(),
        "kind": fact.kind,
        "attribute": fact.attribute,
    }


def _event_json(event: "FactEvent") -> dict[str, str | None]:
    return {
        "fact_id": event.fact_id,
        "kind": event.kind,
        "at": event.at.isoformat(),
        "text": event.text,
        "superseded_by": event.superseded_by,
    }
