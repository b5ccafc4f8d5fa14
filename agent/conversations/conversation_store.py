"""Storage of conversations and turns, verbatim; `facts/forgetting` removes them."""

from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Delete, delete, exists, func, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from agent.conversations.client_keys import conversation_by_client_id, turn_by_key
from agent.db.database import Database
from agent.db.lookup import find_conversation
from agent.db.tables import ConversationRow, TurnRow
from agent.db.user_lock import lock_user
from agent.entities import Conversation, TurnStatus, UserTurn
from agent.request import Client
from agent.text import title_of
from memory_engine.errors import NotFoundError
from memory_engine.types import Message

UNTITLED = "New conversation"
GIVE_UP_AFTER = 9
# Written into the statement: a partial index is not used for a parameter.
PENDING = TurnRow.remember == literal("pending", literal_execute=True)
FAILED = TurnRow.remember == literal("failed", literal_execute=True)
WORTH_A_TRY = FAILED & (TurnRow.remember_attempts < GIVE_UP_AFTER)


class ConversationStore:
    """Stores the conversations of all users; every call names the user it is for."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def new_conversation(self, owner: str) -> str:
        """Start a conversation and return its id."""
        async with self._database.write() as session:
            return str((await self._create(session, owner)).id)

    async def conversations(self, owner: str, search: str = "") -> list[Conversation]:
        """The conversations of `owner`, newest first: those with `search` in title or turns."""
        query = (
            select(ConversationRow)
            .where(ConversationRow.owner == owner)
            .order_by(ConversationRow.id.desc())
        )
        if search:
            said = TurnRow.text.icontains(search, autoescape=True)
            turn = exists().where(TurnRow.conversation_id == ConversationRow.id, said)
            query = query.where(or_(ConversationRow.title.icontains(search, autoescape=True), turn))
        async with self._database.read() as session:
            rows = (await session.scalars(query)).all()
        return [
            Conversation(str(row.id), row.title or UNTITLED, row.created_at, row.memory)
            for row in rows
        ]

    async def has_memory(self, owner: str, conversation_id: str) -> bool:
        """Whether facts are recalled and remembered in the conversation."""
        async with self._database.read() as session:
            return (await find_conversation(session, owner, conversation_id)).memory

    async def set_memory(self, owner: str, conversation_id: str, *, memory: bool) -> None:
        """Switch recalling and remembering on or off in one conversation, from now on."""
        async with self._database.write() as session:
            conversation = await find_conversation(session, owner, conversation_id, lock=True)
            conversation.memory = memory

    async def rename(self, owner: str, conversation_id: str, title: str) -> None:
        """Give a conversation another title, shortened like one that a message gives."""
        async with self._database.write() as session:
            conversation = await find_conversation(session, owner, conversation_id, lock=True)
            conversation.title = title_of(title)

    async def last_message(self, owner: str, conversation_id: str) -> UserTurn:
        """The last turn of the user. Raises NotFoundError where nothing was said yet."""
        async with self._database.read() as session:
            conversation = await find_conversation(session, owner, conversation_id)
            turn = await last_user_turn(session, conversation)
        return UserTurn(turn.id, owner, conversation_id, turn.text, turn.created_at)

    async def messages(
        self, owner: str, conversation_id: str, *, before_last: bool = False
    ) -> list[Message]:
        """The turns in order, without replies that failed before their first word.

        With `before_last` only those before the user's last turn.
        """
        async with self._database.read() as session:
            conversation = await find_conversation(session, owner, conversation_id)
            query = (
                select(TurnRow.role, TurnRow.text)
                .where(TurnRow.conversation_id == conversation.id, TurnRow.text != "")
                .order_by(TurnRow.position)
            )
            if before_last:
                last = await last_user_turn(session, conversation)
                query = query.where(TurnRow.position < last.position)
            rows = (await session.execute(query)).all()
        return [Message("user" if role == "user" else "assistant", text) for role, text in rows]

    async def last_status(self, owner: str, conversation_id: str) -> TurnStatus | None:
        """The status of the last reply; None before the first."""
        async with self._database.read() as session:
            conversation = await find_conversation(session, owner, conversation_id)
            query = select(TurnRow.status).where(
                TurnRow.conversation_id == conversation.id, TurnRow.role == "assistant"
            )
            last = await session.scalar(query.order_by(TurnRow.position.desc()).limit(1))
        return cast(TurnStatus | None, last)

    async def add_message(
        self, owner: str, conversation_id: str | None, text: str, *, remember: bool
    ) -> UserTurn:
        """Store a user's turn, in a new conversation if none is given."""
        turn = TurnRow(role="user", text=text, remember="pending" if remember else "off")
        async with self._database.write() as session:
            return await self._add_turn(session, owner, conversation_id, turn)

    async def add_client_message(
        self, owner: str, conversation_id: str | None, text: str, client: Client, *, remember: bool
    ) -> UserTurn | None:
        """Store a program's message as a turn; None, and nothing is stored, if it came before."""
        turn = TurnRow(role="user", text=text, remember="pending" if remember else "off")
        turn.key = client.key
        async with self._database.write() as session:
            # The lock comes first: of two equal messages at a time the second sees the first.
            await lock_user(session, owner)
            if client.key is not None and await turn_by_key(session, client.key) is not None:
                return None
            return await self._add_turn(session, owner, conversation_id, turn, client.conversation)

    async def add_reply(
        self,
        turn: UserTurn,
        text: str,
        status: TurnStatus,
        *,
        trace: dict[str, Any] | None = None,
        replacing: bool = False,
    ) -> None:
        """Store the reply to `turn`, as far as it was shown, with its `trace` if it is whole.

        With `replacing` it takes the place of the replies to `turn` before it, unless it
        has no word.
        """
        if replacing and not text:
            return
        async with self._database.write() as session:
            conversation = await find_conversation(
                session, turn.owner, turn.conversation_id, lock=True
            )
            if replacing:
                await session.execute(_replies_to(turn))
            reply = TurnRow(role="assistant", text=text, status=status, trace=trace)
            await self._append(session, conversation, reply)

    async def unremembered(self) -> list[UserTurn]:
        """All users' turns to remember, oldest first: new ones and those worth another try."""
        return await self._turns(or_(PENDING, WORTH_A_TRY))

    async def unremembered_until(self, turn: UserTurn) -> list[UserTurn]:
        """The same user's turns up to `turn` that are not remembered, oldest first."""
        this = (TurnRow.id == turn.id) & WORTH_A_TRY
        return await self._turns(
            ConversationRow.owner == turn.owner, TurnRow.id <= turn.id, or_(PENDING, this)
        )

    async def pending(self, owner: str) -> list[UserTurn]:
        """A user's new turns, oldest first."""
        return await self._turns(PENDING, ConversationRow.owner == owner)

    async def left_pending(self, since: datetime) -> list[UserTurn]:
        """All users' new turns from before `since`, oldest first."""
        return await self._turns(PENDING, TurnRow.created_at < since)

    async def note_failure(self, turn: UserTurn, error: str, *, final: bool) -> None:
        """Count a failed attempt to remember `turn`; `final`: not again before the next start."""
        async with self._database.write() as session:
            await session.execute(
                update(TurnRow)
                .where(TurnRow.id == turn.id, TurnRow.remember.in_(("pending", "failed")))
                .values(
                    remember="failed" if final else "pending",
                    remember_attempts=TurnRow.remember_attempts + 1,
                    remember_error=error[:500],
                )
            )

    async def _turns(self, *conditions: ColumnElement[bool]) -> list[UserTurn]:
        query = (
            select(TurnRow, ConversationRow.owner)
            .join(ConversationRow, ConversationRow.id == TurnRow.conversation_id)
            .where(*conditions)
            .order_by(TurnRow.id)
        )
        async with self._database.read() as session:
            rows = (await session.execute(query)).all()
        return [
            UserTurn(turn.id, owner, str(turn.conversation_id), turn.text, turn.created_at)
            for turn, owner in rows
        ]

    async def _create(
        self, session: AsyncSession, owner: str, client_id: str | None = None
    ) -> ConversationRow:
        await lock_user(session, owner)
        conversation = (
            await conversation_by_client_id(session, owner, client_id) if client_id else None
        )
        if conversation is not None:
            return conversation
        conversation = ConversationRow(owner=owner, title=None, client_id=client_id)
        session.add(conversation)
        await session.flush()
        return conversation

    async def _add_turn(
        self,
        session: AsyncSession,
        owner: str,
        conversation_id: str | None,
        turn: TurnRow,
        client_id: str | None = None,
    ) -> UserTurn:
        if conversation_id is None:
            conversation = await self._create(session, owner, client_id)
        else:
            conversation = await find_conversation(session, owner, conversation_id, lock=True)
        conversation.title = conversation.title or title_of(turn.text)
        if not conversation.memory:
            turn.remember = "off"
        await self._append(session, conversation, turn)
        return UserTurn(turn.id, owner, str(conversation.id), turn.text, turn.created_at)

    async def _append(
        self, session: AsyncSession, conversation: ConversationRow, turn: TurnRow
    ) -> None:
        last = select(func.max(TurnRow.position)).where(TurnRow.conversation_id == conversation.id)
        turn.conversation_id = conversation.id
        turn.position = func.coalesce(last.scalar_subquery() + 1, 0)
        session.add(turn)
        await session.flush()


async def last_user_turn(session: AsyncSession, conversation: ConversationRow) -> TurnRow:
    """The last turn of the user in a conversation. Raises NotFoundError where there is none."""
    query = (
        select(TurnRow)
        .where(TurnRow.conversation_id == conversation.id, TurnRow.role == "user")
        .order_by(TurnRow.position.desc())
        .limit(1)
    )
    turn = await session.scalar(query)
    if turn is None:
        raise NotFoundError("Nothing was said in this conversation yet.")
    return turn


def _replies_to(turn: UserTurn) -> Delete:
    # Up to the next turn of the user, which another tab may have added meanwhile.
    said = select(TurnRow.position).where(TurnRow.id == turn.id).scalar_subquery()
    later = aliased(TurnRow)
    following = (
        select(func.min(later.position))
        .where(
            later.conversation_id == int(turn.conversation_id),
            later.role == "user",
            later.position > said,
        )
        .scalar_subquery()
    )
    return delete(TurnRow).where(
        TurnRow.conversation_id == int(turn.conversation_id),
        TurnRow.role == "assistant",
        TurnRow.position > said,
        or_(following.is_(None), TurnRow.position < following),
    )
