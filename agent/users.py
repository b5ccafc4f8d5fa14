"""The row of a user: made on first use, and locked while their facts or turns change."""

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from agent.tables import UserRow
from agent.utc import utc_now


async def lock_user(session: AsyncSession, name: str) -> UserRow:
    """The user's row, locked until the transaction ends (on SQLite all of it is locked)."""
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    await session.execute(
        insert(UserRow)
        .values(name=name, facts_version=0, created_at=utc_now())
        .on_conflict_do_nothing()
    )
    found = await session.execute(select(UserRow).where(UserRow.name == name).with_for_update())
    return found.scalar_one()
