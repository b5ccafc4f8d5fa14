"""The trace of a reply is kept with it, and holds nothing that forgetting would have to find."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

import pytest
from sqlalchemy import select

from agent.db.tables import TurnRow
from agent.facts.erasure_audit import audit_rows
from agent.reply_events import Reply, TextDelta
from memory_engine.errors import NotFoundError
from memory_engine.types import Mode
from tests.agent.agent_builder import Parts, assert_absent, opened


async def traces_in_sql(parts: Parts) -> list[dict[str, Any] | None]:
    async with parts.database.read() as session:
        query = select(TurnRow.trace).where(TurnRow.role == "assistant").order_by(TurnRow.id)
        return list(await session.scalars(query))


async def test_the_trace_of_every_reply_is_found_again_after_a_restart(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        first = await parts.say("My dog is called Biscuit")
        talk = first.conversation_id or ""
        second = await parts.ask("What is my dog called?", conversation_id=talk)
        third = await parts.ask("And as text?", conversation_id=talk, mode=Mode.TEXT)
    assert [(f.text, f.source) for f in second.facts] == [
        ("My dog is called Biscuit.", "My dog is called Biscuit")
    ]
    async with opened(database_url) as parts:
        assert await parts.service.traces("ann", talk) == {1: first, 3: second, 5: third}


async def test_a_forgotten_fact_is_in_no_trace_and_leaves_its_place(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.service.add_fact("ann", "I keep Zanzibar cloves.")
        await parts.service.add_fact("ann", "I ski.")
        reply = await parts.ask("What do I do?")
        talk = reply.conversation_id or ""
        cloves = next(fact for fact in reply.facts if "Zanzibar" in fact.text)
        await parts.service.forget_fact("ann", cloves.id)
        await assert_absent("zanzibar", parts)
        (trace,) = (await parts.service.traces("ann", talk)).values()
        found = await audit_rows(parts.database, "ann")
    assert [fact.id for fact in trace.facts] == [fact.id for fact in reply.facts]
    told = {fact.id: fact for fact in trace.facts}
    assert told[cloves.id] == replace(cloves, text="", when=None, source="")
    assert [fact.text for fact in trace.facts if fact.id != cloves.id] == ["I ski."]
    assert all(finding.ok for finding in found)


async def test_a_source_that_was_said_is_not_told_of_a_forgotten_fact(database_url: str) -> None:
    async with opened(database_url) as parts:
        talk = (await parts.say("I ski.")).conversation_id or ""
        await parts.ask("What do I do?", conversation_id=talk)
        (known,) = await parts.service.facts("ann")
        await parts.service.forget_fact("ann", known.id)
        trace = (await parts.service.traces("ann", talk))[3]
    assert [(f.id, f.text, f.source) for f in trace.facts] == [(known.id, "", "")]


async def test_a_fact_that_was_changed_since_says_what_it_said_then(database_url: str) -> None:
    async with opened(database_url) as parts:
        home = await parts.service.add_fact("ann", "I live in Bern.")
        talk = (await parts.ask("Where do I live?")).conversation_id or ""
        await parts.service.edit_fact("ann", home.id, "I live in Rome.")
        await parts.ask("Where do I live?", conversation_id=talk)
        traces = await parts.service.traces("ann", talk)
    assert [[f.text for f in traces[n].facts] for n in (1, 3)] == [
        ["I live in Bern."],
        ["I live in Rome."],
    ]


async def test_a_stopped_reply_has_no_trace(database_url: str) -> None:
    async with opened(database_url, delay=0.01) as parts:
        events = parts.service.reply(user="ann", message="Hello.", mode=Mode.KV)
        async with aclosing(cast(AsyncGenerator[object, None], events)) as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    break
        (conversation,) = await parts.service.conversations("ann")
        assert await parts.service.traces("ann", conversation.id) == {}
        assert await traces_in_sql(parts) == [None]


async def test_of_a_comparison_the_trace_of_the_kept_reply_is_kept(database_url: str) -> None:
    async with opened(database_url) as parts:
        events = [e async for e in parts.service.compare(user="ann", message="Hello.")]
        replies = {mode: e for mode, e in events if isinstance(e, Reply)}
        assert replies.keys() == {Mode.TEXT, Mode.KV}
        talk = replies[Mode.KV].conversation_id or ""
        assert await parts.service.traces("ann", talk) == {1: replies[Mode.KV]}


async def test_a_reply_that_is_made_again_or_undone_takes_its_trace_along(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        talk = (await parts.ask("Hello.")).conversation_id or ""
        again = await parts.ask("Hello.", conversation_id=talk, again=True, mode=Mode.TEXT)
        assert await parts.service.traces("ann", talk) == {1: again}
        await parts.service.undo_exchange("ann", talk)
        assert await parts.service.traces("ann", talk) == {}
        assert await traces_in_sql(parts) == []


async def test_the_traces_of_another_users_conversation_are_not_found(database_url: str) -> None:
    async with opened(database_url) as parts:
        talk = (await parts.ask("Hello.")).conversation_id or ""
        with pytest.raises(NotFoundError):
            await parts.service.traces("bob", talk)


async def test_a_fact_of_another_user_is_told_to_nobody_whatever_an_trace_names(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        talk = (await parts.say("I ski.")).conversation_id or ""
        await parts.ask("What do I do?", conversation_id=talk)
        secret = await parts.service.add_fact("bob", "I live in Zanzibar.")
        async with parts.database.write() as session:
            row = (await session.scalars(select(TurnRow).where(TurnRow.trace.is_not(None)))).all()
            for turn in row:
                assert turn.trace is not None
                turn.trace = {**turn.trace, "facts": [[int(secret.id), 0.5, True]]}
        traces = await parts.service.traces("ann", talk)
    assert [f.text for reply in traces.values() for f in reply.facts] == ["", ""]
