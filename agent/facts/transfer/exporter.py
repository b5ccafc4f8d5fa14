"""Export of a user's present and past facts as a document."""

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncSession

from agent.db.database import Database
from agent.db.lookup import find_fact
from agent.db.tables import FactEventRow, FactRow, FactSourceRow, TurnRow
from agent.db.utc import utc_now
from agent.facts.fact_rows import denial_of
from agent.facts.transfer.export_schema import Document, EventDocument, FactDocument, SourceDocument
from memory_engine.errors import NotFoundError


async def export_facts(database: Database, owner: str) -> Document:
    """All present and past facts of `owner`, but for forgotten ones."""
    async with database.read() as session:
        facts = await _documents(session, FactRow.owner == owner)
    kept = {fact.id for fact in facts}
    return Document(
        user=owner, exported_at=utc_now(), facts=tuple(_without_gone(f, kept) for f in facts)
    )


async def export_fact(database: Database, owner: str, fact_id: str) -> FactDocument:
    """One fact with its sources and events. Raises NotFoundError, also for a forgotten one."""
    async with database.read() as session:
        row = await find_fact(session, owner, fact_id)
        facts = await _documents(session, FactRow.id == row.id)
    if not facts:
        raise NotFoundError(f"Fact {fact_id} was forgotten.")
    return facts[0]


async def _documents(session: AsyncSession, whose: ColumnElement[bool]) -> list[FactDocument]:
    rows = select(FactRow).where(whose, FactRow.forgotten_at.is_(None))
    sources, by_hand = await _sources(session, whose)
    events = await _events(session, whose)
    return [
        _document(row, sources.get(row.id, ()), events.get(row.id, ()), row.id in by_hand)
        for row in await session.scalars(rows.order_by(FactRow.id))
    ]


async def _sources(
    session: AsyncSession, whose: ColumnElement[bool]
) -> tuple[dict[int, tuple[SourceDocument, ...]], set[int]]:
    query = (
        select(FactSourceRow.fact_id, TurnRow)
        .join(FactRow, FactRow.id == FactSourceRow.fact_id)
        .outerjoin(TurnRow, TurnRow.id == FactSourceRow.turn_id)
        .where(whose)
        .order_by(FactSourceRow.id)
    )
    found: dict[int, tuple[SourceDocument, ...]] = {}
    by_hand: set[int] = set()
    for fact_id, turn in await session.execute(query):
        if turn is None:
            by_hand.add(fact_id)
            continue
        source = SourceDocument(
            conversation=str(turn.conversation_id),
            turn=turn.id,
            said_at=turn.created_at,
            text=turn.text,
        )
        found[fact_id] = (*found.get(fact_id, ()), source)
    return found, by_hand


async def _events(
    session: AsyncSession, whose: ColumnElement[bool]
) -> dict[int, tuple[EventDocument, ...]]:
    query = (
        select(FactEventRow)
        .join(FactRow, FactRow.id == FactEventRow.fact_id)
        .where(whose)
        .order_by(FactEventRow.id)
    )
    found: dict[int, tuple[EventDocument, ...]] = {}
    for row in await session.scalars(query):
        by = None if row.by_fact_id is None else str(row.by_fact_id)
        event = EventDocument.model_validate({"kind": row.kind, "at": row.at, "by": by})
        found[row.fact_id] = (*found.get(row.fact_id, ()), event)
    return found


def _document(
    row: FactRow,
    sources: Sequence[SourceDocument],
    events: Sequence[EventDocument],
    by_hand: bool,
) -> FactDocument:
    plain = ("text", "kind", "subject", "attribute", "time_expression", "agent")
    instants = ("created_at", "valid_from", "valid_to", "ended_at")
    denies = denial_of(row)
    return FactDocument.model_validate(
        {name: getattr(row, name) for name in (*plain, *instants)}
        | {
            "id": str(row.id),
            "when": row.dated,
            "denies": denies and asdict(denies),
            "conversation": None if row.conversation_id is None else str(row.conversation_id),
            "superseded_by": None if row.superseded_by is None else str(row.superseded_by),
            "by_hand": by_hand,
            "sources": sources,
            "events": events,
        }
    )


def _without_gone(fact: FactDocument, kept: set[str]) -> FactDocument:
    """The fact without mentions of facts that are forgotten."""
    events = tuple(
        event if event.by in kept else event.model_copy(update={"by": None})
        for event in fact.events
    )
    by = fact.superseded_by if fact.superseded_by in kept else None
    return fact.model_copy(update={"events": events, "superseded_by": by})
