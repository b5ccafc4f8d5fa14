"""From what was said to what is known, over the whole graph."""

import asyncio

import pytest
from sqlalchemy import update

from agent.agent import Agent
from agent.db.tables import TurnRow
from agent.entities import UserTurn
from agent.extraction.candidate import Candidate
from agent.extraction.rule_extractor import RuleExtractor
from memory_engine.errors import NotFoundError
from tests.agent.agent_builder import opened, turn_rows

REMEMBER_AGAIN = (
    update(TurnRow).where(TurnRow.role == "user").values(remember="pending", remembered_at=None)
)


async def test_a_new_value_supersedes_the_old_one_and_both_are_in_the_history(
    database_url: str,
) -> None:
    """mem0#5821, MemOS#881, #880: what was replaced is still recalled, or its KV served."""
    async with opened(database_url) as parts:
        await parts.say("I live in Bern.")
        await parts.say("I moved to Zurich.")
        assert await parts.known() == ["I moved to Zurich."]
        events = await parts.service.history("ann")
        (now,) = await parts.service.facts("ann")
    assert [(e.kind, e.text) for e in events] == [
        ("added", "I live in Bern."),
        ("superseded", "I live in Bern."),
        ("added", "I moved to Zurich."),
    ]
    assert events[1].superseded_by == now.id
    assert events[1].valid_to == now.valid_from == now.created_at
    assert all(e.at.utcoffset() is not None for e in events)
    assert parts.memory.synced[-1] == ("ann", ("I moved to Zurich.",))


async def test_saying_the_same_twice_adds_nothing(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say("My dog is called Biscuit")
        await parts.say("my dog is called biscuit!")
        fact = await parts.service.add_fact("ann", "My dog  is called Biscuit")
        assert await parts.known() == ["My dog is called Biscuit."]
        assert fact == (await parts.service.facts("ann"))[0]
        assert len(await parts.service.history("ann")) == 1


async def test_changing_ones_mind_and_back_leaves_one_active_fact(database_url: str) -> None:
    async with opened(database_url) as parts:
        for text in ("I live in Bern.", "I live in Rome.", "I live in Bern."):
            await parts.say(text)
        assert await parts.known() == ["I live in Bern."]
        assert len(await parts.service.history("ann")) == 5


async def test_nothing_is_learnt_from_the_assistant_or_from_recalled_facts(
    database_url: str,
) -> None:
    async with opened(database_url, reply=lambda prompt: "I live in Paris. I am a nurse.") as p:
        await p.say("I live in Bern.")
        await p.say("Where do I live?")
        assert await p.known() == ["I live in Bern."]


async def test_users_do_not_see_each_other(database_url: str) -> None:
    """LongMemory#97, adk-python#1019, mem0#1805, MemMachine#320, #407."""
    async with opened(database_url) as parts:
        await asyncio.gather(*(parts.say(f"I live in Town{n}.", user=f"user{n}") for n in range(8)))
        for n in range(8):
            assert await parts.known(f"user{n}") == [f"I live in Town{n}."]
            held = parts.memory.held[f"user{n}"]
            assert [fact.text for fact in held] == [f"I live in Town{n}."]


async def test_facts_that_change_meanwhile_are_reconciled_again(database_url: str) -> None:
    class Interrupted(RuleExtractor):
        agent: Agent

        async def extract(self, turn: UserTurn) -> list[Candidate]:
            found = await super().extract(turn)
            snapshot = self.agent.facts.snapshot

            async def snapshot_then_change(owner: str):  # type: ignore[no-untyped-def]
                before = await snapshot(owner)
                self.agent.facts.snapshot = snapshot  # type: ignore[method-assign]
                await self.agent.facts.add(owner, found)
                return before

            self.agent.facts.snapshot = snapshot_then_change  # type: ignore[method-assign]
            return found

    extractor = Interrupted()
    async with opened(database_url, extractor=extractor) as parts:
        extractor.agent = parts.agent
        await parts.say("I have a cat.")
        assert await parts.known() == ["I have a cat."]
        assert (await turn_rows(parts))[0].remember == "done"


async def test_a_forgotten_fact_does_not_come_back_by_itself_but_when_told_again(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        await parts.say("I have a cat.")
        (fact,) = await parts.service.facts("ann")
        await parts.service.forget_fact("ann", fact.id)
        async with parts.database.write() as session:
            await session.execute(REMEMBER_AGAIN)
    async with opened(database_url) as parts:
        await parts.say("Hello")
        assert await parts.known() == []
        assert [r.remember for r in await turn_rows(parts)][:1] == ["done"]
        await parts.say("I have a cat.")
        assert await parts.known() == ["I have a cat."]


async def test_101_facts_can_be_forgotten_one_by_one(database_url: str) -> None:
    async with opened(database_url) as parts:
        facts = await parts.service.add_facts("ann", [f"I own boat {n}." for n in range(101)])
        assert len({fact.id for fact in facts}) == 101
        assert len(parts.memory.held["ann"]) == 101
        for fact in facts:
            await parts.service.forget_fact("ann", fact.id)
        assert await parts.service.facts("ann") == []
        assert parts.memory.held["ann"] == []
        assert parts.engine.resident("ann") == {"ann|You remember: "}
        with pytest.raises(NotFoundError):
            await parts.service.forget_fact("ann", "102")
