"""Local accounts: a name and a password, for people who use the page."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from agent.db.database import Database
from agent.db.tables import AccountRow, ApiKeyRow, UserRow
from agent.db.utc import utc_now
from app.auth.api_keys import BELOW, key_owner
from app.auth.browser_sessions import BrowserSessions, end_all
from app.auth.passwords import Passwords
from memory_engine.errors import NotFoundError, UserError


@dataclass(frozen=True, slots=True)
class Account:
    """An account, without its password."""

    name: str
    created_at: datetime
    changed_at: datetime


class Accounts:
    """All accounts. What a user tells is theirs by name, with an account or without."""

    def __init__(self, database: Database, passwords: Passwords | None = None) -> None:
        self._database = database
        self._passwords = passwords or Passwords()

    async def add(self, name: str, password: str) -> str:
        """A new account: its name as it is stored. Raises UserError for one that exists."""
        name = key_owner(name)
        hashed = await self._passwords.hash(password)
        async with self._database.write() as session:
            if await session.get(AccountRow, name):
                raise UserError(f"There is an account {name!r} already. Choose another name.")
            session.add(AccountRow(name=name, password=hashed))
        return name

    async def listed(self) -> list[Account]:
        """All accounts, by name."""
        async with self._database.read() as session:
            rows = (await session.scalars(select(AccountRow).order_by(AccountRow.name))).all()
        return [Account(row.name, row.created_at, row.changed_at) for row in rows]

    async def set_password(self, name: str, password: str) -> None:
        """Change a password, and sign every browser of the account out. Raises NotFoundError."""
        hashed = await self._passwords.hash(password)
        async with self._database.write() as session:
            await _set(session, await _account(session, name), hashed)

    async def change_password(
        self, name: str, current: str, new: str, sessions: BrowserSessions
    ) -> str | None:
        """Change a password for who knows the current one: the token of a session that goes on.

        None for a wrong one. All other sessions end. Raises UserError for a new password that
        is too short or too long.
        """
        seen = await self._fitting(name, current)
        if seen is None:
            return None
        hashed = await self._passwords.hash(new)
        async with self._database.write() as session:
            row = await _unchanged(session, seen)
            if row is None:
                return None
            await _set(session, row, hashed)
            return await sessions.begin(session, row.name)

    async def remove(self, name: str) -> None:
        """Let nobody in by this name: no password, browser or key. Raises NotFoundError."""
        async with self._database.write() as session:
            row = await _account(session, name)
            await end_all(session, row.name)
            await session.execute(
                update(ApiKeyRow)
                .where(ApiKeyRow.owner == row.name, ApiKeyRow.revoked_at.is_(None))
                .values(revoked_at=utc_now())
            )
            await session.delete(row)

    async def sign_in(self, name: str, password: str, sessions: BrowserSessions) -> str | None:
        """A new session: its token. None for a wrong password and for an unknown name alike."""
        seen = await self._fitting(name, password)
        if seen is None:
            return None
        renewed = await self._passwords.renewed(seen.password, password)
        async with self._database.write() as session:
            row = await _unchanged(session, seen)
            if row is None:
                return None
            row.password = renewed
            return await sessions.begin(session, row.name)

    async def _fitting(self, name: str, password: str) -> AccountRow | None:
        """The account, if that is its password."""
        async with self._database.read() as session:
            seen = await session.get(AccountRow, name.strip())
        fits = await self._passwords.fits(seen.password if seen else None, password)
        return seen if fits else None


async def users_of(database: Database, name: str) -> list[str]:
    """Owners whose memory goes with an account: itself, and those its programs named below it."""
    query = select(UserRow.name).where(
        (UserRow.name == name) | UserRow.name.startswith(f"{name}{BELOW}", autoescape=True)
    )
    async with database.read() as session:
        return list(await session.scalars(query.order_by(UserRow.name)))


async def _account(session: AsyncSession, name: str) -> AccountRow:
    row = await session.get(AccountRow, name.strip(), with_for_update=True)
    if row is None:
        raise NotFoundError(f"There is no account {name!r}. `inferscale accounts list` has all.")
    return row


async def _unchanged(session: AsyncSession, seen: AccountRow) -> AccountRow | None:
    """The account, locked; None if its password was changed since it was seen and compared."""
    row = await session.get(AccountRow, seen.name, with_for_update=True)
    return row if row is not None and row.changed_at == seen.changed_at else None


async def _set(session: AsyncSession, row: AccountRow, hashed: str) -> None:
    row.password, row.changed_at = hashed, utc_now()
    await end_all(session, row.name)
