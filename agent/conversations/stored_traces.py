"""The account of a reply as SQL keeps it: numbers and ids of facts, and nothing that was said.

So there is nothing in it to forget: what the facts say is read where they are.
"""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from agent.db.database import Database
from agent.db.lookup import find_conversation
from agent.db.tables import FactRow, TurnRow
from agent.reply_events import Reply, Timings, UsedFact
from memory_engine.types import Mode

NUMBERS = (
    *("ttft_ms", "e2e_ttft_ms", "tpot_ms", "left_out"),
    *("prompt_tokens", "injected_tokens", "cached_tokens", "prefilled_tokens", "output_tokens"),
)
FORGOTTEN = ("", None, "")

Said = tuple[str, Any, str]  # a fact's text, its date or None, and its source


def to_keep(reply: Reply) -> dict[str, Any]:
    """What is kept of the account of a finished reply, as JSON takes it."""
    return {
        "mode": reply.mode.value,
        "finish_reason": reply.finish_reason,
        "timings": asdict(reply.timings),
        "facts": [[int(fact.id), fact.score, fact.injected] for fact in reply.facts],
        **{name: getattr(reply, name) for name in NUMBERS},
    }


async def kept_accounts(database: Database, owner: str, conversation_id: str) -> dict[int, Reply]:
    """The replies that have an account, by their number in `ConversationStore.messages`.

    Facts say what they said then; a fact that was forgotten since has an empty text. Raises
    NotFoundError.
    """
    async with database.read() as session:
        conversation = await find_conversation(session, owner, conversation_id)
        turns = await session.execute(
            select(TurnRow.text, TurnRow.account)
            .where(TurnRow.conversation_id == conversation.id, TurnRow.text != "")
            .order_by(TurnRow.position)
        )
        kept = {n: (text, account) for n, (text, account) in enumerate(turns) if account}
        used = {fact for _, account in kept.values() for fact, _, _ in account["facts"]}
        said = await _said(session, owner, used)
    return {
        number: _reply(text, account, conversation_id, said)
        for number, (text, account) in kept.items()
    }


async def _said(session: AsyncSession, owner: str, facts: Iterable[int]) -> dict[int, Said]:
    query = (
        select(FactRow.id, FactRow.text, FactRow.dated, TurnRow.text)
        .outerjoin(TurnRow, TurnRow.id == FactRow.source_turn_id)
        .where(FactRow.owner == owner, FactRow.forgotten_at.is_(None), FactRow.id.in_(facts))
    )
    return {
        fact: (text or "", when, source or "")
        for fact, text, when, source in await session.execute(query)
    }


def _reply(
    text: str, account: dict[str, Any], conversation_id: str, said: dict[int, Said]
) -> Reply:
    facts = []
    for fact, score, injected in account["facts"]:
        told, when, source = said.get(fact, FORGOTTEN)
        facts.append(UsedFact(str(fact), told, when, score, injected, source))
    return Reply(
        reply=text,
        mode=Mode(account["mode"]),
        conversation_id=conversation_id,
        finish_reason=account["finish_reason"],
        timings=Timings(**account["timings"]),
        facts=tuple(facts),
        **{name: account[name] for name in NUMBERS},
    )
