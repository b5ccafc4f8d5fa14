"""Storage of reply traces: numbers and ids of facts, and nothing that was said.

So there is nothing in a trace to forget: the texts of facts are read from their rows.
"""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import date
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
FactText = tuple[str, date | None, str]  # a fact's text, its date, and its source
FORGOTTEN: FactText = ("", None, "")


def trace_to_json(reply: Reply) -> dict[str, Any]:
    """The trace of a finished reply as JSON: numbers and fact ids, no text."""
    return {
        "mode": reply.mode.value,
        "finish_reason": reply.finish_reason,
        "timings": asdict(reply.timings),
        "facts": [[int(fact.id), fact.score, fact.injected] for fact in reply.facts],
        **{name: getattr(reply, name) for name in NUMBERS},
    }


async def stored_traces(database: Database, owner: str, conversation_id: str) -> dict[int, Reply]:
    """The replies that have a trace, by their number in `ConversationStore.messages`.

    Facts say what they said then; a fact that was forgotten since has an empty text. Raises
    NotFoundError.
    """
    async with database.read() as session:
        conversation = await find_conversation(session, owner, conversation_id)
        turns = await session.execute(
            select(TurnRow.text, TurnRow.trace)
            .where(TurnRow.conversation_id == conversation.id, TurnRow.text != "")
            .order_by(TurnRow.position)
        )
        kept = {n: (text, trace) for n, (text, trace) in enumerate(turns) if trace}
        used = {fact for _, trace in kept.values() for fact, _, _ in trace["facts"]}
        texts = await _fact_texts(session, owner, used)
    return {
        number: _reply(text, trace, conversation_id, texts)
        for number, (text, trace) in kept.items()
    }


async def _fact_texts(
    session: AsyncSession, owner: str, facts: Iterable[int]
) -> dict[int, FactText]:
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
    text: str, trace: dict[str, Any], conversation_id: str, texts: dict[int, FactText]
) -> Reply:
    facts = []
    for fact, score, injected in trace["facts"]:
        fact_text, when, source = texts.get(fact, FORGOTTEN)
        facts.append(UsedFact(str(fact), fact_text, when, score, injected, source))
    return Reply(
        reply=text,
        mode=Mode(trace["mode"]),
        conversation_id=conversation_id,
        finish_reason=trace["finish_reason"],
        timings=Timings(**trace["timings"]),
        facts=tuple(facts),
        **{name: trace[name] for name in NUMBERS},
    )
