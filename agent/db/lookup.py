"""Look-up of rows by the ids that callers name; another user's are not found."""

from sqlalchemy.ext.asyncio import AsyncSession

from agent.db.tables import ConversationRow, FactRow
from memory_engine.errors import NotFoundError


def row_id(identifier: str, what: str) -> int:
    """The number in an id from outside; NotFoundError for anything that cannot be one."""
    if not (identifier.isascii() and identifier.isdigit() and len(identifier) <= 9):
        raise NotFoundError(f"There is no {what} {identifier[:80]!r}.")
    return int(identifier)


async def find_fact(session: AsyncSession, owner: str, fact_id: str) -> FactRow:
    """The fact of `owner`, forgotten or not. Raises NotFoundError."""
    found = await session.get(FactRow, row_id(fact_id, "fact"))
    if found is None or found.owner != owner:
        raise NotFoundError(f"There is no fact {fact_id!r}.")
    return found


async def find_conversation(
    session: AsyncSession, owner: str, conversation_id: str, *, lock: bool = False
) -> ConversationRow:
    """The conversation of `owner`, locked until the transaction ends. Raises NotFoundError."""
    number = row_id(conversation_id, "conversation")
    found = await session.get(ConversationRow, number, with_for_update=lock or None)
    if found is None or found.owner != owner:
        raise NotFoundError(f"There is no conversation {conversation_id!r}.")
    return found
