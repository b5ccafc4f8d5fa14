"""PostgreSQL's own: its migrations, bytes, parallel writers, locks and refusals."""

import asyncio

import psycopg
import pytest
from alembic import command
from sqlalchemy import make_url, text

from agent.conversations.conversation_store import ConversationStore
from agent.db.database import Database
from agent.db.revision import (
    alembic_config,
    check_revision,
    current_revision,
    head_revision,
    migrate,
)
from agent.facts.fact_embeddings import FactEmbeddings
from agent.facts.fact_store import FactStore
from app.auth.accounts import Accounts
from app.auth.api_keys import ApiKeys
from app.auth.browser_sessions import BrowserSessions
from app.auth.passwords import Passwords
from memory_engine.errors import (
    DatabaseLockedError,
    DatabaseReadOnlyError,
    DatabaseRevisionError,
    DatabaseUnavailableError,
)
from tests.agent.agent_builder import opened
from tests.app.api.api_server import CHEAP

pytestmark = pytest.mark.postgres


def connect(postgres_url: str) -> psycopg.Connection:
    url = make_url(postgres_url)
    return psycopg.connect(
        host=str(url.query["host"]), user=url.username, dbname=url.database, autocommit=True
    )


async def test_up_down_up_and_the_tables_are_those_of_the_code(postgres_url: str) -> None:
    assert await asyncio.to_thread(migrate, postgres_url) == head_revision()
    config = alembic_config(postgres_url)
    await asyncio.to_thread(command.check, config)
    await asyncio.to_thread(command.downgrade, config, "base")
    database = Database(postgres_url)
    assert await current_revision(database) is None
    await asyncio.to_thread(migrate, postgres_url)
    await check_revision(database)
    await database.aclose()


async def test_rows_of_older_revisions_survive_the_way_up_and_down(postgres_url: str) -> None:
    await asyncio.to_thread(migrate, postgres_url, "0002")
    with connect(postgres_url) as c:
        c.execute("INSERT INTO users VALUES ('ann', 0, now())")
        c.execute("INSERT INTO conversations (owner, created_at) VALUES ('ann', now())")
        c.execute(
            "INSERT INTO turns (conversation_id, position, role, status, text, remember,"
            " remember_attempts, created_at)"
            " VALUES (1, 0, 'user', 'complete', 'I have a cat.', 'pending', 0, now())"
        )
        c.execute(
            "INSERT INTO facts (owner, text, same_as, kind, source_turn_id, created_at)"
            " VALUES ('ann', 'I ski.', 'x', 'stable', 1, now())"
        )
    database = Database(postgres_url)
    with pytest.raises(DatabaseRevisionError, match=r"at revision 0002.*inferscale migrate"):
        await check_revision(database)
    await asyncio.to_thread(migrate, postgres_url)
    (turn,) = await ConversationStore(database).unremembered()
    (fact,) = await FactStore(database).active("ann")
    assert (turn.text, fact.text, fact.valid_from) == ("I have a cat.", "I ski.", fact.created_at)
    with connect(postgres_url) as c:
        assert c.execute("SELECT fact_id, turn_id FROM fact_sources").fetchall() == [(1, 1)]
        c.execute("UPDATE facts SET kind = 'transient'")
    await database.aclose()
    await asyncio.to_thread(command.downgrade, alembic_config(postgres_url), "0002")
    with connect(postgres_url) as c:
        rows = c.execute("SELECT kind, ended_at IS NOT NULL FROM facts").fetchall()
        assert rows == [("stable", True)]


async def test_accounts_and_keys_sign_in_and_their_sessions_end(postgres_url: str) -> None:
    async with opened(postgres_url) as parts:
        accounts = Accounts(parts.database, Passwords(CHEAP))
        keys, sessions = ApiKeys(parts.database), BrowserSessions(parts.database, 1)
        await accounts.add("ann", "correct horse battery")
        by_password = await accounts.sign_in("ann", "correct horse battery", sessions)
        by_key = await sessions.begin_with_key(await keys.add("ann"))
        assert by_password is not None
        assert by_key is not None
        assert await sessions.owner_of(by_password, by_key=False) == "ann"
        assert await sessions.owner_of(by_key, by_key=True) == "ann"
        await accounts.set_password("ann", "another long secret")
        assert await sessions.owner_of(by_password, by_key=False) is None
        again = await accounts.sign_in("ann", "another long secret", sessions)
        await accounts.remove("ann")
        assert again is not None
        assert await sessions.owner_of(again, by_key=False) is None
        assert [key.revoked_at is None for key in await keys.listed("ann")] == [False]


async def test_vectors_are_kept_and_go_with_their_fact(postgres_url: str) -> None:
    async with opened(postgres_url) as parts:
        await parts.say("My dog is called Biscuit. I play the cello.")
        model, store = parts.memory.embedding_model, FactEmbeddings(parts.database)
        kept = await store.load("ann", model)
        dog, cello = await parts.service.facts("ann")
        assert sorted(kept) == sorted([dog.id, cello.id])
        assert kept[dog.id].source is not None
        assert kept[dog.id].text.tolist() == [1, 0]
        await store.save("ann", model, kept)
        await parts.service.forget_fact("ann", dog.id)
        assert list(await store.load("ann", model)) == [cello.id]


async def test_parallel_services_add_a_fact_once_and_lose_no_turn(postgres_url: str) -> None:
    async with opened(postgres_url) as one, opened(postgres_url) as two:
        conversation = await one.service.new_conversation("ann")
        await asyncio.gather(
            *(
                parts.ask(f"I own boat {number}.", conversation_id=conversation)
                for number in range(6)
                for parts in (one, two)
            )
        )
        await asyncio.gather(one.service.settle(), two.service.settle())
        assert len(await one.known()) == 6
        assert len(await one.service.messages("ann", conversation)) == 24


async def test_a_table_locked_by_another_program_is_told_so(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.db.connection_options.LOCK_TIMEOUT_MS", 100)
    await asyncio.to_thread(migrate, postgres_url)
    database = Database(postgres_url)
    with connect(postgres_url) as other, other.transaction():
        other.execute("LOCK TABLE users IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(DatabaseLockedError, match="Close the other program"):
            await ConversationStore(database).new_conversation("ann")
    assert await ConversationStore(database).new_conversation("ann") == "1"
    await database.aclose()


async def test_a_server_that_refuses_writes_is_told_so(postgres_url: str) -> None:
    await asyncio.to_thread(migrate, postgres_url)
    name = make_url(postgres_url).database
    with connect(postgres_url) as connection:
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on".encode())
    database = Database(postgres_url)
    with pytest.raises(DatabaseReadOnlyError, match="write permission"):
        await ConversationStore(database).new_conversation("ann")
    await database.aclose()


async def test_a_database_without_tables_says_to_migrate(postgres_url: str) -> None:
    database = Database(postgres_url)
    with pytest.raises(DatabaseRevisionError, match="inferscale migrate"):
        await ConversationStore(database).conversations("ann")
    await database.aclose()


async def test_a_server_that_does_not_answer_is_told_so(postgres_url: str) -> None:
    gone = make_url(postgres_url).update_query_dict({"host": "/nowhere"})
    database = Database(gone.render_as_string(hide_password=False))
    with pytest.raises(DatabaseUnavailableError, match="does not answer"):
        await check_revision(database)
    await database.aclose()


async def test_a_password_is_not_shown() -> None:
    database = Database("postgresql://me:hunter2@localhost/x")
    assert "hunter2" not in database.name
    await database.aclose()


async def test_time_zones_are_kept(postgres_url: str) -> None:
    async with opened(postgres_url) as parts:
        fact = await parts.service.add_fact("ann", "I ski.")
        async with parts.database.read() as session:
            await session.execute(text("SET TIME ZONE 'US/Pacific'"))
        assert (await parts.service.facts("ann"))[0].created_at == fact.created_at
