"""The last change of a fact, undone."""

import pytest

from agent.extraction.candidate import Candidate, Change
from memory_engine.errors import NotFoundError, UserError
from tests.agent.agent_builder import Parts, opened


async def ids(parts: Parts) -> list[str]:
    return list(dict.fromkeys(e.fact_id for e in await parts.service.history("ann")))


@pytest.mark.parametrize("named", [0, 1])
async def test_what_was_superseded_holds_again_and_its_successor_ends(
    database_url: str, named: int
) -> None:
    async with opened(database_url) as parts:
        await parts.say("I live in Bern.")
        await parts.say("I moved to Zurich.")
        (restored,) = await parts.service.undo("ann", (await ids(parts))[named])
        assert (restored.text, restored.valid_to) == ("I live in Bern.", None)
        assert await parts.known() == ["I live in Bern."]
        assert [f.text for f in parts.memory.held["ann"]] == ["I live in Bern."]
        assert not any("Zurich" in s for s in parts.engine.resident("ann"))
        kinds = [(e.fact_id, e.kind) for e in await parts.service.history("ann")]
    assert kinds == [
        ("1", "added"),
        ("1", "superseded"),
        ("2", "added"),
        ("2", "undone"),
        ("1", "restored"),
    ]


async def test_what_was_retracted_holds_again(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say("I live in Bern.")
        await parts.say("I don't live in Bern any more.")
        assert [e.kind for e in await parts.service.history("ann", "1")] == ["added", "retracted"]
        await parts.service.undo("ann", "1")
        assert await parts.known() == ["I live in Bern."]


async def test_an_update_is_undone_and_keeps_the_beginning_until_then(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.service.add_fact("ann", "I ski.")
        first = await parts.service.add_fact("ann", "I have a dog.")
        text = "I have a dog, and it is called Biscuit."
        turn = await parts.agent.conversations.add_message("ann", None, text, remember=False)
        change = Change(Candidate(text, text), (first.id,), "update")
        assert await parts.agent.facts.save(turn, [change], await parts.agent.facts.version("ann"))
        (_, fuller) = await parts.service.facts("ann")
        assert (fuller.text, fuller.valid_from) == (text, first.valid_from)
        assert [e.kind for e in await parts.service.history("ann", first.id)][-1] == "updated"
        await parts.service.undo("ann", first.id)
        assert await parts.known() == ["I ski.", "I have a dog."]


async def test_a_chain_is_undone_from_its_end(database_url: str) -> None:
    async with opened(database_url) as parts:
        for town in ("Bern", "Rome", "Oslo"):
            await parts.say(f"I live in {town}.")
        with pytest.raises(UserError, match="Fact 2 took the place of fact 1"):
            await parts.service.undo("ann", "1")
        await parts.service.undo("ann", "2")
        await parts.service.undo("ann", "1")
        assert await parts.known() == ["I live in Bern."]
        with pytest.raises(UserError, match="say it again"):
            await parts.service.undo("ann", "3")


async def test_what_is_forgotten_cannot_be_undone_but_its_predecessor_can(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        await parts.say("I live in Bern.")
        await parts.say("I moved to Zurich.")
        await parts.service.forget_fact("ann", "2")
        with pytest.raises(UserError, match="forgotten"):
            await parts.service.undo("ann", "2")
        await parts.service.undo("ann", "1")
        assert await parts.known() == ["I live in Bern."]


async def test_what_was_told_again_is_not_brought_back_beside_itself(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say("I live in Bern.")
        await parts.say("I don't live in Bern any more.")
        await parts.say("I moved to Rome.")
        with pytest.raises(UserError, match="fact 3"):
            await parts.service.undo("ann", "1")
        assert await parts.known() == ["I don't live in Bern any more.", "I moved to Rome."]


async def test_nothing_to_undo_is_said(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say("I ski.")
        with pytest.raises(UserError, match="nothing to undo"):
            await parts.service.undo("ann", "1")
        for user, fact in (("bob", "1"), ("ann", "2"), ("ann", "x")):
            with pytest.raises(NotFoundError):
                await parts.service.undo(user, fact)
