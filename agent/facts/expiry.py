"""Expiry: transient facts end when their time is over, and stay in the history."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from agent.db.database import Database
from agent.db.tables import FactRow
from agent.db.user_lock import lock_user
from agent.db.utc import utc_now
from agent.facts.fact_rows import end_facts


async def end_expired(session: AsyncSession, owners: Sequence[str]) -> int:
    """End the facts of `owners` whose `valid_to` has passed; return how many there were.

    The caller holds the owners' rows. Nothing has to be recalled anew: what has expired is not
    recalled, ended or not.
    """
    query = select(FactRow).where(
        FactRow.owner.in_(owners), FactRow.ended_at.is_(None), FactRow.valid_to <= utc_now()
    )
    rows = list(await session.scalars(query))
    end_facts(session, rows, "expired")
    await session.flush()
    return len(rows)


async def sweep(database: Database) -> int:
    """End every user's expired facts; return how many there were."""
    query = (
        select(FactRow.owner)
        .where(FactRow.ended_at.is_(None), FactRow.valid_to <= utc_now())
        .distinct()
    )
    async with database.read() as session:
        owners = list(await session.scalars(query))
    ended = 0
    for owner in owners:
        async with database.write() as session:
            await lock_user(session, owner)
            ended += await end_expired(session, [owner])
    return ended
