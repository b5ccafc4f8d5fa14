"""Facts changed by hand: what is edited is superseded, what one message taught goes with it."""

from datetime import date

import pytest

from agent.facts.manual_facts import manual_candidate
from memory_engine.errors import NotFoundError, UserError
from tests.agent.agent_builder import opened


async def test_an_edited_fact_supersedes_what_it_said_and_can_be_undone(database_url: str) -> None:
    async with opened(database_url) as parts:
        old = await parts.service.add_fact("ann", "My dog is called Biskuit.")
        new = await parts.service.edit_fact("ann", old.id, "My dog is called Biscuit.")
        assert await parts.known() == ["My dog is called Biscuit."]
        assert [f.text for f in parts.memory.held["ann"]] == ["My dog is called Biscuit."]
        before = await parts.service.fact("ann", old.id)
        assert (before.superseded_by, before.by_hand) == (new.id, True)
        assert [event.kind for event in before.events] == ["added", "superseded"]
        await parts.service.undo("ann", new.id)
        assert await parts.known() == ["My dog is called Biskuit."]


async def test_an_edit_keeps_the_date_unless_it_names_another(database_url: str) -> None:
    async with opened(database_url) as parts:
        dated = manual_candidate("I ran a marathon.").dated(date(2025, 4, 6), None)
        (fact,) = await parts.agent.fact_manager.add("ann", [dated])
        edited = await parts.service.edit_fact("ann", fact.id, "I ran my first marathon.")
        assert edited.when == date(2025, 4, 6)


async def test_an_edit_that_gives_an_attribute_another_value_replaces_that_one_too(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        await parts.service.add_fact("ann", "I live in Bern.")
        ski = await parts.service.add_fact("ann", "I ski.")
        await parts.service.edit_fact("ann", ski.id, "I live in Basel.")
        assert await parts.known() == ["I live in Basel."]


async def test_what_cannot_be_edited_is_explained_and_stays(database_url: str) -> None:
    async with opened(database_url) as parts:
        old = await parts.service.add_fact("ann", "I live in Bern.")
        ski = await parts.service.add_fact("ann", "I ski.")
        with pytest.raises(UserError, match="says this already"):
            await parts.service.edit_fact("ann", ski.id, "I live in Bern")
        with pytest.raises(UserError, match="empty"):
            await parts.service.edit_fact("ann", ski.id, "  ")
        with pytest.raises(NotFoundError):
            await parts.service.edit_fact("bob", ski.id, "I swim.")
        await parts.service.add_fact("ann", "I live in Basel.")
        with pytest.raises(UserError, match="holds no longer"):
            await parts.service.edit_fact("ann", old.id, "I live in Chur.")
        assert await parts.known() == ["I ski.", "I live in Basel."]


async def test_a_fact_tells_who_said_it_and_a_forgotten_one_nothing(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say("I ski.")
        await parts.say("By the way: I ski.")
        (fact,) = await parts.service.facts("ann")
        known = await parts.service.fact("ann", fact.id)
        assert [source.text for source in known.sources] == ["I ski.", "By the way: I ski."]
        with pytest.raises(NotFoundError):
            await parts.service.fact("bob", fact.id)
        await parts.service.forget_fact("ann", fact.id)
        with pytest.raises(NotFoundError, match="was forgotten"):
            await parts.service.fact("ann", fact.id)


async def test_the_bytes_of_facts_are_told_and_a_text_only_model_has_none(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        fact = await parts.service.add_fact("ann", "I ski.")
        here = await parts.service.residency("ann")
        assert list(here.encoded) == [fact.id]
        assert here.waiting == frozenset()
