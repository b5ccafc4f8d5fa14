"""Look-up of turns and conversations by a program's own names, and by a digest of the history."""

import hashlib
import json
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from agent.db.tables import ConversationRow, TurnRow
from memory_engine.types import Message


def turn_key(owner: str, conversation: str | None, messages: Sequence[Message]) -> str:
    """A digest, equal for the same messages in a conversation of the same name and user."""
    said = [[message.role, message.content] for message in messages]
    plain = json.dumps([owner, conversation, said], ensure_ascii=False)
    return hashlib.sha256(plain.encode()).hexdigest()


async def turn_by_key(session: AsyncSession, key: str) -> TurnRow | None:
    """The turn with this key, or None."""
    found: TurnRow | None = await session.scalar(select(TurnRow).where(TurnRow.key == key))
    return found


async def conversation_by_client_id(
    session: AsyncSession, owner: str, client_id: str
) -> ConversationRow | None:
    """The conversation that a program of `owner` calls `client_id`, or None."""
    found: ConversationRow | None = await session.scalar(
        select(ConversationRow).where(
            ConversationRow.owner == owner, ConversationRow.client_id == client_id
        )
    )
    return found
