"""Undo of a fact's last change: the ended fact holds again, and its successor ends."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from agent.db.database import Database
from agent.db.lookup import find_fact
from agent.db.tables import FactEventRow, FactRow
from agent.db.user_lock import lock_user
from agent.db.utc import utc_now
from agent.entities import Fact
from agent.facts.fact_rows import TRANSIENT_LASTS, end_facts, fact_of
from memory_engine.errors import UserError

FORGOTTEN = "Fact {id} was forgotten: what it said is gone, so it cannot be brought back."
NOTHING = "There is nothing to undo for fact {id}: it holds, and it took no other's place."
CHANGED = "Fact {by} took the place of fact {id} and has changed since: undo that one first."
UNDONE = "Fact {id} ended because its coming was undone: say it again instead."
TOLD_AGAIN = "Fact {id} is known again, as fact {other}."


async def undo(database: Database, owner: str, fact_id: str) -> list[Fact]:
    """Undo the last change of a fact, named by its old or its new version.

    Returns the facts that hold again. Raises NotFoundError, and UserError where there is
    nothing that can be undone.
    """
    async with database.write() as session:
        user = await lock_user(session, owner)
        row = await find_fact(session, owner, fact_id)
        if row.forgotten_at is not None:
            raise UserError(FORGOTTEN.format(id=row.id))
        successor = await _successor(session, row)
        ended = [row] if successor is None else await replaced_by(session, successor)
        if successor is not None:
            end_facts(session, [successor], "undone")
            await session.flush()
        for each in ended:
            await _restore(session, each)
        user.facts_version += 1
        return [fact_of(each) for each in ended]


async def _successor(session: AsyncSession, row: FactRow) -> FactRow | None:
    """The fact whose coming is to be undone; None for a fact that ended by itself."""
    if row.ended_at is None:
        if not await replaced_by(session, row):
            raise UserError(NOTHING.format(id=row.id))
        return row
    if await _last_event(session, row) == "undone":
        raise UserError(UNDONE.format(id=row.id))
    if row.superseded_by is None:
        return None
    successor = await session.get_one(FactRow, row.superseded_by)
    if successor.ended_at is not None and successor.forgotten_at is None:
        raise UserError(CHANGED.format(id=row.id, by=successor.id))
    return None if successor.forgotten_at is not None else successor


async def _last_event(session: AsyncSession, row: FactRow) -> str | None:
    query = select(FactEventRow.kind).where(FactEventRow.fact_id == row.id)
    return await session.scalar(query.order_by(FactEventRow.id.desc()).limit(1))


async def replaced_by(session: AsyncSession, row: FactRow) -> Sequence[FactRow]:
    """The facts whose place `row` took and that are not forgotten."""
    query = select(FactRow).where(FactRow.superseded_by == row.id, FactRow.forgotten_at.is_(None))
    return list(await session.scalars(query.order_by(FactRow.id)))


async def restore_unless_rivalled(session: AsyncSession, row: FactRow) -> None:
    """Make an ended fact hold again, unless another one says it or has its attribute by now."""
    if await _rival(session, row) is None:
        await _hold_again(session, row)


async def _restore(session: AsyncSession, row: FactRow) -> None:
    rival = await _rival(session, row)
    if rival is not None:
        raise UserError(TOLD_AGAIN.format(id=row.id, other=rival.id))
    await _hold_again(session, row)


async def _rival(session: AsyncSession, row: FactRow) -> FactRow | None:
    rival_to = FactRow.same_as == row.same_as
    if row.attribute is not None:
        rival_to |= (FactRow.attribute == row.attribute) & (FactRow.subject == row.subject)
    rivals = select(FactRow).where(
        FactRow.owner == row.owner, FactRow.scope == row.scope, FactRow.ended_at.is_(None), rival_to
    )
    return (await session.scalars(rivals)).first()


async def _hold_again(session: AsyncSession, row: FactRow) -> None:
    now = utc_now()
    row.ended_at = row.superseded_by = None
    row.valid_to = now + TRANSIENT_LASTS if row.kind == "transient" else None
    session.add(FactEventRow(fact_id=row.id, kind="restored", at=now))
    await session.flush()
