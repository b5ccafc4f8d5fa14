"""Lock on a user's row, which is made on first use: held while facts or turns change."""

import secrets

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from agent.db.tables import UserRow
from agent.db.utc import utc_now

# A user who was deleted and made anew must not come back to a version that another process
# still holds facts of.
NEW_VERSIONS = 1 << 30


async def lock_user(session: AsyncSession, name: str) -> UserRow:
    """The user's row, locked until the transaction ends (on SQLite all of it is locked)."""
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    await session.execute(
        insert(UserRow)
        .values(name=name, facts_version=secrets.randbelow(NEW_VERSIONS), created_at=utc_now())
        .on_conflict_do_nothing()
    )
    found = await session.execute(select(UserRow).where(UserRow.name == name).with_for_update())
    return found.scalar_one()
