"""API keys: made once, shown once, kept as a digest."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from agent.db.database import Database
from agent.db.lookup import row_id
from agent.db.tables import ApiKeyRow
from agent.db.utc import utc_now
from agent.owner import owner_name
from agent.text import one_line, storable
from memory_engine.errors import NotFoundError, UserError

PREFIX = "isk-"
BELOW = "/"  # between the name a key belongs to and the `user` that its program names


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key, without the key itself. `name` says what it is for."""

    id: str
    owner: str
    name: str
    created_at: datetime
    revoked_at: datetime | None


class ApiKeys:
    """The keys of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, user: str, name: str = "") -> str:
        """A new key of `user`: the only time that it can be read. Raises UserError.

        A key has 256 random bits, so that a plain digest of it cannot be guessed.
        """
        key = PREFIX + secrets.token_urlsafe(32)
        row = ApiKeyRow(owner=key_owner(user), name=one_line(storable(name))[:100])
        row.digest = digest_of(key)
        async with self._database.write() as session:
            session.add(row)
        return key

    async def listed(self, user: str | None = None) -> list[ApiKey]:
        """The keys of `user` or of all, oldest first, revoked ones too."""
        query = select(ApiKeyRow).order_by(ApiKeyRow.id)
        if user is not None:
            query = query.where(ApiKeyRow.owner == owner_name(user))
        async with self._database.read() as session:
            rows = (await session.scalars(query)).all()
        return [ApiKey(str(r.id), r.owner, r.name, r.created_at, r.revoked_at) for r in rows]

    async def revoke(self, key_id: str) -> None:
        """Let nobody in with this key any more. Raises NotFoundError."""
        async with self._database.write() as session:
            row = await session.get(ApiKeyRow, row_id(key_id, "key"))
            if row is None:
                raise NotFoundError(f"There is no key {key_id!r}.")
            row.revoked_at = row.revoked_at or utc_now()

    async def owner_of(self, key: str) -> str | None:
        """The owner of a key, or None for one that was revoked or never was."""
        async with self._database.read() as session:
            row = await valid_key(session, key)
        return row.owner if row else None


async def valid_key(session: AsyncSession, key: str) -> ApiKeyRow | None:
    """The row of a key that was not revoked."""
    found: ApiKeyRow | None = await session.scalar(
        select(ApiKeyRow).where(ApiKeyRow.digest == digest_of(key), ApiKeyRow.revoked_at.is_(None))
    )
    return found


def key_owner(user: str) -> str:
    """The name as one that can sign in. Raises UserError where users below it would clash."""
    name = owner_name(user)
    if BELOW in name:
        raise UserError(f"The name of who signs in may not have a {BELOW!r} in it: {name!r}.")
    return name


def digest_of(secret: str) -> str:
    """SHA-256, in hex: enough for what has 256 random bits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
