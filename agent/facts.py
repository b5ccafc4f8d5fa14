"""The facts in SQL: added, superseded, forgotten; never overwritten."""

from collections.abc import Sequence

from sqlalchemy import exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from agent.candidate import Candidate, Change
from agent.database import Database
from agent.fact_rows import empty_fact, event_of, fact_of, insert_fact
from agent.reconcile import reconcile
from agent.records import Fact, FactEvent, UserTurn
from agent.tables import FactEventRow, FactRow, TurnRow, UserRow
from agent.text import same_as
from agent.transcript import row_id
from agent.users import lock_user
from agent.utc import utc_now
from agent.vectors import drop_vectors
from memory_engine.errors import NotFoundError


class FactStore:
    """The facts of all users; every call names the user it is for.

    A user's facts have a version that every change raises, so that another process's
    changes are noticed.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def version(self, owner: str) -> int:
        """The number of changes so far; 0 for a user who is not known."""
        async with self._database.read() as session:
            return await self._version(session, owner)

    async def active(self, owner: str) -> list[Fact]:
        """The facts that hold now, in time order."""
        async with self._database.read() as session:
            return await self._active(session, owner)

    async def snapshot(self, owner: str) -> tuple[int, list[Fact]]:
        """A version and the active facts, which are of that version or a later one."""
        async with self._database.read() as session:
            version = await self._version(session, owner)
            return version, await self._active(session, owner)

    async def latest_owners(self, count: int) -> list[str]:
        """The users who have facts, those with the newest first, at most `count`."""
        query = (
            select(FactRow.owner)
            .where(FactRow.ended_at.is_(None))
            .group_by(FactRow.owner)
            .order_by(func.max(FactRow.id).desc())
            .limit(count)
        )
        async with self._database.read() as session:
            return list(await session.scalars(query))

    async def preceding_turns(self, owner: str, count: int) -> dict[str, tuple[str, ...]]:
        """For each active fact that was said in a conversation, the `count` turns before it."""
        said, before = aliased(TurnRow), aliased(TurnRow)
        query = (
            select(FactRow.id, before.text)
            .join(said, said.id == FactRow.source_turn_id)
            .join(before, before.conversation_id == said.conversation_id)
            .where(before.position < said.position, before.position >= said.position - count)
            .where(FactRow.owner == owner, FactRow.ended_at.is_(None))
            .order_by(FactRow.id, before.position)
        )
        turns: dict[str, tuple[str, ...]] = {}
        async with self._database.read() as session:
            for fact_id, text in await session.execute(query):
                turns[str(fact_id)] = (*turns.get(str(fact_id), ()), text)
        return turns

    async def sources(self, owner: str) -> dict[str, str]:
        """For each active fact that was said in a conversation, the turn that said it."""
        query = (
            select(FactRow.id, TurnRow.text)
            .join(TurnRow, TurnRow.id == FactRow.source_turn_id)
            .where(FactRow.owner == owner, FactRow.ended_at.is_(None))
        )
        async with self._database.read() as session:
            return {str(fact_id): text for fact_id, text in await session.execute(query)}

    async def add(self, owner: str, candidates: Sequence[Candidate]) -> list[Fact]:
        """Add facts by hand; for each the new fact, or the one that said the same already."""
        results = []
        async with self._database.write() as session:
            user = await lock_user(session, owner)
            known = {same_as(fact.text): fact for fact in await self._active(session, owner)}
            for candidate in candidates:
                key = same_as(candidate.text)
                if key not in known:
                    rivals = [f for f in known.values() if f.attribute is not None]
                    (change,) = reconcile(rivals, [candidate], utc_now())
                    known = {k: f for k, f in known.items() if f.id not in change.ends}
                    known[key] = await self._apply(session, user, change, None)
                results.append(known[key])
        return results

    async def save(self, turn: UserTurn, changes: Sequence[Change], version: int) -> bool:
        """Apply what a turn taught and mark it remembered, in one transaction.

        False, and nothing is done, when the user's facts are no longer at `version`.
        A turn that was remembered before, or taught what was forgotten since, changes nothing.
        """
        async with self._database.write() as session:
            user = await lock_user(session, turn.owner)
            row = await session.get_one(TurnRow, turn.id)
            if row.remember == "done":
                return True
            if user.facts_version != version:
                return False
            taught = exists().where(FactRow.source_turn_id == turn.id)
            if not await session.scalar(select(taught)):
                for change in changes:
                    await self._apply(session, user, change, turn)
            row.remember, row.remembered_at, row.remember_error = "done", utc_now(), None
        return True

    async def forget(self, owner: str, fact_id: str) -> None:
        """Remove what a fact says, wherever it is kept; the events stay, without text."""
        async with self._database.write() as session:
            user = await lock_user(session, owner)
            row = await self._find(session, owner, fact_id)
            if row.forgotten_at is None:
                now = utc_now()
                empty_fact(row, now)
                await drop_vectors(session, [row.id])
                session.add(FactEventRow(fact_id=row.id, kind="forgotten", at=now))
                user.facts_version += 1
        await self._database.clear_traces()

    async def history(self, owner: str, fact_id: str | None = None) -> list[FactEvent]:
        """What happened to one fact or to all facts of `owner`, oldest first."""
        query = (
            select(FactEventRow, FactRow)
            .join(FactRow, FactRow.id == FactEventRow.fact_id)
            .where(FactRow.owner == owner)
            .order_by(FactEventRow.id)
        )
        async with self._database.read() as session:
            if fact_id is not None:
                row = await self._find(session, owner, fact_id)
                query = query.where(FactRow.id == row.id)
            return [event_of(event, fact) for event, fact in await session.execute(query)]

    async def _apply(
        self, session: AsyncSession, user: UserRow, change: Change, turn: UserTurn | None
    ) -> Fact:
        ended = [await session.get_one(FactRow, int(fact_id)) for fact_id in change.ends]
        turn_id, said_at = (turn.id, turn.said_at) if turn else (None, utc_now())
        row = await insert_fact(session, user.name, change.candidate, ended, turn_id, said_at)
        user.facts_version += 1
        return fact_of(row)

    async def _version(self, session: AsyncSession, owner: str) -> int:
        query = select(UserRow.facts_version).where(UserRow.name == owner)
        return await session.scalar(query) or 0

    async def _active(self, session: AsyncSession, owner: str) -> list[Fact]:
        query = (
            select(FactRow)
            .where(FactRow.owner == owner, FactRow.ended_at.is_(None))
            .order_by(FactRow.created_at, FactRow.id)
        )
        return [fact_of(row) for row in await session.scalars(query)]

    async def _find(self, session: AsyncSession, owner: str, fact_id: str) -> FactRow:
        found = await session.get(FactRow, row_id(fact_id, "fact"))
        if found is None or found.owner != owner:
            raise NotFoundError(f"There is no fact {fact_id!r}.")
        return found
