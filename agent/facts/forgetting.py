"""Forgetting in SQL: a fact, a conversation, everything of a user."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, Select, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from agent.conversations.conversation_store import last_user_turn
from agent.db.database import Database
from agent.db.lookup import find_conversation
from agent.db.tables import (
    ConversationRow,
    FactEventRow,
    FactRow,
    FactSourceRow,
    FactVectorRow,
    TurnRow,
    UserRow,
)
from agent.db.user_lock import lock_user
from agent.facts.fact_embeddings import drop_vectors
from agent.facts.fact_rows import empty_facts
from agent.facts.undo import replaced_by, restore_unless_rivalled


class Forgetting:
    """Removes text for good, each call in one transaction; the caller sees to index and KV.

    A forgotten fact's row and events stay, without text, so that the turn it came from
    does not teach it again.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def facts(self, owner: str, fact_ids: Sequence[str]) -> dict[str, str]:
        """Forget facts, their less detailed versions and those that said the same before.

        Returns the reasons for those that could not be, by id; the others are forgotten.
        """
        async with self._database.write() as session:
            user = await lock_user(session, owner)
            facts = select(FactRow).where(FactRow.owner == owner)
            rows = {str(row.id): row for row in await session.scalars(facts)}
            named = [rows[fact_id] for fact_id in fact_ids if fact_id in rows]
            await _empty(session, user, await _versions(session, rows.values(), named))
        await self._database.clear_traces()
        return {i: f"There is no fact {i[:80]!r}." for i in fact_ids if i not in rows}

    async def conversation(self, owner: str, conversation_id: str) -> int:
        """Delete a conversation, its turns, and the facts that nobody said anywhere else.

        Returns how many facts were forgotten. Raises NotFoundError.
        """
        async with self._database.write() as session:
            user = await lock_user(session, owner)
            conversation = await find_conversation(session, owner, conversation_id, lock=True)
            turns = select(TurnRow.id).where(TurnRow.conversation_id == conversation.id)
            seen_only_there = FactRow.conversation_id == conversation.id
            taught = await _only_from(session, owner, turns, seen_only_there)
            count = await _empty(session, user, taught)
            await _remove_turns(session, user, turns)
            await session.delete(conversation)
        await self._database.clear_traces()
        return count

    async def exchange(self, owner: str, conversation_id: str) -> str:
        """Remove the last message of a conversation and the replies to it; return the message.

        What only it taught is forgotten, and what that had taken the place of holds again.
        Raises NotFoundError where nothing was said yet.
        """
        async with self._database.write() as session:
            user = await lock_user(session, owner)
            conversation = await find_conversation(session, owner, conversation_id, lock=True)
            last = await last_user_turn(session, conversation)
            message = last.text
            turns = select(TurnRow.id).where(
                TurnRow.conversation_id == conversation.id, TurnRow.position >= last.position
            )
            taught = await _only_from(session, owner, turns)
            replaced = [old for fact in taught for old in await replaced_by(session, fact)]
            await _empty(session, user, taught)
            await session.flush()
            for old in replaced:
                await restore_unless_rivalled(session, old)
            await _remove_turns(session, user, turns)
        await self._database.clear_traces()
        return message

    async def everything(self, owner: str) -> int:
        """Delete every row of a user, and the user; return how many facts had a text."""
        facts = select(FactRow.id).where(FactRow.owner == owner)
        conversations = select(ConversationRow.id).where(ConversationRow.owner == owner)
        with_text = select(func.count()).select_from(FactRow)
        with_text = with_text.where(FactRow.owner == owner, FactRow.forgotten_at.is_(None))
        async with self._database.write() as session:
            await lock_user(session, owner)
            count = await session.scalar(with_text) or 0
            for statement in (
                delete(FactEventRow).where(FactEventRow.fact_id.in_(facts)),
                delete(FactSourceRow).where(FactSourceRow.fact_id.in_(facts)),
                delete(FactVectorRow).where(FactVectorRow.fact_id.in_(facts)),
                update(FactRow).where(FactRow.owner == owner).values(superseded_by=None),
                delete(FactRow).where(FactRow.owner == owner),
                delete(TurnRow).where(TurnRow.conversation_id.in_(conversations)),
                delete(ConversationRow).where(ConversationRow.owner == owner),
                delete(UserRow).where(UserRow.name == owner),
            ):
                await session.execute(statement)
        await self._database.clear_traces()
        return count


async def clear_forgotten_denials(database: Database) -> int:
    """Clear the denials that code from before revision 0008 left in rows that it forgot.

    It does not know those columns, and may run beside this code while a fleet is updated.
    Returns how many rows there were.
    """
    left = FactRow.forgotten_at.is_not(None) & (FactRow.denied_attribute != "")
    async with database.read() as session:
        rows = list(await session.scalars(select(FactRow.id).where(left)))
    if rows:
        async with database.write() as session:
            emptied = update(FactRow).where(FactRow.id.in_(rows))
            await session.execute(emptied.values(denied_attribute=None, denied_value=None))
        await database.clear_traces()
    return len(rows)


async def _empty(session: AsyncSession, user: UserRow, rows: Sequence[FactRow]) -> int:
    count = empty_facts(session, rows)
    await drop_vectors(session, [row.id for row in rows])
    user.facts_version += bool(count)
    return count


async def _versions(
    session: AsyncSession, rows: Iterable[FactRow], named: Sequence[FactRow]
) -> list[FactRow]:
    """The named of a user's rows, what they updated, and ended ones with their text and scope."""
    by_id = {row.id: row for row in rows}
    ended: defaultdict[tuple[str, str | None], set[int]] = defaultdict(set)
    updated: defaultdict[int | None, set[int]] = defaultdict(set)
    for row in by_id.values():
        if row.ended_at is not None and row.forgotten_at is None:
            ended[row.scope, row.same_as].add(row.id)
    events = select(FactEventRow).where(FactEventRow.kind == "updated")
    events = events.join(FactRow, FactRow.id == FactEventRow.fact_id)
    for event in await session.scalars(events.where(FactRow.owner.in_({r.owner for r in named}))):
        updated[event.by_fact_id].add(event.fact_id)
    found: dict[int, FactRow] = {}
    looked_at = [row.id for row in named]
    while looked_at:
        row = by_id[looked_at.pop()]
        if row.id not in found:
            found[row.id] = row
            looked_at += updated[row.id] | ended[row.scope, row.same_as]
    return list(found.values())


async def _only_from(
    session: AsyncSession,
    owner: str,
    turns: Select[int],
    or_else: ColumnElement[bool] | None = None,
) -> list[FactRow]:
    """The facts that no other turn said, nor anybody by hand, and those with `or_else`."""
    said = select(FactSourceRow.fact_id).where(FactSourceRow.turn_id.in_(turns))
    elsewhere = select(FactSourceRow.fact_id).where(
        FactSourceRow.turn_id.is_(None) | FactSourceRow.turn_id.not_in(turns)
    )
    wanted = FactRow.id.in_(said) & FactRow.id.not_in(elsewhere)
    if or_else is not None:
        wanted |= or_else
    return list(await session.scalars(select(FactRow).where(FactRow.owner == owner, wanted)))


async def _remove_turns(session: AsyncSession, user: UserRow, turns: Select[int]) -> None:
    """Delete turns; facts that another turn said too have that one as their source then."""
    ids = list(await session.scalars(turns))
    # Another process may hold vectors of what they said, and KV computed behind them.
    user.facts_version += 1
    await session.execute(delete(FactSourceRow).where(FactSourceRow.turn_id.in_(ids)))
    another = (
        select(func.min(FactSourceRow.turn_id))
        .where(FactSourceRow.fact_id == FactRow.id)
        .scalar_subquery()
    )
    # A vector of a turn tells of the turn.
    said_there = select(FactRow.id).where(FactRow.source_turn_id.in_(ids))
    await drop_vectors(session, list(await session.scalars(said_there)))
    await session.execute(
        update(FactRow).where(FactRow.source_turn_id.in_(ids)).values(source_turn_id=another)
    )
    await session.execute(delete(TurnRow).where(TurnRow.id.in_(ids)))
