"""Erasure audit: proof that nothing forgotten is left in SQL, its files, index and KV."""

import asyncio
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from agent.db.database import Database
from agent.db.sqlite_pages import free_pages
from agent.db.tables import ConversationRow, FactRow, FactSourceRow, TurnRow
from agent.db.utc import utc_now
from agent.facts.fact_store import holds
from memory_engine.protocols import MemoryEngine


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that was looked at: `found` says what is there, `ok` that it may be."""

    place: str
    found: str
    ok: bool = True


async def audit_rows(database: Database, owner: str) -> list[Finding]:
    """Audit the tables: their facts, and whether forgotten ones still tell anything."""
    content = or_(
        *(
            column.is_not(None)
            for column in (FactRow.text, FactRow.same_as, FactRow.attribute, FactRow.dated,
                           FactRow.time_expression, FactRow.valid_from, FactRow.valid_to)
        ),
        *(c != "" for c in (FactRow.subject, FactRow.denied_attribute, FactRow.denied_value)),
    )  # fmt: skip
    forgotten = FactRow.forgotten_at.is_not(None)
    async with database.read() as session:
        active = await _count(session, owner, holds(utc_now()))
        past = await _count(session, owner, ~holds(utc_now()), ~forgotten)
        gone, left = (
            await _count(session, owner, forgotten),
            await _count(session, owner, forgotten, content),
        )
        orphans = await session.scalar(
            select(func.count())
            .select_from(FactSourceRow)
            .outerjoin(TurnRow, TurnRow.id == FactSourceRow.turn_id)
            .where(FactSourceRow.turn_id.is_not(None), TurnRow.id.is_(None))
        )
        turns = await session.scalar(
            select(func.count(TurnRow.id))
            .join(ConversationRow, ConversationRow.id == TurnRow.conversation_id)
            .where(ConversationRow.owner == owner)
        )
    return [
        Finding("SQL", f"{active} facts that hold, {past} in the history, {turns} turns"),
        Finding(
            "SQL, forgotten", f"{left} of {gone} forgotten facts still say something", not left
        ),
        Finding("SQL, sources", f"{orphans} sources of turns that are gone", not orphans),
    ]


async def audit_stored(database: Database, owner: str, words: Sequence[str] = ()) -> list[Finding]:
    """Audit what is stored of `owner`: the tables, then an SQLite database's file.

    words: parts of what was forgotten, looked for in the file's bytes.
    """
    found = await audit_rows(database, owner)
    if database.is_sqlite and database.url.database:
        file = Path(database.url.database)
        await database.clear_traces()
        found += await asyncio.to_thread(audit_file, file)
        found += await asyncio.to_thread(_find_words, file, words)
    return found


def audit_file(file: Path) -> list[Finding]:
    """Audit an SQLite file outside its tables: its log and its free pages. Blocks."""
    log = file.with_name(f"{file.name}-wal")
    held = log.stat().st_size if log.exists() else 0
    free = free_pages(file)
    return [
        Finding("write-ahead log", f"{held} bytes", not held),
        Finding("free pages", f"{free.full} of {free.count} are not empty", not free.full),
    ]


async def audit_memory(database: Database, memory: MemoryEngine, owner: str) -> list[Finding]:
    """Audit index and engine for what no active fact needs; the memory is to be settled."""
    query = select(FactRow.id).where(FactRow.owner == owner, holds(utc_now()))
    async with database.read() as session:
        wanted = {str(fact_id) for fact_id in await session.scalars(query)}
    indexed = memory.indexed(owner)
    stray = [fact_id for fact_id in indexed if fact_id not in wanted]
    segments = await memory.astray(owner)
    return [
        Finding("index", f"{len(indexed)} vectors, {len(stray)} of no fact", not stray),
        Finding("KV", f"{len(segments)} segments of no fact, on all tiers", not segments),
    ]


def _find_words(file: Path, words: Sequence[str]) -> list[Finding]:
    """Look for `words` in the bytes of a file and of its log."""
    found = []
    for path in (file, file.with_name(f"{file.name}-wal")):
        if words and path.exists() and path.stat().st_size:
            with path.open("rb") as data, mmap.mmap(data.fileno(), 0, access=mmap.ACCESS_READ) as m:
                there = [word for word in words if m.find(word.encode()) >= 0]
            said = f"{len(there)} of {len(words)} words in {path.name}"
            found.append(Finding("bytes", said, not there))
    return found


async def _count(session: AsyncSession, owner: str, *conditions: ColumnElement[bool]) -> int:
    query = select(func.count()).select_from(FactRow).where(FactRow.owner == owner, *conditions)
    return await session.scalar(query) or 0
