"""Import of an export's facts into another database, or back into the same."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from agent.db.database import Database
from agent.db.lookup import find_conversation
from agent.db.tables import ConversationRow, FactEventRow, FactRow, FactSourceRow, TurnRow
from agent.db.user_lock import lock_user
from agent.db.utc import utc_now
from agent.extraction.filters import holds_secret
from agent.facts.transfer.export_schema import FactDocument, SourceDocument, read_document
from agent.text import one_line, same_as, storable
from memory_engine.errors import NotFoundError, UserError
from memory_engine.types import Scope


@dataclass(frozen=True, slots=True)
class Imported:
    """Counts of facts: added, there already, and left out with a conversation that is not here."""

    added: int
    known: int
    left_out: int


async def import_facts(database: Database, owner: str, document: str) -> Imported:
    """Add the facts of an export to `owner`'s, whoever's they were; twice changes nothing.

    Of two values of an attribute the one that was said last holds. Raises UserError for a
    document that cannot be read, or holds what is never remembered; then nothing is added.
    """
    found = read_document(document)
    for fact in found.facts:
        if not one_line(storable(fact.text)):
            raise UserError(f"Fact {fact.id} is empty. Take it out of the file.")
        if holds_secret(fact.text):
            raise UserError(
                f"Fact {fact.id} looks like a password, key or card number: those are not "
                "remembered. Take it out of the file."
            )
    async with database.write() as session:
        user = await lock_user(session, owner)
        importer = _Importer(session, owner)
        for fact in found.facts:
            await importer.take(fact)
        await importer.link()
        user.facts_version += bool(importer.added)
        return Imported(importer.added, importer.known, importer.left_out)


class _Importer:
    """One import: which rows the document's ids have become."""

    def __init__(self, session: AsyncSession, owner: str) -> None:
        self._session = session
        self._owner = owner
        self._rows: dict[str, FactRow] = {}
        self._new: list[tuple[FactRow, FactDocument]] = []
        self.added = self.known = self.left_out = 0

    async def take(self, fact: FactDocument) -> None:
        """Add a fact, unless it is there already or has no place here."""
        try:
            if fact.conversation is not None:
                await find_conversation(self._session, self._owner, fact.conversation)
        except NotFoundError:
            # Without its scope it would be seen everywhere.
            self.left_out += 1
            return
        row = _row(self._owner, fact)
        known = await self._known(row)
        if known is not None:
            self.known += 1
            self._rows[fact.id] = known
            return
        older = await self._rivals(row) if row.ended_at is None else []
        for rival in older:
            if rival.created_at > row.created_at:
                row.ended_at, row.valid_to, row.superseded_by = (
                    utc_now(),
                    rival.valid_from,
                    rival.id,
                )
            else:
                rival.ended_at, rival.valid_to = utc_now(), row.valid_from
        await self._session.flush()
        self._session.add(row)
        await self._session.flush()
        await self._tell_rivals(row, older)
        self._rows[fact.id] = row
        self._new.append((row, fact))
        self.added += 1

    async def link(self) -> None:
        """Give the new rows their successors, sources and events."""
        for row, fact in self._new:
            successor = self._rows.get(fact.superseded_by or "")
            if successor is not None and row.ended_at is not None:
                row.superseded_by = successor.id
            for event in fact.events:
                by = self._rows.get(event.by or "")
                self._session.add(
                    FactEventRow(
                        fact_id=row.id, kind=event.kind, at=event.at, by_fact_id=by and by.id
                    )
                )
            turns = [turn for turn in fact.sources if await self._said_here(turn)]
            row.source_turn_id = turns[0].turn if turns else None
            for turn in turns:
                self._session.add(FactSourceRow(fact_id=row.id, turn_id=turn.turn))
            if fact.by_hand or not turns:
                self._session.add(FactSourceRow(fact_id=row.id, turn_id=None))

    async def _known(self, row: FactRow) -> FactRow | None:
        """A row that is this one from an earlier import, or one that says the same now."""
        same = (FactRow.text == row.text) & (FactRow.created_at == row.created_at)
        if row.ended_at is None:
            same |= (FactRow.same_as == row.same_as) & FactRow.ended_at.is_(None)
        query = select(FactRow).where(
            FactRow.owner == self._owner, FactRow.scope == row.scope, same
        )
        return (await self._session.scalars(query)).first()

    async def _rivals(self, row: FactRow) -> list[FactRow]:
        if row.attribute is None:
            return []
        query = select(FactRow).where(
            FactRow.owner == self._owner,
            FactRow.scope == row.scope,
            FactRow.subject == row.subject,
            FactRow.attribute == row.attribute,
            FactRow.ended_at.is_(None),
        )
        return list(await self._session.scalars(query))

    async def _tell_rivals(self, row: FactRow, rivals: Sequence[FactRow]) -> None:
        now = utc_now()
        for rival in rivals:
            old, new = (row, rival) if row.superseded_by == rival.id else (rival, row)
            old.superseded_by = new.id
            self._session.add(
                FactEventRow(fact_id=old.id, kind="superseded", at=now, by_fact_id=new.id)
            )

    async def _said_here(self, source: SourceDocument) -> bool:
        turn = await self._session.get(TurnRow, source.turn)
        if turn is None or turn.created_at != source.said_at:
            return False
        conversation = await self._session.get_one(ConversationRow, turn.conversation_id)
        return conversation.owner == self._owner


def _row(owner: str, fact: FactDocument) -> FactRow:
    text = one_line(storable(fact.text))
    scope = Scope(fact.agent, fact.conversation)
    recorded = "denies" in fact.model_fields_set
    return FactRow(
        owner=owner,
        text=text,
        same_as=same_as(text),
        subject=fact.subject,
        attribute=fact.attribute,
        denied_attribute=(fact.denies.attribute if fact.denies else "") if recorded else None,
        denied_value=(fact.denies.value if fact.denies else "") if recorded else None,
        kind=fact.kind,
        dated=fact.when,
        time_expression=fact.time_expression,
        agent=fact.agent,
        conversation_id=int(fact.conversation) if fact.conversation else None,
        scope=scope.key,
        created_at=fact.created_at,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
        ended_at=fact.ended_at,
    )
