"""Storage of facts in SQL: facts are added and superseded, never overwritten.

`forgetting` takes them away, `undo` brings them back.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from agent.db.database import Database
from agent.db.lookup import find_conversation, find_fact
from agent.db.tables import FactEventRow, FactRow, FactSourceRow, TurnRow, UserRow
from agent.db.user_lock import lock_user
from agent.db.utc import utc_now
from agent.entities import Fact, FactEvent, UserTurn
from agent.extraction.candidate import Candidate, Change
from agent.facts.expiry import end_expired
from agent.facts.fact_rows import Origin, add_source, event_of, expiry, fact_of, insert_fact
from agent.facts.known_facts import KnownFacts
from agent.facts.reconcile import reconcile
from memory_engine.errors import UserError
from memory_engine.types import EVERYWHERE, Scope

LAST = datetime.max.replace(tzinfo=UTC)


def holds(now: datetime) -> ColumnElement[bool]:
    """The SQL condition that a fact row holds at `now`."""
    return FactRow.ended_at.is_(None) & or_(FactRow.valid_to.is_(None), FactRow.valid_to > now)


class FactStore:
    """Stores the facts of all users; every call names the user it is for.

    A user's facts have a version that every change raises, so that another process's
    changes are noticed.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def version(self, owner: str) -> int:
        """The number of changes so far; 0 for a user who is not known."""
        async with self._database.read() as session:
            return await self._version(session, owner)

    async def versions(self, owners: Sequence[str]) -> dict[str, int]:
        """`version` of each of `owners` who is known."""
        query = select(UserRow.name, UserRow.facts_version).where(UserRow.name.in_(owners))
        async with self._database.read() as session:
            return dict((await session.execute(query)).all())

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
            .where(holds(utc_now()))
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
            .where(FactRow.owner == owner, holds(utc_now()))
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
            .where(FactRow.owner == owner, holds(utc_now()))
        )
        async with self._database.read() as session:
            return {str(fact_id): text for fact_id, text in await session.execute(query)}

    async def add(
        self, owner: str, candidates: Sequence[Candidate], scope: Scope = EVERYWHERE
    ) -> list[Fact]:
        """Add facts by hand; for each the new fact, or the one that said the same already.

        Raises NotFoundError for a scope in a conversation that is not the user's.
        """
        results = []
        async with self._database.write() as session:
            user = await lock_user(session, owner)
            if scope.conversation is not None:
                await find_conversation(session, owner, scope.conversation)
            await end_expired(session, [owner])
            known = await self._known(session, owner, scope)
            for candidate in candidates:
                origin = Origin(utc_now(), None, scope)
                results += await self._reconcile_and_save(session, user, known, [candidate], origin)
        return results

    async def learn(self, turn: UserTurn, candidates: Sequence[Candidate]) -> None:
        """Add what `turn` taught, reconciled with what is known, and mark it remembered.

        Under one lock, for candidates that nobody has to decide about; see `save`.
        """
        async with self._database.write() as session:
            locked = await self._lock_unremembered(session, turn)
            if locked is None:
                return
            user, row = locked
            if not await _has_taught(session, turn):
                await end_expired(session, [turn.owner])
                known = await self._known(session, turn.owner, EVERYWHERE)
                origin = Origin(turn.said_at, turn.id)
                await self._reconcile_and_save(session, user, known, candidates, origin)
            _mark_remembered(row)

    async def edit(self, owner: str, fact_id: str, candidate: Candidate) -> Fact:
        """Add what a fact says now, by hand: it takes the place of what it said.

        Its date stays where the new text names none, and so does its scope. Raises
        NotFoundError, and UserError for a fact that has ended or a text that is known already.
        """
        async with self._database.write() as session:
            user = await lock_user(session, owner)
            await end_expired(session, [owner])
            row = await find_fact(session, owner, fact_id)
            if row.ended_at is not None:
                raise UserError(f"Fact {row.id} holds no longer, so it cannot be edited. Add it.")
            old = fact_of(row)
            if candidate.when is None:
                candidate = candidate.dated(row.dated, row.time_expression)
            others = await self._known(session, owner, old.scope, besides=old.id)
            (change,) = await asyncio.to_thread(reconcile, others, [candidate], LAST)
            if change.operation == "repeat":
                raise UserError("Another fact says this already. Forget this one instead.")
            replacing = Change(candidate, (old.id, *change.targets), "supersede")
            return await self._apply(session, user, replacing, Origin(utc_now(), None, old.scope))

    async def save(self, turn: UserTurn, changes: Sequence[Change], version: int) -> bool:
        """Apply what a turn taught and mark it remembered, in one transaction.

        False, and nothing is done, when the user's facts are no longer at `version`. A turn
        that was remembered or forgotten before, or taught what was forgotten since, changes
        nothing.
        """
        async with self._database.write() as session:
            locked = await self._lock_unremembered(session, turn)
            if locked is None:
                return True
            user, row = locked
            if user.facts_version != version:
                return False
            if not await _has_taught(session, turn):
                await end_expired(session, [turn.owner])
                for change in changes:
                    await self._apply(session, user, change, Origin(turn.said_at, turn.id))
            _mark_remembered(row)
        return True

    async def history(self, owner: str, fact_id: str | None = None) -> list[FactEvent]:
        """The events of one fact or of all facts of `owner`, oldest first."""
        query = (
            select(FactEventRow, FactRow)
            .join(FactRow, FactRow.id == FactEventRow.fact_id)
            .where(FactRow.owner == owner)
            .order_by(FactEventRow.id)
        )
        async with self._database.read() as session:
            if fact_id is not None:
                row = await find_fact(session, owner, fact_id)
                query = query.where(FactRow.id == row.id)
            return [event_of(event, fact) for event, fact in await session.execute(query)]

    async def _known(
        self, session: AsyncSession, owner: str, scope: Scope, besides: str = ""
    ) -> KnownFacts:
        """The facts of a scope that hold now, besides one of them."""
        facts = await self._active(session, owner)
        known = [fact for fact in facts if fact.scope == scope and fact.id != besides]
        return await asyncio.to_thread(KnownFacts, known)

    async def _reconcile_and_save(
        self,
        session: AsyncSession,
        user: UserRow,
        known: KnownFacts,
        candidates: Sequence[Candidate],
        origin: Origin,
    ) -> list[Fact]:
        """Apply the changes of `candidates` to the rows and to `known`; the facts that result.

        The caller holds the user's row.
        """
        # What is stated by hand counts, whatever another clock dated what is known.
        said_at = LAST if origin.turn_id is None else origin.at
        changes = await asyncio.to_thread(reconcile, known, candidates, said_at, origin.turn_id)
        facts = []
        for change in changes:
            fact = await self._apply(session, user, change, origin)
            for fact_id in change.targets:
                known.remove(fact_id)
            known.add(fact)
            facts.append(fact)
        return facts

    async def _lock_unremembered(
        self, session: AsyncSession, turn: UserTurn
    ) -> tuple[UserRow, TurnRow] | None:
        """The rows of a turn and its user, locked; None for a turn that is gone or remembered."""
        if await session.get(TurnRow, turn.id) is None:
            return None
        user = await lock_user(session, turn.owner)
        row = await session.get(TurnRow, turn.id, populate_existing=True)
        if row is None:
            # Deleted while this waited for the lock, and the user with it, perhaps.
            await session.rollback()
            return None
        return None if row.remember == "done" else (user, row)

    async def _apply(
        self, session: AsyncSession, user: UserRow, change: Change, origin: Origin
    ) -> Fact:
        targets = [await session.get_one(FactRow, int(fact_id)) for fact_id in change.targets]
        if change.operation != "repeat":
            row = await insert_fact(session, user.name, change, targets, origin)
            user.facts_version += 1
            return fact_of(row)
        (row,) = targets
        await add_source(session, row.id, origin.turn_id)
        lasts = expiry(change.candidate.kind, change.candidate.when, origin.at)
        if row.valid_to is not None and lasts is not None and lasts > row.valid_to:
            row.valid_to = lasts
            user.facts_version += 1
        return fact_of(row)

    async def _version(self, session: AsyncSession, owner: str) -> int:
        query = select(UserRow.facts_version).where(UserRow.name == owner)
        return await session.scalar(query) or 0

    async def _active(self, session: AsyncSession, owner: str) -> list[Fact]:
        query = (
            select(FactRow)
            .where(FactRow.owner == owner, holds(utc_now()))
            .order_by(FactRow.created_at, FactRow.id)
        )
        return [fact_of(row) for row in await session.scalars(query)]


async def _has_taught(session: AsyncSession, turn: UserTurn) -> bool:
    """Whether a fact, forgotten ones among them, came out of the turn already."""
    taught = exists().where(FactSourceRow.turn_id == turn.id)
    return bool(await session.scalar(select(taught)))


def _mark_remembered(row: TurnRow) -> None:
    row.remember, row.remembered_at, row.remember_error = "done", utc_now(), None
