"""The sample person: known at once, and gone again without a trace."""

import pytest

from app.demo import sample_person
from app.sample import load_sample, remove_sample
from memory_engine.errors import UserError
from tests.agent.agent_builder import opened


async def test_the_sample_is_taught_dated_and_taken_out_and_leaves_ones_own(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        person = await load_sample(parts.service, "ann")
        facts = await parts.service.facts("ann")
        assert {(f.text, f.when) for f in facts} == set(sample_person().facts)
        assert len(parts.memory.held["ann"]) == len(person.facts)
        await parts.say("My boat is called Zanzibar.")
        assert await remove_sample(parts.service, "ann") == len(person.facts)
        assert await parts.known() == ["My boat is called Zanzibar."]
        assert len(await parts.service.conversations("ann")) == 1
        assert await remove_sample(parts.service, "ann") == 0


async def test_the_sample_does_not_mix_with_what_is_known(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say("I live in Bern.")
        with pytest.raises(UserError, match="known about you already"):
            await load_sample(parts.service, "ann")
        assert await parts.known() == ["I live in Bern."]
