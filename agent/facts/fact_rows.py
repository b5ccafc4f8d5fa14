"""Fact rows: inserting, ending, emptying and reading them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import cast

from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncSession

from agent.db.tables import FactEventRow, FactRow, FactSourceRow
from agent.db.utc import utc_now
from agent.entities import Denial, EventKind, Fact, FactEvent, FactKind
from agent.extraction.candidate import Candidate, Change
from agent.extraction.english.attributes import denial_in
from agent.text import same_as
from memory_engine.types import EVERYWHERE, Scope

TRANSIENT_LASTS = timedelta(days=1)
ENDINGS: dict[str, EventKind] = {
    "update": "updated",
    "supersede": "superseded",
    "retract": "retracted",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a fact: its instant, its turn (None: by hand), and the scope it gets."""

    at: datetime
    turn_id: int | None = None
    scope: Scope = EVERYWHERE


async def insert_fact(
    session: AsyncSession, owner: str, change: Change, ended: Sequence[FactRow], origin: Origin
) -> FactRow:
    """Add what a change states and end the facts whose place it takes, with their events.

    The old facts end before the new one exists: two active facts may not share an attribute.
    """
    now = utc_now()
    row = _row(owner, change.candidate, origin)
    if change.operation == "update":
        row.valid_from = min([row.valid_from, *(old.valid_from for old in ended)], key=_known)
    for old in ended:
        old.ended_at, old.valid_to = now, max(origin.at, _known(old.valid_from))
    if ended:
        await session.flush()
    session.add(row)
    await session.flush()
    for old in ended:
        old.superseded_by = row.id
        kind = ENDINGS.get(change.operation, "superseded")
        session.add(FactEventRow(fact_id=old.id, kind=kind, at=now, by_fact_id=row.id))
    session.add(FactEventRow(fact_id=row.id, kind="added", at=now))
    session.add(FactSourceRow(fact_id=row.id, turn_id=origin.turn_id))
    return row


async def add_source(session: AsyncSession, fact_id: int, turn_id: int | None) -> None:
    """Note that a turn, or with None the user by hand, says the fact too."""
    known = exists().where(
        FactSourceRow.fact_id == fact_id, FactSourceRow.turn_id.is_not_distinct_from(turn_id)
    )
    if not await session.scalar(select(known)):
        session.add(FactSourceRow(fact_id=fact_id, turn_id=turn_id))


def end_facts(session: AsyncSession, rows: Iterable[FactRow], kind: EventKind) -> None:
    """End facts that nothing takes the place of, with their events."""
    now = utc_now()
    for row in rows:
        row.ended_at, row.valid_to = now, row.valid_to or now
        session.add(FactEventRow(fact_id=row.id, kind=kind, at=now))


def empty_facts(session: AsyncSession, rows: Iterable[FactRow]) -> int:
    """Empty rows of everything that tells what they said; return how many were not empty yet."""
    now, count = utc_now(), 0
    for row in rows:
        if row.forgotten_at is not None:
            continue
        row.text = row.same_as = row.attribute = row.time_expression = row.dated = None
        row.denied_attribute = row.denied_value = None
        row.valid_from = row.valid_to = row.agent = row.conversation_id = None
        row.kind, row.subject, row.scope = "stable", "", ""
        row.forgotten_at, row.ended_at = now, row.ended_at or now
        session.add(FactEventRow(fact_id=row.id, kind="forgotten", at=now))
        count += 1
    return count


def fact_of(row: FactRow) -> Fact:
    """The fact in a row that has not been emptied."""
    assert row.text is not None, f"fact {row.id} is forgotten"
    return Fact(
        id=str(row.id),
        text=row.text,
        when=row.dated,
        created_at=row.created_at,
        kind=cast(FactKind, row.kind),
        attribute=row.attribute,
        subject=row.subject,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        scope=Scope(row.agent, _text_id(row.conversation_id)),
        turn_id=row.source_turn_id,
        denies=denial_of(row),
    )


def denial_of(row: FactRow) -> Denial | None:
    """The denial in a row that has not been emptied.

    A row that code from before revision 0008 wrote holds the sentence alone: it is read as
    English, which is what that code did at every comparison.
    """
    assert row.text is not None, f"fact {row.id} is forgotten"
    if row.denied_attribute:
        return Denial(row.denied_attribute, row.denied_value or "")
    if row.denied_attribute is not None or row.attribute is not None:
        return None
    found = denial_in(row.text)
    return Denial(found.key, found.value) if found is not None else None


def event_of(event: FactEventRow, fact: FactRow) -> FactEvent:
    """An event with what its fact still says."""
    return FactEvent(
        fact_id=str(fact.id),
        kind=cast(EventKind, event.kind),
        at=event.at,
        text=fact.text,
        superseded_by=_text_id(event.by_fact_id),
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
    )


def expiry(kind: FactKind, when: date | None, said_at: datetime) -> datetime | None:
    """The instant a transient fact ends: after its day, or a day after it was said; else None."""
    if kind != "transient":
        return None
    if when is None or when < said_at.date():
        return said_at + TRANSIENT_LASTS
    return datetime.combine(when + timedelta(days=1), time(), UTC)


def _row(owner: str, candidate: Candidate, origin: Origin) -> FactRow:
    scope = origin.scope
    return FactRow(
        owner=owner,
        text=candidate.text,
        same_as=same_as(candidate.text),
        subject=candidate.subject,
        attribute=None if candidate.denied else candidate.attribute,
        denied_attribute=(candidate.attribute or "") if candidate.denied else "",
        denied_value=candidate.value if candidate.denied else "",
        kind=candidate.kind,
        dated=candidate.when or origin.at.date(),
        time_expression=candidate.time_expression,
        source_turn_id=origin.turn_id,
        agent=scope.agent,
        conversation_id=int(scope.conversation) if scope.conversation else None,
        scope=scope.key,
        created_at=origin.at,
        valid_from=origin.at,
        valid_to=expiry(candidate.kind, candidate.when, origin.at),
    )


def _known(instant: datetime | None) -> datetime:
    return instant or datetime.min.replace(tzinfo=UTC)


def _text_id(number: int | None) -> str | None:
    return None if number is None else str(number)
