"""Commands `inferscale facts`: see, teach and undo. Facts live in SQL: no LLM is loaded."""

from typing import TYPE_CHECKING, Annotated

import typer

from app.settings import Settings
from inferscale.command import AsJson, User, opened_database, run
from inferscale.output import say, say_json, table

if TYPE_CHECKING:
    from datetime import datetime

    from agent.entities import Fact, FactEvent

facts = typer.Typer(help="See, teach and forget facts.", no_args_is_help=True)


@facts.command()
def add(
    texts: Annotated[list[str], typer.Argument(help="One fact each, such as 'I live in Bonn.'")],
    user: User,
    as_json: AsJson = False,
) -> None:
    """Teach facts. What is known already stays; a changed value takes the old one's place."""

    async def work(settings: Settings) -> None:
        from agent.facts.fact_store import FactStore
        from agent.facts.manual_facts import manual_candidate

        candidates = [manual_candidate(text) for text in texts]
        async with opened_database(settings) as database:
            added = await FactStore(database).add(user, candidates)
        _show(added, as_json)

    run(work)


@facts.command("list")
def list_(user: User, as_json: AsJson = False) -> None:
    """List what is known, in time order."""

    async def work(settings: Settings) -> None:
        from agent.facts.fact_store import FactStore

        async with opened_database(settings) as database:
            active = await FactStore(database).active(user)
        _show(active, as_json)

    run(work)


@facts.command()
def undo(
    fact_id: Annotated[str, typer.Argument(help="Of the fact, in its old or new version.")],
    user: User,
    as_json: AsJson = False,
) -> None:
    """Undo the last change of a fact: what was superseded or retracted holds again."""

    async def work(settings: Settings) -> None:
        from agent.facts.undo import undo as undo_change

        async with opened_database(settings) as database:
            restored = await undo_change(database, user, fact_id)
        _show(restored, as_json)

    run(work)


@facts.command()
def history(
    user: User,
    fact_id: Annotated[str | None, typer.Option("--fact", help="Only this fact's.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what happened to facts, and from when until when they held."""

    async def work(settings: Settings) -> None:
        from agent.facts.fact_store import FactStore

        async with opened_database(settings) as database:
            events = await FactStore(database).history(user, fact_id)
        if as_json:
            say_json([_event_json(event) for event in events])
        else:
            rows = [
                [
                    e.at.isoformat(" ", "seconds"),
                    e.fact_id,
                    e.kind,
                    e.text or "",
                    _day(e.valid_from),
                    _day(e.valid_to),
                    e.superseded_by or "",
                ]
                for e in events
            ]
            columns = ["when", "id", "what", "fact", "held from", "until", "replaced by"]
            say(table(f"History of {user}", columns, rows))

    run(work)


@facts.command()
def reindex(user: User, as_json: AsJson = False) -> None:
    """Embed all facts again, with the embedding model that is set now.

    A change of the model is noticed without this: facts are then embedded at first use.
    """

    async def work(settings: Settings) -> None:
        from agent.facts.reindex import reindex
        from app.composition import open_embedder

        async with opened_database(settings) as database, open_embedder(settings) as embedder:
            count = await reindex(database, embedder, user)
            model = embedder.model
        report = {"facts": count, "model": model.id, "dimension": model.dimension}
        say_json(report) if as_json else say(f"Embedded {count} facts with model {model.id}.")

    run(work)


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
        "subject": fact.subject,
        "valid_from": _instant(fact.valid_from),
        "valid_to": _instant(fact.valid_to),
        "agent": fact.scope.agent,
        "conversation": fact.scope.conversation,
    }


def _event_json(event: "FactEvent") -> dict[str, str | None]:
    return {
        "fact_id": event.fact_id,
        "kind": event.kind,
        "at": event.at.isoformat(),
        "text": event.text,
        "superseded_by": event.superseded_by,
        "valid_from": _instant(event.valid_from),
        "valid_to": _instant(event.valid_to),
    }


def _instant(instant: "datetime | None") -> str | None:
    return instant.isoformat() if instant else None


def _day(instant: "datetime | None") -> str:
    return f"{instant:%Y-%m-%d}" if instant else ""
