"""Several processes on one database: remembered once, changes seen, forgetting obeyed.

Two services stand for two processes: they have nothing in common but the database.
"""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from agent.conversations.conversation_store import ConversationStore
from agent.db.tables import TurnRow
from agent.db.utc import utc_now
from agent.entities import UserTurn
from agent.extraction.candidate import Candidate
from agent.extraction.rule_extractor import RuleExtractor
from agent.facts.fact_store import FactStore
from tests.agent.agent_builder import Parts, opened


class Counting(RuleExtractor):
    """Notes whose turns it sees, in order; waits at the first one until `go` is set."""

    def __init__(self, *, waits: bool = False) -> None:
        self.seen: list[str] = []
        self.began, self.go = asyncio.Event(), asyncio.Event()
        if not waits:
            self.go.set()

    async def extract(self, turn: UserTurn) -> list[Candidate]:
        self.seen.append(turn.text)
        self.began.set()
        await self.go.wait()
        return await super().extract(turn)


async def left(parts: Parts, text: str, user: str = "ann", minutes: int = 5) -> UserTurn:
    """A turn that a process took down and did not live to remember."""
    turn = await ConversationStore(parts.database).add_message(user, None, text, remember=True)
    async with parts.database.write() as session:
        told = update(TurnRow).where(TurnRow.id == turn.id)
        await session.execute(told.values(created_at=utc_now() - timedelta(minutes=minutes)))
    return turn


@pytest.mark.postgres
async def test_each_turn_is_worked_on_by_one_process_only(postgres_url: str) -> None:
    one, two = Counting(), Counting()
    async with opened(postgres_url, extractor=one) as a, opened(postgres_url, extractor=two) as b:
        for n in range(6):
            for user in ("ann", "bob", "cid"):
                await left(a, f"I own boat {n}.", user)
        await asyncio.gather(a.service.start(), b.service.start())
        await asyncio.gather(a.service.settle(), b.service.settle())
        assert Counter(one.seen + two.seen) == {f"I own boat {n}.": 3 for n in range(6)}
        for user in ("ann", "bob", "cid"):
            assert await a.known(user) == [f"I own boat {n}." for n in range(6)]


@pytest.mark.postgres
async def test_what_is_said_to_two_processes_is_remembered_in_order(postgres_url: str) -> None:
    slow, quick = Counting(waits=True), Counting()
    async with (
        opened(postgres_url, extractor=slow) as a,
        opened(postgres_url, extractor=quick) as b,
    ):
        await a.ask("I live in Bern.")
        await slow.began.wait()
        await b.ask("I moved to Zurich.")
        await b.ask("I have a cat.", user="bob")
        await b.service.settle("bob")
        assert quick.seen == ["I have a cat."], "ann's second turn waits, and bob's does not"
        slow.go.set()
        await asyncio.gather(a.service.settle("ann"), b.service.settle("ann"))
        assert await b.known() == ["I moved to Zurich."]
        ends = [e.text for e in await b.service.history("ann") if e.kind == "superseded"]
        assert ends == ["I live in Bern."]


@pytest.mark.postgres
async def test_what_was_just_said_to_one_process_is_known_to_the_other(postgres_url: str) -> None:
    async with opened(postgres_url) as a, opened(postgres_url) as b:
        for n in range(5):
            await a.ask(f"I own boat {n}.")
            found = (await b.ask("What do I own?")).facts
            assert f"I own boat {n}." in {fact.text for fact in found}


async def test_what_a_process_left_is_taken_over_by_one_that_runs(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.service.start()
        await left(parts, "I live in Bern.")
        fresh = await ConversationStore(parts.database).add_message(
            "bob", None, "I ski.", remember=True
        )
        await parts.agent.maintenance.once()
        await parts.service.settle()
        assert await parts.known() == ["I live in Bern."]
        assert await parts.known("bob") == [], "its own process is given time to do it"
        async with parts.database.read() as session:
            row = await session.get_one(TurnRow, fresh.id)
        assert row.remember == "pending"


async def test_what_a_deleted_conversation_said_leaves_every_process(database_url: str) -> None:
    async with opened(database_url) as a, opened(database_url) as b:
        first = (await a.say("I own a zanzibarian boat, by the way: I ski.")).conversation_id
        await a.say("I ski.")
        await b.say("Hello")
        assert any("zanzibarian" in fact.source for fact in b.memory.held["ann"])
        assert first is not None
        await a.service.forget_conversation("ann", first)
        reply = await b.ask("What do I do?")
        assert [fact.text for fact in reply.facts] == ["I ski."]
        assert [fact.source for fact in b.memory.held["ann"]] == ["I ski."]


async def test_who_is_forgotten_by_one_process_is_unknown_to_the_other(database_url: str) -> None:
    async with opened(database_url) as a, opened(database_url) as b:
        await a.say("I have a cat.")
        assert len((await b.ask("Pets?")).facts) == 1
        await a.service.forget_everything("ann")
        assert (await b.ask("Pets?")).facts == ()
        await a.say("I have a dog.")
        assert [fact.text for fact in (await b.ask("Pets?")).facts] == ["I have a dog."]


async def test_users_who_asked_lately_are_followed_before_they_ask_again(database_url: str) -> None:
    async with opened(database_url) as a, opened(database_url) as b:
        for user in ("ann", "ann", "bob", "bob"):
            await b.ask("Hello", user=user)
        await a.service.add_fact("ann", "I have a cat.")
        synced = len(b.memory.synced)
        await b.agent._memory_sync.follow()
        assert b.memory.synced[synced:] == [("ann", ("I have a cat.",))]
        await b.ask("Pets?")
        assert len(b.memory.synced) == synced + 1


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "edit", "forget", "undo", "conversation", "all"]),
        st.integers(0, 1),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=8,
)


async def change(parts: Parts, step: str, number: int) -> None:
    """Change what is known of ann, if there is something to change."""
    service, facts = parts.service, await parts.service.facts("ann")
    if step == "add":
        await service.add_fact("ann", f"I own boat {number}.")
    elif step == "conversation":
        talks = await service.conversations("ann")
        if talks:
            await service.forget_conversation("ann", talks[0].id)
    elif step == "all":
        await service.forget_everything("ann")
    elif facts:
        fact = facts[number % len(facts)]
        if step == "edit":
            await service.edit_fact("ann", fact.id, f"I sold boat {number} of {fact.id}.")
        elif step == "forget":
            await service.forget_fact("ann", fact.id)
        elif len(await service.history("ann", fact.id)) == 1 and "sold" in fact.text:
            await service.undo("ann", fact.id)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
async def test_each_process_recalls_what_holds_whichever_changed_it(
    database_url: str, steps: list[tuple[str, int, int]]
) -> None:
    async with opened(database_url) as a, opened(database_url) as b:
        await a.service.forget_everything("ann")
        for step, process, number in steps:
            await change((a, b)[process], step, number)
            other = (b, a)[process]
            recalled = (await other.ask("What do I own?", remember=False)).facts
            holds = await FactStore(other.database).active("ann")
            assert {fact.text for fact in recalled} == {fact.text for fact in holds}
