"""Facts of one agent or one conversation are seen there and nowhere else."""

import pytest

from memory_engine.errors import NotFoundError
from memory_engine.types import EVERYWHERE, Scope
from tests.agent.agent_builder import opened


async def test_recall_sees_what_is_everywhere_and_what_is_of_its_scope(database_url: str) -> None:
    async with opened(database_url) as parts:
        here, there = [await parts.service.new_conversation("ann") for _ in range(2)]
        for text, scope in (
            ("I ski.", EVERYWHERE),
            ("I ski for the coach.", Scope("coach")),
            ("I ski here.", Scope(None, here)),
            ("I ski here for the coach.", Scope("coach", here)),
        ):
            await parts.service.add_fact("ann", text, scope)

        async def seen(**where: str) -> set[str]:
            reply = await parts.ask("I ski", remember=False, **where)
            return {fact.text for fact in reply.facts}

        assert await seen() == {"I ski."}
        assert await seen(agent="coach") == {"I ski.", "I ski for the coach."}
        assert await seen(conversation_id=here) == {"I ski.", "I ski here."}
        assert await seen(conversation_id=there, agent="other") == {"I ski."}
        assert len(await seen(conversation_id=here, agent="coach")) == 4


async def test_a_thousand_facts_of_another_scope_do_not_crowd_out_ones_own(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        for n in range(60):
            await parts.service.add_fact("ann", f"I ski slope {n}.", Scope("coach"))
        await parts.service.add_fact("ann", "I own a boat.")
        reply = await parts.ask("I ski slope", k=1)
        assert [fact.text for fact in reply.facts] == ["I own a boat."]


async def test_the_same_attribute_has_one_value_in_each_scope(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.service.add_fact("ann", "My name is Ann.")
        await parts.service.add_fact("ann", "My name is Captain.", Scope("pirate"))
        await parts.service.add_fact("ann", "My name is Admiral.", Scope("pirate"))
        await parts.service.add_fact("ann", "My name is Admiral.")
        known = {(f.text, f.scope.agent) for f in await parts.service.facts("ann")}
    assert known == {("My name is Admiral.", "pirate"), ("My name is Admiral.", None)}


async def test_a_scope_is_in_a_conversation_of_ones_own(database_url: str) -> None:
    async with opened(database_url) as parts:
        bobs = await parts.service.new_conversation("bob")
        for wrong in (bobs, "99", "x"):
            with pytest.raises(NotFoundError):
                await parts.service.add_fact("ann", "I ski.", Scope(None, wrong))
        assert await parts.known() == []


async def test_a_forgotten_conversation_takes_its_own_facts_with_it(database_url: str) -> None:
    async with opened(database_url) as parts:
        here = await parts.service.new_conversation("ann")
        await parts.service.add_fact("ann", "I ski here.", Scope(None, here))
        assert await parts.service.forget_conversation("ann", here) == 1
        assert await parts.known() == []


async def test_without_memory_a_conversation_neither_recalls_nor_teaches(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.service.add_fact("ann", "I ski.")
        quiet = await parts.service.new_conversation("ann")
        await parts.service.set_memory("ann", quiet, memory=False)
        (listed,) = await parts.service.conversations("ann")
        assert not listed.memory
        reply = await parts.say("I have a cat. I ski?", conversation_id=quiet)
        assert reply.facts == ()
        assert await parts.known() == ["I ski."]
        assert len(await parts.service.messages("ann", quiet)) == 2
        await parts.service.set_memory("ann", quiet, memory=True)
        assert len((await parts.ask("I ski?", conversation_id=quiet)).facts) == 1
        with pytest.raises(NotFoundError):
            await parts.service.set_memory("bob", quiet, memory=False)


async def test_encoding_makes_room_from_the_message_on(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say("I live in Bern.")
        await parts.say("Where do I live?")
        assert parts.memory.expected == 2
