"""Browsers that are signed in: a random token in a cookie, its digest in the database."""

import secrets
from datetime import timedelta

from sqlalchemy import delete, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from agent.db.database import Database
from agent.db.tables import ApiKeyRow, SessionRow
from agent.db.utc import utc_now
from app.auth.api_keys import digest_of, valid_key


class BrowserSessions:
    """The sessions of all users. One ends on its day, by signing out, or with its key."""

    def __init__(self, database: Database, days: int) -> None:
        self._database = database
        self.lifetime = timedelta(days=days)

    async def begin_with_key(self, key: str) -> str | None:
        """A new session of the owner of an API key: its token. None where the key is not known."""
        async with self._database.write() as session:
            row = await valid_key(session, key)
            return await self.begin(session, row.owner, row.id) if row else None

    async def begin(self, session: AsyncSession, owner: str, key_id: int | None = None) -> str:
        """A new session in this transaction: its token. Those that have expired are deleted."""
        now = utc_now()
        await session.execute(delete(SessionRow).where(SessionRow.expires_at <= now))
        token = secrets.token_urlsafe(32)
        session.add(
            SessionRow(
                owner=owner, key_id=key_id, digest=digest_of(token), expires_at=now + self.lifetime
            )
        )
        return token

    async def owner_of(self, token: str, *, by_key: bool) -> str | None:
        """The owner of a session begun with a key or a password; None where it has ended."""
        query = (
            select(SessionRow.owner)
            .outerjoin(ApiKeyRow, ApiKeyRow.id == SessionRow.key_id)
            .where(
                SessionRow.digest == digest_of(token),
                SessionRow.expires_at > utc_now(),
                SessionRow.key_id.is_not(None) if by_key else SessionRow.key_id.is_(None),
                or_(SessionRow.key_id.is_(None), ApiKeyRow.revoked_at.is_(None)),
            )
        )
        async with self._database.read() as session:
            owner: str | None = await session.scalar(query)
        return owner

    async def end(self, token: str) -> None:
        """Sign a browser out."""
        async with self._database.write() as session:
            await session.execute(delete(SessionRow).where(SessionRow.digest == digest_of(token)))


async def end_all(session: AsyncSession, owner: str) -> None:
    """Sign every browser of a user out, in this transaction."""
    await session.execute(delete(SessionRow).where(SessionRow.owner == owner))
