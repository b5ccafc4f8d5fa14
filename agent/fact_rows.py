"""Fact rows: how one is made, ended, emptied and read."""

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from sqlalchemy.ext.asyncio import AsyncSession

from agent.candidate import Candidate
from agent.records import Fact, FactEvent, FactKind
from agent.tables import FactEventRow, FactRow
from agent.text import same_as
from agent.utc import utc_now


async def insert_fact(
    session: AsyncSession,
    owner: str,
    candidate: Candidate,
    ended: Sequence[FactRow],
    turn_id: int | None,
    said_at: datetime,
) -> FactRow:
    """Add a fact and end those whose place it takes, with their events.

    The old facts end before the new one exists: two active facts may not share an attribute.
    """
    now = utc_now()
    for old in ended:
        old.ended_at = now
    await session.flush()
    row = FactRow(
        owner=owner,
        text=candidate.text,
        same_as=same_as(candidate.text),
        attribute=None if candidate.denied else candidate.attribute,
        kind=candidate.kind,
        dated=candidate.when or said_at.date(),
        time_expression=candidate.time_expression,
        source_turn_id=turn_id,
        created_at=said_at,
    )
    session.add(row)
    await session.flush()
    for old in ended:
        old.superseded_by = row.id
        session.add(FactEventRow(fact_id=old.id, kind="superseded", at=now))
    session.add(FactEventRow(fact_id=row.id, kind="added", at=now))
    await session.flush()
    return row


def empty_fact(row: FactRow, now: datetime) -> None:
    """Remove from a row everything that tells what the fact said."""
    row.text = row.same_as = row.attribute = row.time_expression = row.dated = None
    row.kind = "stable"
    row.forgotten_at = now
    row.ended_at = row.ended_at or now


def fact_of(row: FactRow) -> Fact:
    """The fact in a row that has not been emptied."""
    assert row.text is not None, f"fact {row.id} is forgotten"
    kind = cast(FactKind, row.kind)
    return Fact(str(row.id), row.text, row.dated, row.created_at, kind, row.attribute)


def event_of(event: FactEventRow, fact: FactRow) -> FactEvent:
    """An event with what its fact still says."""
    successor = str(fact.superseded_by) if event.kind == "superseded" else None
    assert event.kind in ("added", "superseded", "forgotten")
    return FactEvent(str(fact.id), event.kind, event.at, fact.text, successor)  # type: ignore[arg-type]
