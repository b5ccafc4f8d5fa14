"""Any sequence of changes leaves a history that explains what holds."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from agent.db.database import Database
from agent.db.tables import FactEventRow, FactRow
from agent.extraction.candidate import Candidate
from agent.facts.fact_store import FactStore
from agent.facts.forgetting import Forgetting
from agent.facts.transfer.exporter import export_facts
from agent.facts.transfer.importer import import_facts
from agent.facts.undo import undo
from memory_engine.errors import UserError
from memory_engine.types import EVERYWHERE, Scope
from tests.agent.agent_builder import prepare, url_of

CANDIDATES = [
    Candidate("", "I live in Bern.", "home", "Bern"),
    Candidate("", "I live in Rome.", "home", "Rome"),
    Candidate("", "I don't live in Bern any more.", "home", "Bern", denied=True),
    Candidate("", "I ski."),
    Candidate("", "I am tired.", kind="transient"),
    Candidate("", "Jack lives in Bern.", "home", "Bern", subject="jack"),
]
CHANGES = st.one_of(
    st.tuples(st.just("add"), st.integers(0, len(CANDIDATES) - 1), st.booleans()),
    st.tuples(st.just("undo"), st.integers(1, 9), st.none()),
    st.tuples(st.just("forget"), st.integers(1, 9), st.none()),
)


async def change(database: Database, what: str, number: int, scoped: bool | None) -> None:
    try:
        if what == "add":
            scope = Scope("coach") if scoped else EVERYWHERE
            await FactStore(database).add("ann", [CANDIDATES[number]], scope)
        elif what == "undo":
            await undo(database, "ann", str(number))
        else:
            await Forgetting(database).facts("ann", [str(number)])
    except UserError:
        pass  # Said to the user, and nothing has changed.


async def check(database: Database) -> None:
    async with database.read() as session:
        rows = list(await session.scalars(select(FactRow)))
        events = list(await session.scalars(select(FactEventRow).order_by(FactEventRow.id)))
    active = [row for row in rows if row.ended_at is None]
    assert len({(r.owner, r.scope, r.same_as) for r in active}) == len(active)
    values = [(r.owner, r.scope, r.subject, r.attribute) for r in active if r.attribute]
    assert len(set(values)) == len(values)
    for row in rows:
        last = [event.kind for event in events if event.fact_id == row.id][-1]
        assert (row.ended_at is None) == (last in ("added", "restored"))
        assert (row.forgotten_at is not None) == (last == "forgotten") == (row.text is None)
        if row.valid_from and row.valid_to:
            assert row.valid_from <= row.valid_to


async def told(database: Database, changes: list[tuple[str, int, bool | None]]) -> None:
    for each in changes:
        await change(database, *each)
        await check(database)
    document = (await export_facts(database, "ann")).model_dump_json()
    imported = await import_facts(database, "ann", document)
    assert imported.added == imported.left_out == 0
    await import_facts(database, "bob", document)
    known = [[f.text for f in await FactStore(database).active(u)] for u in ("ann", "bob")]
    assert sorted(known[0]) == sorted(known[1])
    await check(database)


@settings(max_examples=12, deadline=None)
@given(st.lists(CHANGES, min_size=4, max_size=14))
def test_the_history_explains_what_holds(changes: list[tuple[str, int, bool | None]]) -> None:
    async def run(folder: Path) -> None:
        prepare(url_of(folder))
        database = Database(url_of(folder))
        try:
            await told(database, changes)
        finally:
            await database.aclose()

    with TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))
