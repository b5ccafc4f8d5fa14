"""Forgetting a fact, a conversation, everything: and that nothing of it is left."""

import asyncio

import pytest
from sqlalchemy import func, select, update

from agent.db.tables import Base, FactRow, FactSourceRow, TurnRow
from agent.entities import UserTurn
from agent.extraction.candidate import Candidate
from agent.extraction.rule_extractor import RuleExtractor
from agent.facts.forgetting import Forgetting
from agent.text import same_as
from memory_engine.errors import NotFoundError, UserError
from memory_engine.types import Scope
from tests.agent.agent_builder import Parts, assert_absent, opened

ODD_NAMES = [
    "o'brien",
    '"; DROP TABLE facts; --',
    "100%",
    "a_b",
    "\u8d75\u94b1 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "../../etc",
    "x" * 200,
]


async def rows_in_all(parts: Parts) -> dict[str, int]:
    """Rows of every table but those of signing in, which is ended and not forgotten."""
    async with parts.database.read() as session:
        return {
            table.name: await session.scalar(select(func.count()).select_from(table)) or 0
            for table in Base.metadata.sorted_tables
            if table.name not in ("api_keys", "accounts", "sessions")
        }


async def test_forgetting_a_fact_forgets_its_vaguer_versions_and_its_earlier_lives(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        for text in ("I live in Zanzibar.", "I live in Bern.", "I live in Zanzibar."):
            await parts.say(text)
        (now,) = await parts.service.facts("ann")
        await parts.service.forget_fact("ann", now.id)
        told = [e.text for e in await parts.service.history("ann") if e.text]
        assert set(told) == {"I live in Bern."}
        async with parts.database.read() as session:
            texts = list(await session.scalars(select(FactRow.text).order_by(FactRow.id)))
    assert texts == [None, "I live in Bern.", None]


@pytest.mark.parametrize("count", [101, 250, 1001])
async def test_so_many_facts_can_be_forgotten_at_once(database_url: str, count: int) -> None:
    """mem0#4869, #6627: the first hundred are gone, and all is said to be."""
    async with opened(database_url) as parts:
        kept = await parts.service.add_fact("ann", "I ski.")
        async with parts.database.write() as session:
            told = [f"I own zanzibar {n}." for n in range(count)]
            session.add_all(FactRow(owner="ann", text=t, same_as=same_as(t)) for t in told)
        await parts.agent._memory_sync.refresh("ann")
        facts = [fact.id for fact in await parts.service.facts("ann") if fact.id != kept.id]
        assert len(facts) == len(await parts.memory.engine.owned("ann")) - 2 == count
        failed = await parts.service.forget_facts("ann", facts)
        assert failed == {}
        assert await parts.service.facts("ann") == [kept]
        assert [fact.id for fact in parts.memory.held["ann"]] == [kept.id]
        assert await parts.memory.astray("ann") == []
        await assert_absent("zanzibar", parts)


async def test_one_that_cannot_be_forgotten_does_not_hold_up_the_rest(database_url: str) -> None:
    """mem0#5696."""
    async with opened(database_url) as parts:
        ids = [f.id for f in await parts.service.add_facts("ann", ["I ski.", "I sew.", "I row."])]
        others = (await parts.service.add_fact("bob", "I box.")).id
        failed = await parts.service.forget_facts("ann", [ids[0], "999", others, "x'", ids[2]])
        assert set(failed) == {"999", others, "x'"}
        assert await parts.known() == ["I sew."]
        assert await parts.known("bob") == ["I box."]


async def test_a_conversation_takes_with_it_what_only_it_taught(database_url: str) -> None:
    async with opened(database_url) as parts:
        first = (await parts.say("I have a zanzibarian cat. I play golf.")).conversation_id
        second = (await parts.say("I play golf! My car is red.")).conversation_id
        await parts.service.add_fact("ann", "My car is red.")
        assert first is not None
        assert second is not None
        assert await parts.service.forget_conversation("ann", first) == 1
        assert await parts.known() == ["I play golf.", "My car is red."]
        with pytest.raises(NotFoundError):
            await parts.service.messages("ann", first)
        await assert_absent("zanzibar", parts)
        assert parts.memory.left_behind == ["ann"]
        async with parts.database.read() as session:
            golf = await session.get_one(FactRow, 2)
            assert golf.source_turn_id == (await turns_of(parts, second))[0].id
        assert await parts.service.forget_conversation("ann", second) == 1
        assert await parts.known() == ["My car is red."]
        assert [c.id for c in await parts.service.conversations("ann")] == []


async def turns_of(parts: Parts, conversation_id: str) -> list[TurnRow]:
    query = select(TurnRow).where(TurnRow.conversation_id == int(conversation_id))
    async with parts.database.read() as session:
        return list(await session.scalars(query.order_by(TurnRow.id)))


async def test_another_users_conversation_is_not_forgotten(database_url: str) -> None:
    async with opened(database_url) as parts:
        anns = (await parts.say("I ski.")).conversation_id
        assert anns
        for wrong in (anns, "999", "'; --"):
            with pytest.raises(NotFoundError):
                await parts.service.forget_conversation("bob", wrong)
        assert len(await parts.service.messages("ann", anns)) == 2


async def test_everything_of_a_user_leaves_every_table_and_the_engine(database_url: str) -> None:
    async with opened(database_url) as parts:
        conversation = (await parts.say("I live in Zanzibar.", user="zoe")).conversation_id
        await parts.say("I moved to Zanzibar City.", user="zoe", conversation_id=conversation)
        await parts.service.add_fact("zoe", "I ski.", Scope("coach", conversation))
        await parts.say("I ski.", user="bob")
        before = await rows_in_all(parts)
        assert all(before.values()), "every table is to be tried"
        parts.engine.snapshots["zoe"] = {}
        assert await parts.service.forget_everything("zoe") == 3
        assert parts.engine.resident("zoe") == frozenset()
        assert "zoe" not in parts.engine.snapshots
        assert not parts.memory.holds("zoe")
        assert await parts.service.conversations("zoe") == []
        assert await parts.known("bob") == ["I ski."]
        await assert_absent("zanzibar", parts)
        await assert_absent("zoe", parts)
        await parts.service.forget_everything("bob")
        assert not any((await rows_in_all(parts)).values())


async def test_a_deleted_user_can_come_back_and_is_known_by_what_is_told_then(
    database_url: str,
) -> None:
    """cognee#3895: the name cannot be used any more."""
    async with opened(database_url) as server, opened(database_url) as command:
        await server.say("I have a cat.")
        await command.service.forget_everything("ann")
        await command.service.add_fact("ann", "I have a parrot.")
        reply = await server.ask("Pets?")
        assert [f.text for f in reply.facts] == ["I have a parrot."]


async def test_turns_that_wait_to_be_remembered_do_not_bring_a_user_back(database_url: str) -> None:
    class Interrupted(RuleExtractor):
        parts: Parts

        async def extract(self, turn: UserTurn) -> list[Candidate]:
            await self.parts.service.forget_everything("ann")
            return await super().extract(turn)

    extractor = Interrupted()
    async with opened(database_url, extractor=extractor) as parts:
        extractor.parts = parts
        await parts.say("I live in Zanzibar.")
        assert not any((await rows_in_all(parts)).values())
        await assert_absent("zanzibar", parts)


async def test_a_turn_that_repeated_a_forgotten_fact_does_not_bring_it_back(
    database_url: str,
) -> None:
    again = update(TurnRow).where(TurnRow.role == "user").values(remember="pending")
    async with opened(database_url) as parts:
        await parts.say("I have a cat.")
        await parts.say("I have a cat!")
        (fact,) = await parts.service.facts("ann")
        await parts.service.forget_fact("ann", fact.id)
        async with parts.database.write() as session:
            await session.execute(again)
    async with opened(database_url) as parts:
        await parts.service.settle("ann")
        assert await parts.known() == []
        async with parts.database.read() as session:
            turns = list(await session.scalars(select(FactSourceRow.turn_id)))
    assert turns == [1, 3]


async def test_what_was_forgotten_stays_gone_after_a_restart_and_a_new_index(
    database_url: str,
) -> None:
    """open-webui#24431, mem0#3610, #3245, ruflo#2815, PACT#1278, cognee#3526."""
    async with opened(database_url) as parts:
        await parts.say("I have a cat.")
        await parts.say("My car is red.")
        (cat, _) = await parts.service.facts("ann")
        await parts.service.forget_fact("ann", cat.id)
    async with opened(database_url) as parts:
        await parts.service.settle("ann")
        assert [f.text for f in parts.memory.held["ann"]] == ["My car is red."]
        reply = await parts.ask("What about the cat?", k=50)
        assert [f.text for f in reply.facts] == ["My car is red."]


async def test_names_of_any_characters_are_names_and_nothing_else(database_url: str) -> None:
    plain = ("ann", "100 percent", "axb")
    async with opened(database_url) as parts:
        for user in (*ODD_NAMES, *plain):
            await parts.service.add_fact(user, f"I am {user} myself.")
            await parts.service.add_fact(user, "Only here.", Scope(agent=user))
        for name in ODD_NAMES:
            assert len((await parts.ask("Only here?", name, agent=name)).facts) == 2
            assert len((await parts.ask("Only here?", name, agent="other")).facts) == 1
            assert await parts.service.forget_everything(name) == 2
            assert await parts.known(name) == []
        for user in plain:
            assert len(await parts.known(user)) == 2
        with pytest.raises(UserError, match="at most 200"):
            await parts.service.add_fact("x" * 201, "I ski.")


async def test_forgetting_and_learning_at_once_in_two_services_lose_nothing(
    database_url: str,
) -> None:
    """mem0#5553."""
    async with opened(database_url) as one, opened(database_url) as two:
        old = await one.service.add_facts("ann", [f"I own boat {n}." for n in range(8)])
        await asyncio.gather(
            *(one.service.forget_fact("ann", fact.id) for fact in old),
            *(two.service.add_fact("ann", f"I own car {n}.") for n in range(8)),
            *(two.ask(f"I own bike {n}.", conversation_id=None) for n in range(4)),
        )
        await two.service.settle("ann")
        known = await one.known()
    assert sorted(known) == sorted(
        [f"I own car {n}." for n in range(8)] + [f"I own bike {n}." for n in range(4)]
    )


async def test_an_unknown_user_has_nothing_to_forget(database_url: str) -> None:
    async with opened(database_url) as parts:
        assert await Forgetting(parts.database).everything("nobody") == 0
        assert not any((await rows_in_all(parts)).values())


async def test_undoing_an_exchange_forgets_what_only_it_taught(database_url: str) -> None:
    async with opened(database_url) as parts:
        talk = (await parts.say("I ski.")).conversation_id or ""
        await parts.say("I ski. My boat is called Zanzibar.", conversation_id=talk)
        assert await parts.known() == ["I ski.", "My boat is called Zanzibar."]
        removed = await parts.service.undo_exchange("ann", talk)
        assert removed == "I ski. My boat is called Zanzibar."
        assert [m.content for m in await parts.service.messages("ann", talk)] == [
            "I ski.",
            "All right then.",
        ]
        assert await parts.known() == ["I ski."]
        assert [f.text for f in parts.memory.held["ann"]] == ["I ski."]
        assert parts.memory.left_behind == ["ann"]
        assert [f for f in await parts.service.full_audit("ann") if not f.ok] == []
        await parts.database.clear_traces()
        await assert_absent("Zanzibar", parts)


async def test_undoing_an_exchange_brings_back_what_it_replaced(database_url: str) -> None:
    async with opened(database_url) as parts:
        talk = (await parts.say("I live in Bern.")).conversation_id or ""
        await parts.say("I live in Zanzibar.", conversation_id=talk)
        await parts.service.undo_exchange("ann", talk)
        assert await parts.known() == ["I live in Bern."]
        await parts.service.undo_exchange("ann", talk)
        assert await parts.known() == []
        with pytest.raises(NotFoundError, match="Nothing was said"):
            await parts.service.undo_exchange("ann", talk)


async def test_undoing_an_exchange_does_not_bring_back_what_was_told_anew(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        talk = (await parts.say("I live in Bern.")).conversation_id or ""
        await parts.say("I live in Zanzibar.", conversation_id=talk)
        await parts.say("I live in Chur.")
        await parts.service.undo_exchange("ann", talk)
        assert await parts.known() == ["I live in Chur."]


async def test_an_exchange_undone_before_it_is_remembered_teaches_nothing(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        talk = (await parts.ask("I ski.")).conversation_id or ""
        await parts.service.undo_exchange("ann", talk)
        await parts.service.settle("ann")
        assert await parts.known() == []
